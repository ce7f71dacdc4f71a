"""Which documents does an archive hold: DailyMed's zip files, PubMed Central's tar files?

Members are unpacked into a folder that is gone afterwards, and read like any other folder. Nothing
leaves that folder: a member with a path that leads out, and every link or device, is left out with
a note. Sizes are counted while unpacking, whatever the archive claims. An archive within an archive
is unpacked too, within the allowance of the outer one, but no deeper: DailyMed packs each label by
itself.
"""

from __future__ import annotations

import lzma
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path, PurePosixPath
from typing import IO

from assay import limits
from assay.errors import MissingFileError
from assay.ingest.folders import corpus_files, id_of, stem, suffix
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.watch import Watch

ZIPPED = frozenset({".zip"})
TARRED = frozenset({".tar", ".tgz"})  # a.tar.gz has the suffix .tar here
SUFFIXES = ZIPPED | TARRED
WITHIN = "!"  # between an archive and a member of it, in messages
STEP = 1 << 20
BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, RuntimeError,
    NotImplementedError, UnicodeDecodeError, ValueError,
)  # fmt: skip


def read_archive(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The documents of an archive, or of every archive in a folder."""
    from assay.ingest.plan import plan  # which asks for readers, of which this is one
    from assay.ingest.readers import reader_named

    for file in corpus_files(path, SUFFIXES, watch):
        name = id_of(file, path, watch) or "archive"  # a part of ids, as that of a folder is
        shown = f"{file}{WITHIN}"
        with (
            watch.passing(),
            tempfile.TemporaryDirectory(prefix="assay-archive-") as home,
            watch.within(Path(home, name), shown),
        ):
            watch.opened(str(file))
            folder = Path(home, name)
            folder.mkdir()
            _Unpacking(file, folder, watch).unpack()
            for part in plan(folder, watch):
                for entry in reader_named(part.format).read(part.path, watch):
                    source = entry.location.source.replace(f"{folder}/", shown)
                    yield replace(entry, location=replace(entry.location, source=source))


def _archives(folder: Path) -> list[Path]:
    return [one for one in sorted(folder.rglob("*")) if one.is_file() and suffix(one) in SUFFIXES]


def _free(path: Path) -> Path:
    """The path, or the next one like it that is not taken."""
    if not path.exists():
        return path
    others = (path.with_name(f"{path.stem}_{number}{path.suffix}") for number in count(2))
    return next(one for one in others if not one.exists())


class _Unpacking:
    """One archive on its way into a folder."""

    def __init__(self, file: Path, folder: Path, watch: Watch) -> None:
        self._file = file
        self._folder = folder
        self._watch = watch
        self._files = self._written = 0
        stored = max(file.stat().st_size, 1)
        allowed = max(limits.BOMB_FLOOR_BYTES, limits.MAX_DECOMPRESSED_RATIO * stored)
        self._allowed = min(allowed, limits.MAX_DECOMPRESSED_BYTES)

    def unpack(self) -> None:
        self._open(self._file, self._folder)
        for inner in _archives(self._folder):
            target = _free(inner.with_name(stem(inner)))
            target.mkdir()
            self._open(inner, target)
            inner.unlink()
            for deeper in _archives(target):
                said = f"{deeper}: an archive within an archive within an archive, left out"
                self._watch.left_out(said, deeper)
                deeper.unlink()

    def _open(self, file: Path, folder: Path) -> None:
        try:
            if suffix(file) in ZIPPED:
                self._unzip(file, folder)
            else:
                self._untar(file, folder)
        except BROKEN as problem:
            raise FileLocation(str(file)).format_error(
                f"the archive is damaged: {problem}", hint="fetch it again"
            ) from None
        except OSError as problem:
            raise MissingFileError(f"{file} cannot be read: {problem.strerror}") from None

    def _unzip(self, file: Path, folder: Path) -> None:
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                is_link = member.external_attr >> 16 & 0o170000 == 0o120000
                if member.is_dir():
                    continue
                if target := self._target(folder, member.filename, plain=not is_link):
                    with archive.open(member) as source:
                        self._copy(source, target)

    def _untar(self, file: Path, folder: Path) -> None:
        with tarfile.open(file) as archive:
            for member in archive:
                if member.isdir():
                    continue
                target = self._target(folder, member.name, plain=member.isreg())
                source = archive.extractfile(member) if target else None
                if target and source:
                    self._copy(source, target)

    def _target(self, folder: Path, name: str, *, plain: bool) -> Path | None:
        """Where a member goes; None for one that is left out."""
        self._files += 1
        if self._files > limits.MAX_CORPUS_FILES:
            raise FileLocation(str(self._file)).limit_error(
                f"more than {limits.MAX_CORPUS_FILES:,} files", hint="unpack it in parts"
            )
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if not plain or not parts or parts[0] == "/" or ".." in parts or ":" in parts[0]:
            said = f"{self._file}: {name!r:.80} is no plain file in here, left out"
            self._watch.left_out(said, Path(f"{self._file}!{name}"))
            return None
        wanted = folder.joinpath(*parts)
        wanted.parent.mkdir(parents=True, exist_ok=True)
        target = _free(wanted)
        if target != wanted:
            self._watch.note(
                f"{self._file}: {name!r:.80} is in it more than once: one is read as {target.name}"
            )
        return target

    def _copy(self, source: IO[bytes], target: Path) -> None:
        with target.open("wb") as sink:
            while data := source.read(STEP):
                self._written += len(data)
                if self._written > self._allowed:
                    raise FileLocation(str(self._file)).limit_error(
                        f"unpacks to more than {self._allowed:,} bytes",
                        hint="unpack it yourself if you trust it",
                    )
                sink.write(data)
