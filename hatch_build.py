"""Compile ``kernels.c`` where there is a C compiler; without one the package is plain Python.

Called by hatchling for wheels and editable installations, and as ``python hatch_build.py`` by
``make setup`` when the source has changed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zlib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "src" / "assay" / "compiled"
SOURCE, LIBRARY = FOLDER / "kernels.c", FOLDER / "_kernels.so"
# no fused operations behind our back: numbers are to be the same on every processor
FLAGS = ("-O3", "-std=c11", "-fPIC", "-shared", "-ffp-contract=off")


def compile_kernels() -> bool:
    """Whether there is a library now; one of an older source does not stay."""
    beside = LIBRARY.with_suffix(f".{os.getpid()}")
    try:
        if _compiled(beside):
            beside.replace(LIBRARY)
            return True
    except (OSError, ValueError) as problem:  # no place to write, or quotes that do not end
        print(f"{SOURCE} was not compiled: {problem}", file=sys.stderr)
    for left in (beside, LIBRARY):
        with contextlib.suppress(OSError):
            left.unlink(missing_ok=True)
    return False


def _compiled(target: Path) -> bool:
    compiler = shlex.split(os.environ.get("CC") or "cc")
    if sys.platform == "win32" or not compiler or shutil.which(compiler[0]) is None:
        return False
    form = f"-DFORM={zlib.crc32(SOURCE.read_bytes()) >> 1}"
    command = [*compiler, *FLAGS, form, "-o", str(target), str(SOURCE), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{shlex.join(command)} failed:\n{done.stderr}", file=sys.stderr)
    return done.returncode == 0


def _platform() -> str:
    """The machines that the library runs on, as wheels name them."""
    return re.sub(r"[-.]", "_", sysconfig.get_platform())


if __name__ == "__main__":
    if not compile_kernels():
        print("nothing was compiled (CC names a compiler): all works, more slowly", file=sys.stderr)
        sys.exit(1)
else:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class Kernels(BuildHookInterface[Any]):
        """What hatchling calls before it builds."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """A wheel with compiled code is for this platform and any Python."""
            if self.target_name == "wheel" and compile_kernels() and version != "editable":
                build_data["pure_python"] = False
                build_data["tag"] = f"py3-none-{_platform()}"
                build_data["artifacts"].append("src/assay/compiled/_kernels.so")
