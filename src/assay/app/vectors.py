"""How does one machine encode what a workspace on another machine searches?

``encode_corpus`` reads a corpus as ``ingest`` would and writes vectors into a folder, a file for
each model (``encode/cache.py``). ``take_vectors`` copies such files into a workspace, whose next
update finds every text already encoded. A vector is kept under the SHA-256 of its text and with a
checksum of its own, so it can only be used for that text, by that model, and undamaged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from assay.app.engine import Progress, cached_encoders, made_by, silent
from assay.errors import InputError, MissingFileError, UsageError

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.ingest.watch import Progress as Step

BATCH = 1_024  # texts whose vectors are in memory at a time
MOST_PARTS = 1_000


@dataclass(frozen=True, slots=True)
class CorpusEncoded:
    """The chunks of this part of the corpus, and how many vectors are new in the folder."""

    folder: str
    models: tuple[str, ...]
    chunks: int
    new: int


@dataclass(frozen=True, slots=True)
class VectorsTaken:
    """How many vectors came from elsewhere; damaged ones were left out, to be made anew."""

    models: tuple[str, ...] = ()
    vectors: int = 0
    damaged: int = 0


def encode_corpus(
    workspace: Workspace,
    path: str | Path,
    folder: str | Path,
    *,
    part: str = "",
    format: str = "auto",  # noqa: A002 - the word that users know
    profile: str = "auto",
    skip_empty: bool = False,
    keep_going: bool = False,
    id_field: str = "",
    text_field: Sequence[str] = (),
    title_field: str = "",
    progress: Progress = silent,
    note: Callable[[str], None] = lambda text: None,
) -> CorpusEncoded:
    """Encode the chunks of a file or folder into ``folder``; nothing else is written.

    Interrupted, it goes on where it stopped when it is called again. ``part`` ("2/4") encodes one
    of several parts of about the same size, for as many processes or machines.
    """
    from assay.encode.cache import text_key
    from assay.index.writer import passage
    from assay.ingest import read_corpus
    from assay.ingest.watch import Columns

    number, parts = _part(part)
    columns = Columns(id_field, tuple(text_field), title_field)

    def told(step: Step) -> None:
        if said := step.problem or step.note:
            note(said)

    def texts(report: Callable[[Step], None] | None = None) -> Iterator[str]:
        """Those of this part: a text belongs to the same part in every process."""
        documents = read_corpus(
            path,
            format,
            profile,
            report,
            skip_empty=skip_empty,
            keep_going=keep_going,
            columns=columns,
        )
        for _, chunks in documents:
            for text in map(passage, chunks):
                key = text_key(text, "passage")
                if int.from_bytes(key[-8:]) % parts == number:
                    yield text

    total = sum(1 for _ in texts(told))
    rest, done = texts(), 0
    with ExitStack() as stack:
        encoders = cached_encoders(workspace, stack, silent, {}, Path(folder))
        if not encoders.models:
            raise UsageError("the settings name no model", hint="assay models list")
        names = tuple(dict.fromkeys(encoders.models.values()))
        before = _count(Path(folder))
        while batch := [*islice(rest, BATCH)]:
            encoders.vectors(batch)
            done += len(batch)
            progress("encode", done, total)
        new = _count(Path(folder)) - before
    return CorpusEncoded(str(folder), names, total, new)


def take_vectors(
    workspace: Workspace, source: str | Path, progress: Progress = silent
) -> VectorsTaken:
    """Copy the vectors of a file or folder that ``encode_corpus`` wrote into the workspace."""
    from assay.encode.cache import VectorCache, model_of, stored_vectors

    dense, sparse = workspace.encoders(made_by(workspace))
    used = {one.model_id for one in (dense, sparse) if one is not None}
    models, taken, damaged = [], 0, 0
    for file in _given_files(Path(source)):
        model = model_of(file)
        if model not in used:
            raise InputError(
                f"{file} holds vectors of {model}, and this workspace uses "
                f"{', '.join(sorted(used)) or 'no model'}",
                hint="encode with the same models: assay config shows those of this workspace",
            )
        with VectorCache(workspace.layout.vectors, model) as cache:
            for rows, wrong in stored_vectors(file):
                cache.put(rows)
                taken, damaged = taken + len(rows), damaged + wrong
                progress("vectors", taken, 0)
        models.append(model)
    return VectorsTaken(tuple(models), taken, damaged)


def vector_files(folder: Path) -> list[Path]:
    """The files of vectors in a folder."""
    return sorted(folder.glob("*.db"))


def _given_files(source: Path) -> list[Path]:
    if not source.exists():
        raise MissingFileError(f"{source} does not exist", hint="assay encode writes such a folder")
    found = vector_files(source) if source.is_dir() else [source]
    if not found:
        raise InputError(f"{source} holds no vectors", hint="assay encode writes such a folder")
    return found


def _count(folder: Path) -> int:
    from assay.encode.cache import count_of

    return sum(map(count_of, vector_files(folder)))


def _part(text: str) -> tuple[int, int]:
    """The number of a part, from 0 on, and how many there are."""
    if not text:
        return 0, 1
    number, _, parts = text.partition("/")
    if number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts) <= MOST_PARTS:
        return int(number) - 1, int(parts)
    raise UsageError(f"{text!r:.40} is not a part", hint="write 2/4 for the second of four")
