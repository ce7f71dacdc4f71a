"""How does the index catch up with the store?

The store is the source of truth and numbers its changes. A writer asks for the changes after those
in the current generation, writes new files, makes them durable, and only then lists them in the
manifest. A crash before that leaves files that no manifest lists; the next writer removes them.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.durable import is_unfinished, refusal, storing, sync_files, sync_folder
from assay.errors import StorageError
from assay.index import bm25
from assay.index import manifest as manifests
from assay.index.checksums import describe
from assay.index.columns import Columns, write_columns
from assay.index.dense import VECTORS, Vectors, write_dense
from assay.index.facts import facts_of_rows
from assay.index.lock import write_lock
from assay.index.manifest import FileSet, Manifest
from assay.index.origin import Origin, is_foreign, origin_of
from assay.index.reader import DEAD, dead_keys, verify_once
from assay.index.sparse import STARTS, Postings, write_sparse
from assay.index.vector_checks import checked_matrix, checked_sparse
from assay.model.document import Chunk, KeyedChunk
from assay.model.vectors import DenseMatrix, SparseVector

SEGMENT_ROWS = 100_000
MERGED_ROWS = 10_000  # segments of up to this many rows are joined with new ones
GRAPH_FROM_ROWS = 200_000  # up to this many chunks in total, dense search is exact

Progress: TypeAlias = Callable[[str, int, int], None]  # stage, done, in all


class ChunkSource(Origin, Protocol):
    """What the index needs of the store."""

    def added_since(self, seq: int, until: int) -> Iterator[list[KeyedChunk]]:
        """Chunks added after change ``seq``, up to ``until``, that still exist."""

    def removed_since(self, seq: int, until: int) -> list[int]:
        """Keys that existed at ``seq`` and are gone at ``until``."""

    def chunks_by_key(self, keys: Sequence[int]) -> Mapping[int, Chunk]:
        """The chunks with these keys."""


Both: TypeAlias = Callable[[list[str]], tuple[DenseMatrix, list[SparseVector]]]


@dataclass(frozen=True, slots=True)
class Encoders:
    """The encoders with the names of their models; None leaves a component out.

    Where one model gives both signals, ``both`` does so in one pass, and is asked instead.
    """

    dense: Callable[[list[str]], DenseMatrix] | None = None
    sparse: Callable[[list[str]], list[SparseVector]] | None = None
    dense_model: str = ""
    sparse_model: str = ""
    vocabulary: int = 0
    both: Both | None = None

    def vectors(self, texts: list[str]) -> tuple[DenseMatrix | None, list[SparseVector] | None]:
        """The vectors of passages; None for a component that is left out."""
        if self.both is not None:
            return self.both(texts)
        sparse = None if self.sparse is None else self.sparse(texts)
        return None if self.dense is None else self.dense(texts), sparse

    @property
    def models(self) -> dict[str, str]:
        """Role to model."""
        found = {}
        if self.dense is not None or self.both is not None:
            found["dense"] = self.dense_model
        if self.sparse is not None or self.both is not None:
            found["splade"] = self.sparse_model
        return found


def passage(chunk: Chunk) -> str:
    """The text of a chunk as models see it."""
    return f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text


def update(
    folder: Path,
    source: ChunkSource,
    encoders: Encoders,
    *,
    fresh: bool = False,
    progress: Progress | None = None,
    graph_from_rows: int = GRAPH_FROM_ROWS,
) -> Manifest:
    """Bring the index up to the store's last change; ``fresh`` builds it from scratch."""
    with write_lock(folder), _tidied(folder):
        if manifests.is_new(folder):
            # an empty generation first: from now on a missing manifest means a lost one
            manifests.save(folder, Manifest())
        current = _base(folder, encoders, source, fresh)
        until = source.last_change()
        verify_once(folder, current)  # damaged files must not survive under new checksums
        if until == current.applied and not fresh and not outdated(current):
            return current
        removed = source.removed_since(current.applied, until)
        added = [row for page in source.added_since(current.applied, until) for row in page]
        work = _Work(folder, current, encoders, progress, graph_from_rows)
        manifest = work.write(source, added, removed, until)
        manifests.save(folder, manifest)
        return manifest


def cut_words_anew(folder: Path, source: ChunkSource) -> None:
    """Cut the words of an index that an older version wrote; vectors stay as they are."""
    with write_lock(folder), _tidied(folder):
        current = manifests.load(folder)
        if outdated(current):
            verify_once(folder, current)
            words = _Work(folder, current, Encoders(), None, 0).words_anew(source)
            sync_folder(folder)
            manifests.save(folder, current.next(bm25=words, words=bm25.WORDS))


def outdated(manifest: Manifest) -> bool:
    """Whether the words were cut by an older version."""
    return bool(manifest.bm25) and manifest.words != bm25.WORDS


@contextmanager
def _tidied(folder: Path) -> Iterator[None]:
    """Remove unneeded files, also if writing failed: the disk may be full."""
    try:
        yield
    finally:
        with contextlib.suppress(
            StorageError, OSError
        ):  # without a readable manifest, remove nothing
            _sweep(folder, manifests.load(folder))


def _base(folder: Path, encoders: Encoders, source: ChunkSource, fresh: bool) -> Manifest:
    """The generation to build on: an empty one if models changed or all is rebuilt."""
    if fresh:
        try:
            return Manifest(generation=manifests.load(folder).generation)
        except StorageError:  # a broken index is what rebuilding is for
            return Manifest(generation=_largest_number(folder))
    current = manifests.load(folder)
    changed = current.segments and dict(current.models) != encoders.models
    if changed or is_foreign(current.applied, current.card, source):
        return Manifest(generation=current.generation)
    return current


def _largest_number(folder: Path) -> int:
    numbers = [path.name.rpartition("-")[2] for path in manifests.part_folders(folder)]
    return max((int(number.split(".")[0]) for number in numbers if number[:1].isdigit()), default=0)


class _Joined:
    """What is taken over from small segments: their rows, and the vectors of each by key."""

    def __init__(self, segments: int = 0) -> None:
        self.segments = segments
        self.keys: set[int] = set()
        self.rows: list[KeyedChunk] = []
        self.sparse: dict[int, SparseVector] = {}
        self.dense: dict[int, NDArray[np.float32]] = {}

    def take(self, folder: Path, part: FileSet, source: ChunkSource, gone: Collection[int]) -> None:
        """Take over a segment, but for what is gone."""
        keys = Columns(folder).keys.tolist()
        self.keys.update(keys)
        chunks = source.chunks_by_key([key for key in keys if key not in gone])
        self.rows += [KeyedChunk(key, chunks[key]) for key in keys if key in chunks]
        if STARTS in part.files:
            self.sparse |= zip(keys, Postings(folder, part.rows).vectors(), strict=True)
        if VECTORS in part.files:
            vectors = Vectors(folder)
            self.dense |= {key: vectors.row(at) for at, key in enumerate(keys)}


class _Work:
    """One writer's new files."""

    def __init__(
        self,
        folder: Path,
        current: Manifest,
        encoders: Encoders,
        progress: Progress | None,
        graph_from_rows: int,
    ) -> None:
        self._folder = folder
        self._current = current
        self._number = current.generation + 1
        self._encoders = encoders
        self._progress = progress or (lambda stage, done, total: None)
        self._graph_from = graph_from_rows

    def write(
        self, source: ChunkSource, added: list[KeyedChunk], removed: list[int], until: int
    ) -> Manifest:
        """Write the next generation's files durably, and return the manifest that lists them.

        Words that were cut by an older version are cut anew. Small segments are joined with what is
        new, and lose their dead rows.
        """
        gone = {*removed, *dead_keys(self._folder, self._current).tolist()}
        segments = list(self._current.segments)
        if outdated(self._current):
            words, joined = list(self.words_anew(source)), _Joined()
        else:
            joined = self._joined(source, added, gone)
            kept = len(segments) - joined.segments
            segments, words = segments[:kept], list(self._current.bm25[:kept])
        every = [*joined.rows, *added]
        rows = sum(part.rows for part in segments) + len(every)
        for start in range(0, len(every), SEGMENT_ROWS):
            part = every[start : start + SEGMENT_ROWS]
            words.append(self._words(len(words), [row.chunk for row in part]))
            segments.append(self._segment(start, part, joined, graph=rows > self._graph_from))
            self._progress("index", min(start + SEGMENT_ROWS, len(every)), len(every))
        dead = self._dead(gone - joined.keys)
        sync_folder(self._folder)
        return self._current.next(
            applied=until,
            bm25=tuple(words),
            words=bm25.WORDS,
            segments=tuple(segments),
            dead=dead,
            models=self._encoders.models,
            card={"rows": rows - (0 if dead is None else dead.rows), **origin_of(source, until)},
        )

    def _joined(
        self, source: ChunkSource, added: Sequence[KeyedChunk], gone: Collection[int]
    ) -> _Joined:
        """The last segments that are no larger than all that comes after them, if they are small.

        So the number of segments grows with the logarithm of the number of updates. Keys ascend
        within a segment.
        """
        parts: list[FileSet] = []
        total, first = len(added), added[0].key if added else 0
        for part in reversed(self._current.segments):
            keys = Columns(self._folder / part.folder).keys
            fits = total + part.rows <= SEGMENT_ROWS and part.rows <= min(MERGED_ROWS, total)
            if not fits or keys[-1] >= first:
                break
            parts.append(part)
            total, first = total + part.rows, keys[0]
        found = _Joined(len(parts))
        for part in reversed(parts):
            found.take(self._folder / part.folder, part, source, gone)
        return found

    def _segment(
        self, start: int, rows: Sequence[KeyedChunk], joined: _Joined, *, graph: bool
    ) -> FileSet:
        folder = self._new(f"seg-{self._number:06d}.{start // SEGMENT_ROWS}")
        with storing(folder):
            write_columns(folder, rows)
            facts_of_rows(row.chunk.metadata for row in rows).save(folder)
        new = [row for row in rows if row.key not in joined.keys]
        texts = [passage(row.chunk) for row in new]
        made, weights = self._encoders.vectors(texts)
        old = [row.key for row in rows[: len(rows) - len(new)]]
        if weights is not None:
            most = self._encoders.vocabulary
            sound = checked_sparse(weights, len(texts), most, self._encoders.sparse_model)
            with storing(folder):
                write_sparse(folder, [*(joined.sparse[key] for key in old), *sound], most)
        if made is not None:
            vectors = checked_matrix(made, len(texts), self._encoders.dense_model)
            with _writing(folder):
                kept = [joined.dense[key][np.newaxis] for key in old]
                write_dense(folder, np.concatenate([*kept, vectors]), graph=graph)
        return _finished(folder, len(rows))

    def _dead(self, gone: Collection[int]) -> FileSet | None:
        keys = np.array(sorted(gone), dtype=np.int64)
        if np.array_equal(keys, dead_keys(self._folder, self._current)):
            return self._current.dead
        if not len(keys):
            return None
        folder = self._new(f"dead-{self._number:06d}")
        with storing(folder):
            np.save(folder / DEAD, keys, allow_pickle=False)
        return _finished(folder, len(keys))

    def _words(self, number: int, chunks: Sequence[Chunk | None]) -> FileSet:
        folder = self._new(f"bm25-{self._number:06d}.{number}")
        with storing(folder):
            bm25.write(folder, chunks)
        return _finished(folder, len(chunks))

    def words_anew(self, source: ChunkSource) -> tuple[FileSet, ...]:
        """The words of every segment that is there; chunks that no longer exist have none."""
        pages = source.added_since(0, self._current.applied)
        dead = {*dead_keys(self._folder, self._current).tolist()}
        waiting: dict[int, Chunk] = {}
        found = []
        for number, part in enumerate(self._current.segments):
            keys = Columns(self._folder / part.folder).keys.tolist()
            missing = {*keys} - dead - waiting.keys()
            while missing and (page := next(pages, None)) is not None:
                waiting |= {row.key: row.chunk for row in page}
                missing -= waiting.keys()
            found.append(self._words(number, [waiting.pop(key, None) for key in keys]))
        return tuple(found)

    def _new(self, name: str) -> Path:
        folder = self._folder / name
        shutil.rmtree(folder, ignore_errors=True)
        with storing(folder):
            folder.mkdir(parents=True)
        return folder


def _finished(folder: Path, rows: int) -> FileSet:
    """The file set of a folder, made durable."""
    with storing(folder):
        files = describe(folder)
        sync_files(folder / name for name in files)
        sync_folder(folder)
    return FileSet(folder.name, rows, dict(sorted(files.items())))


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn write errors into ours; faiss raises RuntimeError."""
    try:
        yield
    except (OSError, ValueError, RuntimeError) as problem:
        raise refusal(folder, problem) from problem


def _sweep(folder: Path, manifest: Manifest) -> None:
    """Remove what the manifest does not list; readers keep mapped files until they close them."""
    named = {part.folder for part in manifest.parts}
    for path in manifests.part_folders(folder):
        if path.name not in named:
            shutil.rmtree(path, ignore_errors=True)
    for path in folder.iterdir():
        if is_unfinished(path.name):  # left by a process that was killed
            path.unlink(missing_ok=True)
