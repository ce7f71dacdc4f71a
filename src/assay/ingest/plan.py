"""Which parts of the corpus at this path does which reader read, and what is left out?

A folder whose files all have one format is one part. In a folder of several formats every folder
and file below it is a part of its own. Text files beside other formats (a README, say) are left
out, as is what has no format that we know; both are noted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from assay.errors import InputError
from assay.ingest import beir
from assay.ingest.detect import detect, format_of
from assay.ingest.readers import READERS
from assay.ingest.walking import suffix, walk
from assay.ingest.watch import Watch

NAMED = 5  # files that a note names; the others are counted


@dataclass(frozen=True, slots=True)
class Part:
    """A file or folder, and the name of the reader that reads it."""

    format: str
    path: Path


def plan(path: Path, watch: Watch) -> list[Part]:
    """The parts in the order of their names."""
    if not path.is_dir():
        return [Part(detect(path), path)]
    parts = _of_folder(path, walk(path, watch), watch)
    if not parts:
        raise InputError(
            f"{path}: no file of a corpus format that we know",
            hint=f"name the format: {', '.join(READERS)}",
        )
    return parts


def _of_folder(folder: Path, files: Sequence[Path], watch: Watch) -> list[Part]:
    if any(file.parent == folder and file.name in beir.NAMES for file in files):
        return [Part("beir", folder)]
    found: list[Part] = []
    unknown: list[Path] = []
    for name, below in groupby(files, key=lambda file: file.relative_to(folder).parts[0]):
        inner = list(below)
        if inner[0].parent != folder:
            found += _of_folder(folder / name, inner, watch)
        elif kind := format_of(inner[0]):
            found.append(Part(kind, inner[0]))
        else:
            unknown.append(inner[0])
    kinds = {part.format for part in found}
    if len(kinds) > 1:
        beside = [part for part in found if part.format == "text" and part.path.parent == folder]
        beside = [part for part in beside if part.path.is_file()]
        why = "text beside other formats (assay ingest FILE reads it)"
        _tell(folder, [part.path for part in beside], why, watch)
        found = [part for part in found if part not in beside]
        kinds = {part.format for part in found}
    if len(kinds) == 1:
        reader = READERS[kinds.pop()]
        unknown = [file for file in unknown if suffix(file) not in reader.suffixes]
        found = [Part(reader.name, folder)]
    _tell(folder, unknown, "of no corpus format that we know", watch)
    return found


def _tell(folder: Path, files: list[Path], why: str, watch: Watch) -> None:
    if files:
        names = ", ".join(_names(files))
        watch.note(f"{folder}: left out, {why}: {names}")


def _names(files: list[Path]) -> Iterator[str]:
    yield from (file.name for file in files[:NAMED])
    if len(files) > NAMED:
        yield f"{len(files) - NAMED:,} more"
