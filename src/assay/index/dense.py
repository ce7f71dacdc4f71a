"""Which chunks are closest in meaning to the query?

Vectors have unit length, so the inner product is the cosine. The vectors of a small segment are
kept as they are and all scored. Those of a large one take two bytes a number and are searched by
the first (``index/quantised.py``): exactly, or from a graph, whose candidates are scored in full;
the index card reports the share of the true best 100 that a graph finds.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from assay import compiled
from assay.extras import import_optional
from assay.index.quantised import (
    HIGH,
    LINKS,
    ROUNDING,
    Graph,
    Planes,
    Rows,
    Vector,
    write_graph,
    write_planes,
)
from assay.index.top import best_rows
from assay.model.arrays import BoolArray
from assay.model.vectors import DenseMatrix

VECTORS = "dense.npy"
LEAST_EFFORT, EFFORT_PER_RESULT = 160, 1.6  # measured: see design/007
MANY = 4  # queries from which on one product of matrices is faster than a search for each
# A walk looks at a few thousand rows, whatever the filter: below this many that pass, times all
# rows over rows that pass, looking at each of them is faster.
EXACT_BELOW = 3_000
FEW = 4  # rows are picked out where fewer than one in so many is allowed


def write_dense(folder: Path, vectors: DenseMatrix, *, large: bool, graph: bool = False) -> None:
    """Write the vectors of a segment; those of a large one as bytes, with a graph if requested."""
    vectors = np.ascontiguousarray(vectors, dtype=np.float32)
    if not large:
        np.save(folder / VECTORS, vectors, allow_pickle=False)
        return
    write_planes(folder, vectors)
    if graph:
        write_graph(folder, vectors)


def has_vectors(files: Collection[str]) -> bool:
    """Whether a segment with these files has vectors."""
    return VECTORS in files or HIGH in files


def _faiss() -> Any:
    """The library, imported lazily; its type stubs are incomplete."""
    return import_optional("faiss")


def _near(scores: Vector, k: int, error: float) -> Rows:
    """Every row that may be among the k best where scores may be wrong by so much."""
    best = best_rows(scores, k)
    if not len(best):
        return best
    return np.flatnonzero(scores >= scores[best].min() - 2 * error)


class Vectors:
    """The vectors of one segment."""

    def __init__(self, folder: Path) -> None:
        self._planes = Planes(folder) if (folder / HIGH).exists() else None
        self._graph: Graph | None = None
        if self._planes is None:
            vectors = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
            self._vectors: DenseMatrix = vectors
            self._size, self.dimension = vectors.shape
        else:
            self._size, self.dimension = self._planes.high.shape
            if (folder / LINKS).exists() and compiled.library() is not None:
                self._graph = Graph(folder, self._planes)

    @property
    def approximate(self) -> bool:
        """Whether a graph proposes candidates."""
        return self._graph is not None

    def row(self, at: int) -> Vector:
        """One vector."""
        vector: Vector = self._rows(np.array([at]))[0]
        return vector

    def _rows(self, at: Rows) -> DenseMatrix:
        return np.asarray(self._vectors[at]) if self._planes is None else self._planes.rows(at)

    def nearest(
        self, query: Vector, k: int, allowed: BoolArray | None = None
    ) -> tuple[Rows, Vector]:
        """The k nearest of the allowed rows, and their cosines.

        Exact without a graph, and where few rows are allowed, since that is also faster.
        """
        if self._graph is None or self._planes is None or self._few(allowed):
            return self.exact(query, k, allowed)
        effort = min(self._size, max(LEAST_EFFORT, int(EFFORT_PER_RESULT * k)))
        return self._best_of(self._graph.near(self._planes.asked(query), effort, allowed), query, k)

    def nearest_many(
        self, queries: DenseMatrix, k: int, allowed: BoolArray | None = None
    ) -> list[tuple[Rows, Vector]]:
        """``nearest`` for each query, to the last bit.

        Where all rows are looked at, one product of two matrices proposes those of all queries.
        """
        if len(queries) < MANY or self._graph is not None or self._few(allowed) or not self._size:
            return [self.nearest(query, k, allowed) for query in queries]
        if self._planes is None:
            products = np.asarray(queries @ self._vectors.T)
            errors = 4 * ROUNDING * np.linalg.norm(queries, axis=1)
        else:
            asked = [self._planes.asked(query) for query in queries]
            products = self._planes.estimates_many(asked)
            errors = np.array([one.error for one in asked])
        if allowed is not None:
            products[:, ~allowed] = -np.inf
        return [
            self._best_of(_near(mine, k, float(error)), query, k)
            for mine, error, query in zip(products, errors, queries, strict=True)
        ]

    def exact(self, query: Vector, k: int, allowed: BoolArray | None = None) -> tuple[Rows, Vector]:
        """The same, by looking at every allowed row."""
        if self._planes is not None:
            return self._best_of(self._possible(self._planes, query, k, allowed), query, k)
        if allowed is not None and FEW * np.count_nonzero(allowed) < len(allowed):
            return self._best_of(np.flatnonzero(allowed), query, k)
        products = self._products(self._vectors, query)
        if allowed is not None:
            products[~allowed] = -np.inf
        rows = best_rows(products, k)
        return rows, products[rows]

    def _possible(self, planes: Planes, query: Vector, k: int, allowed: BoolArray | None) -> Rows:
        """Every row that may be among the k nearest, judged by high bytes.

        A row is among the k nearest only if its estimate is no further below the k-th score of
        any k rows than the error of an estimate.
        """
        asked = planes.asked(query)
        estimates = planes.estimates(asked, allowed)
        best = best_rows(estimates, k)
        if len(best) < k:
            return best
        scores = self._products_of(best, query)
        kth = np.partition(scores, len(scores) - k)[len(scores) - k]
        return np.flatnonzero(estimates >= kth - asked.error)

    def _few(self, allowed: BoolArray | None) -> bool:
        if allowed is None:
            return False
        return int(np.count_nonzero(allowed)) ** 2 <= EXACT_BELOW * len(allowed)

    def _best_of(self, rows: Rows, query: Vector, k: int) -> tuple[Rows, Vector]:
        products = self._products_of(rows, query)
        best = best_rows(products, k)
        return rows[best], products[best]

    def _products_of(self, rows: Rows, query: Vector) -> Vector:
        return self._products(self._rows(rows), query)

    def _products(self, vectors: DenseMatrix, query: Vector) -> Vector:
        """One product per row; with BLAS, the order of summation would depend on the threads."""
        faiss = _faiss()
        products = np.empty(len(vectors), dtype=np.float32)
        if len(products):
            faiss.fvec_inner_products_ny(
                faiss.swig_ptr(products),
                faiss.swig_ptr(query),
                faiss.swig_ptr(vectors),
                self.dimension,
                len(products),
            )
        return products
