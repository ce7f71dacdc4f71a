"""Which reader reads which part of the corpus at this path, and what is left out?

A folder whose files all have one format is one part; files of that format with unusual names and
collections (BEIR) are parts of their own, and so is every folder and file in a folder of mixed
formats. Files that describe the others (a README or a licence next to them), the PDF of an article
whose XML is beside it, and files in no known format are left out with a note.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from assay.errors import FormatError, InputError
from assay.ingest import beir, text
from assay.ingest.detect import SAVE_AS, detect, format_of
from assay.ingest.folders import stem, suffix, walk
from assay.ingest.readers import READERS, Reader, reader_named
from assay.ingest.watch import Watch

ABOUT = re.compile(
    r"(?:readme|licen[cs]e|copying|notice|changelog|contributing)(?![a-z])"
    r"|(?:changes|sources?|authors|citation|manifest|security|about)(?:\.[a-z0-9]+)*\Z",
    re.IGNORECASE,
)
UNREADABLE = ""
UNKNOWN = "not in a known corpus format"
CORPUS = frozenset().union(*(reader.suffixes for reader in READERS.values())) - text.SUFFIXES
NAMED = 5  # files named in a note; the others are counted


@dataclass(frozen=True, slots=True)
class CorpusPart:
    """A file or folder, and the name of the reader that reads it."""

    format: str
    path: Path


def plan(path: Path, watch: Watch) -> list[CorpusPart]:
    """The parts, ordered by name."""
    if not path.is_dir():
        return [CorpusPart(detect(path, rows=bool(watch.columns)), path)]
    parts, _ = _of_folder(path, walk(path, watch), watch)
    if not parts and not any(path.iterdir()):
        raise InputError(f"{path}: the folder is empty", hint="name a file or folder of documents")
    if not parts:
        raise InputError(
            f"{path}: no file in a known corpus format",
            hint=f"name the format: {', '.join(READERS)}",
        )
    return parts


def named(path: Path, name: str, watch: Watch) -> list[CorpusPart]:
    """The whole path for the reader of that name; files that it does not take are told."""
    reader = reader_named(name)
    if path.is_dir() and reader.suffixes:
        others = [file for file in walk(path, watch) if suffix(file) not in reader.suffixes]
        _tell(path, others, f"not what the reader {name} takes", watch)
    return [CorpusPart(name, path)]


def _of_folder(
    folder: Path, files: Sequence[Path], watch: Watch
) -> tuple[list[CorpusPart], list[Path]]:
    """The parts of a folder, and the files that are in none of them."""
    if any(file.parent == folder and file.name in beir.NAMES for file in files):
        return [CorpusPart("beir", folder)], []
    found: list[CorpusPart] = []
    unknown: list[Path] = []
    left_out: list[Path] = []
    for name, below in groupby(files, key=lambda file: file.relative_to(folder).parts[0]):
        inner = list(below)
        if inner[0].parent != folder:
            parts, others = _of_folder(folder / name, inner, watch)
            found += parts
            left_out += others
        elif (kind := _format(inner[0], watch)) is None:
            unknown.append(inner[0])
        elif kind == UNREADABLE:
            left_out.append(inner[0])
        else:
            found.append(CorpusPart(kind, inner[0]))
    if len({part.format for part in found}) > 1:
        here = [part for part in found if part.path.parent == folder and part.path.is_file()]
        for beside, why in (
            ([one for one in here if _is_about(one)], "text about the other files"),
            ([one for one in here if _is_print_of(one, here)], "the article is read from its XML"),
        ):
            paths = [part.path for part in beside]
            _tell(folder, paths, f"{why} (use assay ingest FILE)", watch)
            left_out += paths
            found = [part for part in found if part not in beside]
    kinds = {part.format for part in found}
    if len(kinds) == 1:
        found, unknown = _as_one(folder, found, unknown, left_out)
    broken = [file for file in unknown if watch.keep_going and suffix(file) in CORPUS]
    for file in broken:
        with watch.passing():
            raise FormatError("not a known corpus format", source=str(file))
    _tell(folder, [file for file in unknown if file not in broken], UNKNOWN, watch)
    return found, left_out + unknown


def _is_about(part: CorpusPart) -> bool:
    return part.format == "text" and ABOUT.match(part.path.name) is not None


def _is_print_of(part: CorpusPart, others: Sequence[CorpusPart]) -> bool:
    """Is it the PDF of an article beside it, as in packages of PubMed Central?"""
    articles = {stem(one.path) for one in others if one.format == "jats"}
    return part.format == "pdf" and stem(part.path) in articles


def _format(file: Path, watch: Watch) -> str | None:
    """The format of a file, if known; a .xlsx is a zip archive, but not one to unpack.

    ``UNREADABLE`` for one that cannot be read and was reported.
    """
    if suffix(file) in SAVE_AS:
        return None
    with watch.passing():
        return format_of(file, rows=bool(watch.columns))
    return UNREADABLE


def _as_one(
    folder: Path, found: list[CorpusPart], unknown: list[Path], left_out: Sequence[Path]
) -> tuple[list[CorpusPart], list[Path]]:
    """The whole folder as one part, plus what its reader would not pick up there.

    A file in no known format among files that the reader takes counts as broken and becomes an
    error. The folder stays in several parts if its reader would also take files that are left out.
    """
    reader = READERS[found[0].format]
    own = [part for part in found if not _fits(part.path, reader)]
    if len(own) == len(found):
        return found, unknown
    beside = any(part.path.parent == folder and part.path.is_file() for part in found)
    broken = {file for file in unknown if beside and _fits(file, reader)}
    rest = [file for file in unknown if file not in broken]
    if any(_fits(file, reader) for file in [*rest, *left_out]):
        parts = [*found, *(CorpusPart(reader.name, file) for file in broken)]
        return sorted(parts, key=lambda part: part.path), rest
    return [CorpusPart(reader.name, folder), *own], rest


def _fits(path: Path, reader: Reader) -> bool:
    """Does this reader find the file, or what is in the folder, by its suffix?"""
    return bool(reader.suffixes) and (path.is_dir() or suffix(path) in reader.suffixes)


def _tell(folder: Path, files: list[Path], why: str, watch: Watch) -> None:
    if files:
        names = ", ".join(_names(files))
        watch.left_out(f"{folder}: left out, {why}: {names}", *files)


def _names(files: list[Path]) -> Iterator[str]:
    yield from (file.name for file in files[:NAMED])
    if len(files) > NAMED:
        kinds = Counter(suffix(file) or "without a suffix" for file in files).most_common()
        counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds)
        yield f"{len(files) - NAMED:,} more (in all {counts})"
