"""Which inputs reach code that no input reached before? Coverage-guided fuzzing with atheris.

Each harness runs in a process of its own, since the fuzzer ends its process when it is done.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
from importlib import util
from pathlib import Path

MEMORY_MIB = 4096
HINT = "atheris is not here: pip install 'assay-search[fuzz]', or leave --guided out"


def guided(name: str, seconds: float) -> int:
    """Run one harness for a while; 0 where nothing was found."""
    if util.find_spec("atheris") is None:
        print(HINT, file=sys.stderr)
        return 2
    command = [sys.executable, "-m", "tests.fuzz.guided", name, str(int(seconds))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    runs = re.search(r"Done (\d+) runs", done.stderr)
    tried = f"{int(runs[1]):,}" if runs else "?"
    print(f"{name:12} {tried:>8} executions, guided: {'failure' if done.returncode else 'sound'}")
    if done.returncode:
        print(done.stderr[-4000:])
    return 1 if done.returncode else 0


def _begin(name: str, seconds: str) -> None:
    import atheris

    with atheris.instrument_imports(include=["assay"]):
        from tests.fuzz.loop import MOST_SECONDS
        from tests.fuzz.registry import BY_NAME

    from assay.errors import AssayError

    harness = BY_NAME[name]
    folder = Path(tempfile.mkdtemp(prefix="assay-fuzz-"))
    seeds = folder / "seeds"
    seeds.mkdir()
    for at, seed in enumerate(harness.seeds):
        (seeds / str(at)).write_bytes(seed)
    path = folder / harness.file

    def once(data: bytes) -> None:
        path.write_bytes(data)
        try:
            harness.read(path, random.Random(len(data)))
        except AssayError:
            return

    limits = [f"-max_total_time={seconds}", f"-timeout={MOST_SECONDS}", "-max_len=4000"]
    atheris.Setup([name, *limits, f"-rss_limit_mb={MEMORY_MIB}", str(seeds)], once)
    atheris.Fuzz()


if __name__ == "__main__":
    _begin(*sys.argv[1:])
