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
from assay.index.dense import VECTORS, Vectors, has_vectors, write_dense
from assay.index.facts import facts_of_rows
from assay.index.lock import write_lock
from assay.index.manifest import FileSet, Manifest
from assay.index.origin import Origin, is_foreign, origin_of
from assay.index.postings import BLOCK_ROWS
from assay.index.reader import DEAD, dead_keys, verify_once
from assay.index.sparse import STARTS, Postings, has_terms, write_sparse
from assay.index.vector_checks import checked_matrix, checked_sparse
from assay.model.document import Chunk, KeyedChunk
from assay.model.vectors import DenseMatrix, SparseVector

SEGMENT_ROWS = 4 * BLOCK_ROWS
MERGED_ROWS = (
    10_000  # segments of up to this many rows are joined with new ones; larger ones packed
)
GRAPH_FROM_ROWS = 200_000  # up to this many chunks in total, dense search is exact

Progress: TypeAlias = Callable[[str, int, int], None]  # stage, done, in all


class ChunkSource(Origin, Protocol):
    """What the index needs of the store."""

    def added_since(self, seq: int, until: int) -> Iterator[list[KeyedChunk]]:
        """Chunks added after change ``seq``, up to ``until``, that still exist."""

    def count_since(self, seq: int, until: int) -> int:
        """How many chunks that is."""

    def change_within(self, seq: int, until: int, many: int) -> int:
        """The last change before which no more chunks than this were added after ``seq``.

        Always one after ``seq``, and ``until`` at most.
        """

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
    """Bring the index up to the store's last change; ``fresh`` builds it from scratch.

    A large update is a generation for each full segment: what one has is searched while the next is
    written, and stays after a crash. An index that takes the place of another is written whole.
    """
    with write_lock(folder), _tidied(folder):
        if manifests.is_new(folder):
            # an empty generation first: from now on a missing manifest means a lost one
            manifests.save(folder, Manifest())
        current, grows = _base(folder, encoders, source, fresh)
        until = source.last_change()
        verify_once(folder, current)  # damaged files must not survive under new checksums
        behind = until != current.applied or outdated(current) or any(map(_loose, current.segments))
        if not behind and not fresh:
            return current
        total = source.count_since(current.applied, until)
        rows = sum(part.rows for part in current.segments) + total
        done = 0
        while True:
            step = source.change_within(current.applied, until, SEGMENT_ROWS)
            removed = source.removed_since(current.applied, step)
            added = [row for page in source.added_since(current.applied, step) for row in page]
            work = _Work(folder, current, encoders, graph=rows > graph_from_rows)
            current = work.write(source, added, removed, step)
            done += len(added)
            if progress is not None:
                progress("index", min(done, total), total)
            if grows or step == until:
                manifests.save(folder, current)
            if step == until:
                return current


def cut_words_anew(folder: Path, source: ChunkSource) -> None:
    """Cut the words of an index that an older version wrote; vectors stay as they are."""
    with write_lock(folder), _tidied(folder):
        current = manifests.load(folder)
        if outdated(current):
            verify_once(folder, current)
            words = _Work(folder, current, Encoders()).words_anew(source)
            sync_folder(folder)
            manifests.save(folder, current.next(bm25=words, words=bm25.WORDS))


def outdated(manifest: Manifest) -> bool:
    """Whether the words were cut by an older version."""
    return bool(manifest.bm25) and manifest.words != bm25.WORDS


def _loose(part: FileSet) -> bool:
    """Whether an older version wrote this segment, which would be packed now."""
    return part.rows > MERGED_ROWS and not {VECTORS, STARTS}.isdisjoint(part.files)


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


def _base(
    folder: Path, encoders: Encoders, source: ChunkSource, fresh: bool
) -> tuple[Manifest, bool]:
    """The generation to build on, and whether it is the current one or as good as that.

    It is an empty one if models changed or all is rebuilt.
    """
    if fresh:
        try:
            current = manifests.load(folder)
        except StorageError:  # a broken index is what rebuilding is for
            return Manifest(generation=_largest_number(folder)), True
        return Manifest(generation=current.generation), not current.segments
    current = manifests.load(folder)
    changed = current.segments and dict(current.models) != encoders.models
    if changed or is_foreign(current.applied, current.card, source):
        return Manifest(generation=current.generation), False
    return current, True


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
        if has_terms(part.files):
            self.sparse |= zip(keys, Postings(folder, part.rows).vectors(), strict=True)
        if has_vectors(part.files):
            vectors = Vectors(folder)
            self.dense |= {key: vectors.row(at) for at, key in enumerate(keys)}


class _Work:
    """One writer's new files."""

    def __init__(
        self,
        folder: Path,
        current: Manifest,
        encoders: Encoders,
        *,
        graph: bool = False,
    ) -> None:
        self._folder = folder
        self._current = current
        self._number = current.generation + 1
        self._encoders = encoders
        self._graph = graph

    def write(
        self, source: ChunkSource, added: list[KeyedChunk], removed: list[int], until: int
    ) -> Manifest:
        """Write the next generation's files durably, and return the manifest that lists them.

        What an older version wrote is written anew. Small segments are joined with what is new, and
        lose their dead rows.
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
        segments = [self._packed(part) if _loose(part) else part for part in segments]
        rows = sum(part.rows for part in segments) + len(every)
        for start in range(0, len(every), SEGMENT_ROWS):
            part = every[start : start + SEGMENT_ROWS]
            words.append(self._words(len(words), [row.chunk for row in part]))
            segments.append(self._segment(start, part, joined))
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

    def _segment(self, start: int, rows: Sequence[KeyedChunk], joined: _Joined) -> FileSet:
        folder = self._new(f"seg-{self._number:06d}.{start // SEGMENT_ROWS}")
        with storing(folder):
            write_columns(folder, rows)
            facts_of_rows(row.chunk.metadata for row in rows).save(folder)
        large = len(rows) > MERGED_ROWS  # and never joined again
        new = [row for row in rows if row.key not in joined.keys]
        texts = [passage(row.chunk) for row in new]
        made, weights = self._encoders.vectors(texts)
        old = [row.key for row in rows[: len(rows) - len(new)]]
        if weights is not None:
            most = self._encoders.vocabulary
            sound = checked_sparse(weights, len(texts), most, self._encoders.sparse_model)
            with storing(folder):
                every = [*(joined.sparse[key] for key in old), *sound]
                write_sparse(folder, every, most, large=large)
        if made is not None:
            vectors = checked_matrix(made, len(texts), self._encoders.dense_model)
            with _writing(folder):
                kept = [joined.dense[key][np.newaxis] for key in old]
                every_vector = np.concatenate([*kept, vectors])
                write_dense(folder, every_vector, large=large, graph=self._graph)
        return _finished(folder, len(rows))

    def _packed(self, part: FileSet) -> FileSet:
        """A large segment of an older version, packed; its vectors are those that it has."""
        before, folder = self._folder / part.folder, self._new(f"{part.folder}.packed")
        with _writing(folder):
            for name in part.files:
                if not name.startswith(("dense", "sparse")):
                    shutil.copy(before / name, folder / name)
            if STARTS in part.files:
                terms = Postings(before, part.rows)
                write_sparse(folder, terms.vectors(), terms.vocabulary, large=True)
            if VECTORS in part.files:
                vectors = np.load(before / VECTORS, mmap_mode="r", allow_pickle=False)
                write_dense(folder, vectors, large=True, graph=self._graph)
        return _finished(folder, part.rows)

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
