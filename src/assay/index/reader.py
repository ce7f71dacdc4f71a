"""How is the current generation of an index opened and searched?

A reader holds one generation and is never disturbed: its files stay until it closes them, whatever
a writer does meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.cache import Cache
from assay.durable import write_atomically
from assay.errors import CorruptError, StorageError, UsageError
from assay.index import manifest as manifests
from assay.index.bm25 import WORDS, Bm25, parts_of
from assay.index.checksums import fingerprint, is_settled, verify
from assay.index.columns import ChunkIds, Columns
from assay.index.dense import Vectors, has_vectors
from assay.index.facts import Facts, facts_of_rows, open_facts
from assay.index.impacts import Impacts
from assay.index.manifest import FileSet, Manifest
from assay.index.side_by_side import side_by_side
from assay.index.sparse import Postings, has_terms, open_terms
from assay.index.texts import texts_at
from assay.index.vector_checks import checked_query, checked_sparse
from assay.model.arrays import BoolArray
from assay.model.conditions import Condition
from assay.model.document import ChunkLabels, MetadataValue
from assay.model.query import Component, Filters, Hit, best_hits, hits_of
from assay.model.vectors import (
    DenseEncoder,
    DenseMatrix,
    SparseEncoder,
    SparseVector,
    term_names,
)

DEAD = "dead.npy"
VERIFIED = ".verified.json"
Found: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float32]]  # rows and their scores
MetadataSource: TypeAlias = Callable[[Sequence[int]], Mapping[int, Mapping[str, MetadataValue]]]
MASKS = 16  # filters on metadata whose rows and terms are remembered
SIDE_BY_SIDE = 300_000  # rows from which several cores search for one query
TRIES = 100  # attempts, in case a writer replaces the generation while it is being opened


@dataclass(frozen=True, slots=True)
class Segment:
    """One open segment; ``alive`` is None if nothing in it was deleted."""

    columns: Columns
    postings: Postings | Impacts | None
    vectors: Vectors | None
    alive: BoolArray | None

    def allowed(self, filters: Filters) -> BoolArray | None:
        """The rows that may be returned; None if all may."""
        passing = self.columns.passing(filters)
        if passing is None or self.alive is None:
            return self.alive if passing is None else passing
        return passing & self.alive


class Generation:
    """One generation of an index, opened for search."""

    def __init__(
        self, folder: Path, manifest: Manifest, metadata: MetadataSource | None = None
    ) -> None:
        """Open it; ``metadata`` reads that of keys, for segments that were written without."""
        if manifest.bm25 and manifest.words != WORDS:
            raise StorageError(
                "the words of this index were tokenized by another version of assay",
                hint="assay index update tokenizes them again",
            )
        self.manifest = manifest
        dead = dead_keys(folder, manifest)
        self.segments = [
            _open_segment(folder / part.folder, part, dead) for part in manifest.segments
        ]
        self.chunk_ids = ChunkIds([segment.columns for segment in self.segments])
        words = parts_of(
            (folder / part.folder for part in manifest.bm25),
            [(segment.columns, segment.alive) for segment in self.segments],
        )
        self._bm25 = Bm25([*words], self.allowed) if manifest.bm25 else None
        self._stored_facts = [open_facts(folder / part.folder) for part in manifest.segments]
        self._metadata = metadata
        self._opening = threading.Lock()
        self._facts: list[Facts] | None = None
        self._masks: Cache[tuple[Condition, ...], list[BoolArray]] = Cache(MASKS)

    def bm25(self) -> Component:
        """The component that matches words."""
        return self._bm25 or Nothing("bm25")

    @property
    def words(self) -> Bm25 | None:
        """What is known of words; None for an empty index."""
        return self._bm25

    @property
    def facts(self) -> list[Facts]:
        """The metadata of each segment; read when they are first needed."""
        with self._opening:
            if self._facts is None:
                self._facts = [
                    self._older_facts(segment) if stored is None else stored()
                    for stored, segment in zip(self._stored_facts, self.segments, strict=True)
                ]
                self._stored_facts = []
            return self._facts

    def _older_facts(self, segment: Segment) -> Facts:
        keys = segment.columns.keys.tolist()
        known = {} if self._metadata is None else self._metadata(keys)
        return facts_of_rows(known.get(key, {}) for key in keys)

    def fields(self) -> list[str]:
        """Every field of the metadata that can be filtered by."""
        return sorted({field for one in self.facts for field in one.values})

    def values(self, field: str) -> list[str]:
        """The distinct values of a field."""
        return sorted({value for one in self.facts for value in one.values.get(field, ())})

    def allowed(self, filters: Filters) -> list[BoolArray | None]:
        """The rows of each segment that may be returned; None if all may."""
        found = [segment.allowed(filters) for segment in self.segments]
        if not filters.metadata:
            return found
        masks = self._masks.get(filters.metadata)
        if masks is None:
            masks = [one.passing(filters.metadata) for one in self.facts]
            self._masks.put(filters.metadata, masks)
        return [
            mask if rows is None else mask & rows for mask, rows in zip(masks, found, strict=True)
        ]

    def sections(self) -> list[str]:
        """Every label that sections have here."""
        return sorted({label for one in self.segments for label in one.columns.sections})

    def splade(self, encoder: SparseEncoder) -> Component:
        """The component that matches weighted terms."""
        self._check_model("splade", encoder.model_id)
        return SparseSearch(self, encoder)

    def dense(self, encoder: DenseEncoder) -> Component:
        """The component that matches meaning."""
        self._check_model("dense", encoder.model_id)
        return DenseSearch(self, encoder)

    def labels(
        self, keys: Sequence[int], older: Callable[[Sequence[int]], Mapping[int, ChunkLabels]]
    ) -> dict[int, ChunkLabels]:
        """The labels of the chunks with these keys.

        ``older`` provides them for segments that were written without labels.
        """
        wanted = np.array(keys, dtype=np.int64)
        found: dict[int, ChunkLabels] = {}
        for segment in self.segments:
            found |= segment.columns.labels(wanted)
        if len(found) == len(keys):
            return found
        return {**found, **older([key for key in keys if key not in found])}

    def _check_model(self, role: str, model: str) -> None:
        used = self.manifest.models.get(role)
        if self.segments and used != model:
            raise UsageError(
                f"the index was built with {used or 'no model'} for {role}, not with {model}",
                hint="assay index reencode" if used else "assay index update",
            )


@dataclass(frozen=True, slots=True)
class Nothing:
    """The component of an empty index."""

    name: str

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Hit]:
        """No hit."""
        return []


class SparseSearch:
    """Exact search over the impact postings of every segment."""

    name = "splade"

    def __init__(self, generation: Generation, encoder: SparseEncoder) -> None:
        self._generation = generation
        self._encoder = encoder

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Hit]:
        """The k best chunks; only chunks that share a term with the query."""
        (found,) = self.search_many([query], k, filters)
        return found

    def search_many(
        self, queries: Sequence[str], k: int, filters: Filters | None = None
    ) -> list[list[Hit]]:
        """The same for each query; all are encoded at once."""
        return _of_asked(
            queries,
            k,
            self._generation,
            lambda texts: [self._nearest(one, k, filters) for one in self._vectors(texts)],
        )

    def _vectors(self, texts: list[str]) -> Sequence[SparseVector]:
        encoder = self._encoder
        found = encoder.encode(texts, "query")
        return checked_sparse(found, len(texts), encoder.vocabulary, encoder.model_id)

    def _nearest(self, vector: SparseVector, k: int, filters: Filters | None) -> list[Hit]:
        def find(segment: Segment, allowed: BoolArray | None) -> Found | None:
            if segment.postings is None:
                return None
            return segment.postings.best(vector, k, allowed)

        return _merge(self._generation, k, filters, find)

    @cached_property
    def _names(self) -> Sequence[str]:
        return term_names(self._encoder)

    def terms(self, query: str, keys: Sequence[int]) -> dict[int, dict[str, float]]:
        """What each term adds to the score of each chunk; also terms that the model added."""
        names = self._names
        found: dict[int, dict[str, float]] = {key: {} for key in keys}
        if not names or not query.strip():
            return found
        (vector,) = self._vectors([query])
        asked = list(zip(vector.terms.tolist(), vector.weights.tolist(), strict=True))
        for segment in self._generation.segments:
            if segment.postings is None:
                continue
            for row in np.flatnonzero(np.isin(segment.columns.keys, list(keys))).tolist():
                shares = (
                    (names[term], weight * segment.postings.weight(term, row))
                    for term, weight in asked
                )
                key = int(segment.columns.keys[row])
                found[key] = {name: share for name, share in shares if share}
        return found


class DenseSearch:
    """Search over the vectors of every segment, exact where a segment has no graph."""

    name = "dense"

    def __init__(self, generation: Generation, encoder: DenseEncoder) -> None:
        self._generation = generation
        self._encoder = encoder

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Hit]:
        """The k nearest chunks."""
        (found,) = self.search_many([query], k, filters)
        return found

    def search_many(
        self, queries: Sequence[str], k: int, filters: Filters | None = None
    ) -> list[list[Hit]]:
        """The same for each query; all are encoded at once, and held against a segment at once."""
        return _of_asked(
            queries,
            k,
            self._generation,
            lambda texts: self._nearest(self._encoder.encode(texts, "query"), k, filters),
        )

    def search_vector(
        self, vector: NDArray[np.float32], k: int, filters: Filters | None = None
    ) -> list[Hit]:
        """The k chunks nearest to a vector."""
        (found,) = self._nearest([vector], k, filters)
        return found

    def _nearest(
        self, vectors: Sequence[NDArray[np.float32]] | DenseMatrix, k: int, filters: Filters | None
    ) -> list[list[Hit]]:
        def find(segment: Segment, allowed: BoolArray | None) -> Sequence[Found] | None:
            if segment.vectors is None:
                return None
            dimension, model = segment.vectors.dimension, self._encoder.model_id
            sound = [checked_query(one, dimension, model) for one in vectors]
            return segment.vectors.nearest_many(np.stack(sound), k, allowed)

        return _merge_many(self._generation, len(vectors), k, filters, find)


def _of_asked(
    queries: Sequence[str],
    k: int,
    generation: Generation,
    search: Callable[[list[str]], list[list[Hit]]],
) -> list[list[Hit]]:
    """What a search finds for each query; nothing for those that ask for nothing."""
    asked = [query for query in queries if query.strip()]
    if k < 1 or not asked or not generation.segments:
        return [[] for _ in queries]
    found = iter(search(asked))
    return [next(found) if query.strip() else [] for query in queries]


def _merge(
    generation: Generation,
    k: int,
    filters: Filters | None,
    find: Callable[[Segment, BoolArray | None], Found | None],
) -> list[Hit]:
    """The k best rows of all segments, by score descending, then chunk id."""

    def found_by(segment: Segment, allowed: BoolArray | None) -> Sequence[Found] | None:
        found = find(segment, allowed)
        return None if found is None else [found]

    (hits,) = _merge_many(generation, 1, k, filters, found_by)
    return hits


def _merge_many(
    generation: Generation,
    queries: int,
    k: int,
    filters: Filters | None,
    find: Callable[[Segment, BoolArray | None], Sequence[Found] | None],
) -> list[list[Hit]]:
    """The same for several queries at once."""
    segments, allowed = generation.segments, generation.allowed(filters or Filters())
    works = [partial(find, *each) for each in zip(segments, allowed, strict=True)]
    if sum(len(one.columns.keys) for one in segments) < SIDE_BY_SIDE:
        found = [work() for work in works]
    else:
        found = side_by_side(works)
    hits: list[list[Hit]] = [[] for _ in range(queries)]
    for segment, each in zip(segments, found, strict=True):
        keys, chunk_ids = segment.columns.keys, segment.columns.chunk_ids
        for mine, (rows, scores) in zip(hits, each or (), strict=False):
            ids = texts_at(chunk_ids, rows)
            mine.extend(hits_of(keys[rows].tolist(), ids, scores.tolist()))
    return [best_hits(mine, k) for mine in hits]


def open_generation(
    folder: Path, *, verified: bool = True, metadata: MetadataSource | None = None
) -> Generation:
    """The current generation, or the newer one if a writer replaces it meanwhile."""
    for attempt in range(TRIES):
        manifest = manifests.load(folder)
        try:
            if verified:
                verify_once(folder, manifest)
            opened = Generation(folder, manifest, metadata)
            _refuse_removed(folder, manifest)
            return opened
        except (CorruptError, FileNotFoundError):
            if attempt == TRIES - 1 or manifests.load(folder).generation == manifest.generation:
                raise
    raise AssertionError("unreachable")


def _refuse_removed(folder: Path, manifest: Manifest) -> None:
    """Check that all files still existed when the last one was opened."""
    for part in manifest.parts:
        for name, (_, checksum) in part.files.items():
            fingerprint(folder / part.folder / name, checksum)


def verify_once(folder: Path, manifest: Manifest) -> None:
    """Verify the checksum of every file that was written since it was last verified."""
    stamp = folder / VERIFIED
    known = _verified(stamp)
    now = []
    for part in manifest.parts:
        for name, (size, checksum) in part.files.items():
            path = folder / part.folder / name
            found = fingerprint(path, checksum)
            settled = is_settled(path)  # before it is read
            if found not in known:
                verify(path, size, checksum)
            if settled:
                now.append(found)
    if known != {*now}:
        # a read-only folder is verified each time
        with contextlib.suppress(StorageError):
            write_atomically(stamp, json.dumps(now).encode())


def _verified(stamp: Path) -> frozenset[str]:
    """The fingerprints of verified files; empty if they cannot be read."""
    try:
        found = json.loads(stamp.read_bytes())
        return frozenset(found if isinstance(found, list) else ())
    except (OSError, ValueError, TypeError):
        return frozenset()


def dead_keys(folder: Path, manifest: Manifest) -> NDArray[np.int64]:
    """The keys of chunks that were deleted since their segments were written."""
    if manifest.dead is None:
        return np.zeros(0, dtype=np.int64)
    keys: NDArray[np.int64] = np.load(folder / manifest.dead.folder / DEAD, allow_pickle=False)
    return keys


def _open_segment(folder: Path, part: FileSet, dead: NDArray[np.int64]) -> Segment:
    columns = Columns(folder)
    gone = np.isin(columns.keys, dead)
    return Segment(
        columns=columns,
        postings=open_terms(folder, part.rows) if has_terms(part.files) else None,
        vectors=Vectors(folder) if has_vectors(part.files) else None,
        alive=~gone if gone.any() else None,
    )
