"""How are vectors kept in two bytes a number, searched by the first byte, and scored by both?

Each dimension of a segment is cut into 65,536 steps between its least and its largest value. The
high bytes lie in one file, which is mapped into memory and searched; the low bytes lie in another,
of which a search reads the rows that may be among the best. A number is then off by less than the
rounding of an inner product in single precision, and a row takes one byte a number in memory.

The score by high bytes has an error of at most ``Asked.error``, so every row that may be among the
best is known: the result is that of scoring all rows. A graph of neighbours (HNSW, Malkov and
Yashunin, 2018) saves looking at all of them, and finds nearly all of the best.
"""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay import compiled
from assay.errors import CorruptError
from assay.extras import import_optional
from assay.index.postings import REBUILD
from assay.model.arrays import BoolArray
from assay.model.vectors import DenseMatrix

HIGH, LOW, SCALE, RESIDUE = (
    "dense_high.npy",
    "dense_low.npy",
    "dense_scale.npy",
    "dense_residue.npy",
)
LINKS, ENTRIES = "dense_links.npy", "dense_entries.npy"
ROUNDING = 1e-5  # rounding error of inner products of unit vectors in single precision
BLOCK = 8_192
STEPS = (1 << 16) - 1
HALF = 1 << 7  # high bytes are kept as signed numbers
MOST = (1 << 31) - 1
GRAPH_LINKS, BUILD_EFFORT = 16, 100  # measured: see design/007
ENTRY_LEVEL = 2  # rows on this level of the graph or above are where walks begin
LEAST_ENTRIES = 16

Vector: TypeAlias = NDArray[np.float32]
Rows: TypeAlias = NDArray[np.int64]


def write_planes(folder: Path, vectors: DenseMatrix) -> None:
    """Write vectors in two bytes a number."""
    count, width = vectors.shape
    least = vectors.min(axis=0).astype(np.float64)
    step = np.maximum((vectors.max(axis=0) - least) / STEPS, np.finfo(np.float32).tiny)
    high = np.empty((count, width), dtype=np.int8)
    low = np.empty((count, width), dtype=np.uint8)
    residue = 0.0
    for start in range(0, count, BLOCK):
        part = slice(start, start + BLOCK)
        steps = np.clip(np.rint((vectors[part] - least) / step), 0, STEPS).astype(np.uint16)
        high[part] = ((steps >> 8).astype(np.int16) - HALF).astype(np.int8)
        low[part] = steps.astype(np.uint8)
        rest = (low[part] - (2 * HALF - 1) / 2) * step
        residue = max(residue, float(np.linalg.norm(rest, axis=1).max()))
    np.save(folder / HIGH, high, allow_pickle=False)
    np.save(folder / LOW, low, allow_pickle=False)
    np.save(folder / SCALE, np.stack([least, step]), allow_pickle=False)
    np.save(folder / RESIDUE, np.array([residue]), allow_pickle=False)


class Asked(NamedTuple):
    """A query in whole numbers: a score is their product with a row, times ``scale``, + ``base``.

    Scores by high bytes are wrong by ``error`` at most.
    """

    numbers: NDArray[np.int16]
    scale: float
    base: float
    error: float


class Planes:
    """The vectors of a segment in two bytes a number."""

    def __init__(self, folder: Path) -> None:
        self._high: NDArray[np.int8] = np.asarray(_mapped(folder / HIGH))
        self._low = _mapped(folder / LOW)
        self._file = os.open(folder / LOW, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)
        self._least, self._step = np.load(folder / SCALE, allow_pickle=False)
        self._narrow_least = self._least.astype(np.float32)
        self._narrow_step = self._step.astype(np.float32)
        self._residue = float(np.load(folder / RESIDUE, allow_pickle=False)[0])
        self._folder = folder
        if self._low.shape != self._high.shape or self._high.ndim != 2:
            raise CorruptError(f"{folder} has vectors of two shapes", hint=REBUILD)

    @property
    def high(self) -> NDArray[np.int8]:
        """The high bytes, a row for each vector."""
        return self._high

    def rows(self, at: Rows) -> DenseMatrix:
        """The vectors of these rows."""
        steps = (self._high[at] ^ np.int8(-HALF)).view(np.uint8).astype(np.uint16)
        steps <<= 8
        steps |= self._low_of(at)
        found: DenseMatrix = steps.astype(np.float32)
        found *= self._narrow_step
        found += self._narrow_least
        return found

    def _low_of(self, at: Rows) -> NDArray[np.uint8]:
        """The low bytes of these rows, read from the disk so that they take up no memory."""
        library = compiled.library()
        if library is None:
            return np.array(self._low[at], dtype=np.uint8)
        wanted = np.ascontiguousarray(at, dtype=np.int64)
        found = np.empty((len(wanted), self._low.shape[1]), dtype=np.uint8)
        failed = library.assay_read_rows(
            self._file, self._low.offset, self._low.shape[1],
            wanted.ctypes.data, len(wanted), found.ctypes.data,
        )  # fmt: skip
        if failed:
            raise CorruptError(f"{self._folder / LOW} ends before its last row", hint=REBUILD)
        return found

    def asked(self, query: Vector) -> Asked:
        """What a query is to high bytes."""
        exact = query.astype(np.float64)
        factors = exact * self._step * (2 * HALF)
        largest = min(np.iinfo(np.int16).max, MOST // (HALF * len(factors)))
        scale = max(float(np.abs(factors).max()) / largest, np.finfo(np.float64).tiny)
        numbers = np.rint(factors / scale).astype(np.int16)
        middle = self._least + self._step * (2 * HALF * HALF + (2 * HALF - 1) / 2)
        residues = np.abs(exact) @ self._step * HALF, np.linalg.norm(exact) * self._residue
        rounded = HALF * np.abs(factors - numbers * scale).sum()
        error = float(min(residues) + rounded + ROUNDING * np.linalg.norm(exact))
        return Asked(numbers, scale, float(exact @ middle), error)

    def estimates(self, asked: Asked, allowed: BoolArray | None) -> Vector:
        """The score of every row by high bytes; -inf for rows that are not allowed."""
        library = compiled.library()
        if library is None:
            return self._estimates_by_arrays(asked, allowed)
        scores = np.empty(len(self._high), dtype=np.float32)
        mask = None if allowed is None else np.ascontiguousarray(allowed)
        library.assay_multiply_bytes(
            self._high.ctypes.data, len(scores), self._high.shape[1],
            asked.numbers.ctypes.data, asked.scale, asked.base,
            None if mask is None else mask.ctypes.data, scores.ctypes.data,
        )  # fmt: skip
        return scores

    def _estimates_by_arrays(self, asked: Asked, allowed: BoolArray | None) -> Vector:
        scores: Vector = self.estimates_many([asked])[0]
        if allowed is not None:
            scores[~allowed] = -np.inf
        return scores

    def estimates_many(self, queries: list[Asked]) -> DenseMatrix:
        """The scores of every row for several queries: a product of matrices."""
        factors = np.stack([one.numbers * one.scale for one in queries]).astype(np.float32)
        found = np.empty((len(queries), len(self._high)), dtype=np.float32)
        for start in range(0, len(self._high), BLOCK):
            part = slice(start, start + BLOCK)
            found[:, part] = factors @ self._high[part].astype(np.float32).T
        found += np.array([[one.base] for one in queries], dtype=np.float32)
        return found


def write_graph(folder: Path, vectors: DenseMatrix) -> None:
    """Write a graph of neighbours, and the rows where walks begin."""
    faiss = import_optional("faiss")
    built: Any = faiss.IndexHNSWSQ(
        vectors.shape[1], faiss.ScalarQuantizer.QT_8bit, GRAPH_LINKS, faiss.METRIC_INNER_PRODUCT
    )
    built.hnsw.efConstruction = BUILD_EFFORT
    built.train(vectors)
    built.add(vectors)
    degree = built.hnsw.nb_neighbors(0)
    starts = faiss.vector_to_array(built.hnsw.offsets)[: len(vectors)].astype(np.int64)
    every = faiss.vector_to_array(built.hnsw.neighbors)
    links = np.empty((len(vectors), degree), dtype=np.int32)
    for start in range(0, len(vectors), BLOCK):
        part = slice(start, start + BLOCK)
        links[part] = every[starts[part, np.newaxis] + np.arange(degree)]
    levels = faiss.vector_to_array(built.hnsw.levels) - 1
    level = min(ENTRY_LEVEL, max(0, int(levels.max(initial=0)) - 1))
    np.save(folder / LINKS, links, allow_pickle=False)
    np.save(folder / ENTRIES, np.flatnonzero(levels >= level).astype(np.int32), allow_pickle=False)


class Graph:
    """The links between the rows of a segment and their neighbours."""

    def __init__(self, folder: Path, planes: Planes) -> None:
        self._links: NDArray[np.int32] = np.asarray(_mapped(folder / LINKS))
        self._entries: NDArray[np.int32] = np.load(folder / ENTRIES, allow_pickle=False)
        self._planes = planes
        self._folder = folder
        if len(self._links) != len(planes.high):
            raise CorruptError(f"{folder} has links between other rows", hint=REBUILD)

    def near(self, asked: Asked, effort: int, allowed: BoolArray | None) -> Rows:
        """The ``effort`` best rows that a walk finds among those that are allowed."""
        high = self._planes.high
        mask = None if allowed is None else np.ascontiguousarray(allowed)
        entries = self._entries if mask is None else self._allowed_entries(mask)
        met = np.empty(2 * effort, dtype=np.int32)
        seen = np.zeros((len(high) + 63) // 64, dtype=np.uint64)
        found = np.empty(effort, dtype=np.int64)
        count = compiled.library().assay_walk(
            high.ctypes.data, len(high), high.shape[1], asked.numbers.ctypes.data,
            self._links.ctypes.data, self._links.shape[1], entries.ctypes.data, len(entries),
            None if mask is None else mask.ctypes.data,
            met.ctypes.data, effort, seen.ctypes.data, found.ctypes.data,
        )  # fmt: skip
        if count < 0:
            raise CorruptError(f"{self._folder / LINKS} leads beyond its end", hint=REBUILD)
        return np.sort(found[:count])

    def _allowed_entries(self, mask: BoolArray) -> NDArray[np.int32]:
        """Where a walk among some rows begins: also at some of them, where entries are few."""
        entries = self._entries[mask[self._entries]]
        if len(entries) < LEAST_ENTRIES:
            those = np.flatnonzero(mask)
            spread = those[:: max(1, len(those) // LEAST_ENTRIES)]
            entries = np.concatenate([entries, spread.astype(np.int32)])
        return entries


def _mapped(path: Path) -> Any:
    return np.load(path, mmap_mode="r", allow_pickle=False)
