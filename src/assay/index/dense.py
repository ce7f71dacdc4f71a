"""Which chunks are closest in meaning to the query?

Vectors have unit length, so the inner product is the cosine. A segment is searched exactly unless
it has an HNSW graph (Malkov and Yashunin, 2018): the graph proposes candidates by vectors quantised
to one byte per number, whose scores are then computed from the full vectors, and the index card
reports the share of the true best 100 that it finds.

Exact search in a large segment also scans quantised vectors first. The error of such a score is
bounded, so every row that may be among the best is then scored in full: the result is the same, in
less than half of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.extras import import_optional
from assay.index.top import best_rows
from assay.model.arrays import BoolArray
from assay.model.vectors import DenseMatrix

VECTORS = "dense.npy"
GRAPH = "dense.hnsw"
SCAN, ERRORS = "dense.sq8", "dense_errors.npy"
SCAN_FROM_ROWS = 20_000
BLOCK = 8_192
ROUNDING = 1e-5  # rounding error of inner products of unit vectors in single precision
GRAPH_LINKS, BUILD_EFFORT = 32, 100
LEAST_EFFORT, EFFORT_PER_RESULT = 130, 1.3  # measured: see design/007
MANY = 4  # queries from which on one product of matrices is faster than a search for each
MORE = 4  # times as many rows are proposed as requested
# A filter that lets a share s through makes a walk 1/s times as long, and an exact search s times
# as short: below this many rows, times all rows over rows that pass, exact is the faster one.
EXACT_BELOW = 3_000

Vector: TypeAlias = NDArray[np.float32]
Rows: TypeAlias = NDArray[np.int64]


def write_dense(folder: Path, vectors: DenseMatrix, *, graph: bool) -> None:
    """Write the vectors of a segment, and a graph over them if requested."""
    vectors = np.ascontiguousarray(vectors, dtype=np.float32)
    np.save(folder / VECTORS, vectors, allow_pickle=False)
    faiss = _faiss()
    if graph:
        links = faiss.IndexHNSWSQ(
            vectors.shape[1],
            faiss.ScalarQuantizer.QT_8bit,
            GRAPH_LINKS,
            faiss.METRIC_INNER_PRODUCT,
        )
        links.hnsw.efConstruction = BUILD_EFFORT
        links.train(vectors)
        links.add(vectors)
        faiss.write_index(links, str(folder / GRAPH))
    elif len(vectors) >= SCAN_FROM_ROWS:
        scan = faiss.IndexScalarQuantizer(
            vectors.shape[1], faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
        )
        scan.train(vectors)
        scan.add(vectors)
        faiss.write_index(scan, str(folder / SCAN))
        np.save(folder / ERRORS, _largest_errors(scan, vectors), allow_pickle=False)


def _largest_errors(scan: Any, vectors: DenseMatrix) -> Vector:
    """The largest quantisation error of each dimension."""
    worst = np.zeros(vectors.shape[1], dtype=np.float32)
    for start in range(0, len(vectors), BLOCK):
        part = vectors[start : start + BLOCK]
        said = scan.reconstruct_n(start, len(part))
        np.maximum(worst, np.abs(said - part).max(axis=0), out=worst)
    return worst


def _faiss() -> Any:
    """The library, imported lazily; its type stubs are incomplete."""
    return import_optional("faiss")


@contextmanager
def _one_thread() -> Iterator[None]:
    """Use one thread per query; others would only spin and slow down the other components.

    The setting applies to the calling thread alone.
    """
    faiss = _faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _near(scores: Vector, k: int, error: float) -> Rows:
    """Every row that may be among the k best where scores may be wrong by so much."""
    best = best_rows(scores, k)
    if not len(best):
        return best
    return np.flatnonzero(scores >= scores[best].min() - 2 * error)


class Vectors:
    """The vectors of one segment."""

    def __init__(self, folder: Path) -> None:
        self._vectors: DenseMatrix = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
        self._graph: Any = None
        if (folder / GRAPH).exists():
            self._graph = _faiss().read_index(str(folder / GRAPH))
        self._scan: Any = None
        if (folder / SCAN).exists():
            self._scan = _faiss().read_index(str(folder / SCAN))
            self._errors: Vector = np.load(folder / ERRORS, allow_pickle=False)

    @property
    def approximate(self) -> bool:
        """Whether a graph proposes candidates."""
        return self._graph is not None

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return int(self._vectors.shape[1])

    def row(self, at: int) -> Vector:
        """One vector."""
        return np.array(self._vectors[at])

    def nearest(
        self, query: Vector, k: int, allowed: BoolArray | None = None
    ) -> tuple[Rows, Vector]:
        """The k nearest of the allowed rows, and their cosines.

        Exact without a graph, and where few rows are allowed, since that is also faster.
        """
        if self._graph is None or (allowed is not None and self._few(allowed)):
            return self.exact(query, k, allowed)
        return self._best_of(self._proposed(query, k, allowed), query, k)

    def nearest_many(
        self, queries: DenseMatrix, k: int, allowed: BoolArray | None = None
    ) -> list[tuple[Rows, Vector]]:
        """``nearest`` for each query, to the last bit.

        Where all rows are looked at, one product of two matrices proposes those of all queries.
        """
        few = allowed is not None and self._few(allowed)
        if len(queries) < MANY or self._graph is not None or few or not len(self._vectors):
            return [self.nearest(query, k, allowed) for query in queries]
        products = np.asarray(queries @ self._vectors.T)
        if allowed is not None:
            products[:, ~allowed] = -np.inf
        errors = 4 * ROUNDING * np.linalg.norm(queries, axis=1)
        return [
            self._best_of(_near(mine, k, float(error)), query, k)
            for mine, error, query in zip(products, errors, queries, strict=True)
        ]

    def exact(self, query: Vector, k: int, allowed: BoolArray | None = None) -> tuple[Rows, Vector]:
        """The same, by scoring every allowed row."""
        if allowed is not None:
            return self._best_of(np.flatnonzero(allowed), query, k)
        if self._scan is not None and MORE * MORE * k < len(self._vectors):
            return self._best_of(self._possible(query, k), query, k)
        products = self._products(query)
        rows = best_rows(products, k)
        return rows, products[rows]

    def _possible(self, query: Vector, k: int) -> Rows:
        """Every row that may be among the k nearest, judged by quantised vectors.

        With an error of e at most, the k-th largest of these scores is at most e above the k-th
        true one, and a row that is among the true best is at most e below its true score.
        """
        error = float(np.abs(query) @ self._errors) + ROUNDING
        wanted = k
        while wanted < len(self._vectors):
            wanted = min(MORE * wanted, len(self._vectors))
            with _one_thread():
                scores, rows = self._scan.search(query[None, :], wanted)
            if scores[0, -1] < scores[0, k - 1] - 2 * error:
                break
        return np.sort(rows[0].astype(np.int64))

    def _few(self, allowed: BoolArray) -> bool:
        return int(np.count_nonzero(allowed)) ** 2 <= EXACT_BELOW * len(allowed)

    def _best_of(self, rows: Rows, query: Vector, k: int) -> tuple[Rows, Vector]:
        products = self._products_of(rows, query)
        best = best_rows(products, k)
        return rows[best], products[best]

    def _proposed(self, query: Vector, k: int, allowed: BoolArray | None) -> Rows:
        faiss = _faiss()
        effort = max(LEAST_EFFORT, int(EFFORT_PER_RESULT * k))
        wanted, selector = effort, None
        if allowed is not None:
            selector = faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
            effort = effort * len(allowed) // max(1, int(np.count_nonzero(allowed)))
        parameters = faiss.SearchParametersHNSW(efSearch=effort, sel=selector)
        with _one_thread():
            _, found = self._graph.search(query[None, :], wanted, params=parameters)
        return np.sort(found[0][found[0] >= 0].astype(np.int64))

    def _products(self, query: Vector) -> Vector:
        """One product per row; with BLAS, the order of summation would depend on the threads."""
        faiss = _faiss()
        products = np.empty(len(self._vectors), dtype=np.float32)
        if len(products):
            faiss.fvec_inner_products_ny(
                faiss.swig_ptr(products),
                faiss.swig_ptr(query),
                faiss.swig_ptr(self._vectors),
                self._vectors.shape[1],
                len(products),
            )
        return products

    def _products_of(self, rows: Rows, query: Vector) -> Vector:
        """The same products, for some rows."""
        faiss = _faiss()
        products = np.empty(len(rows), dtype=np.float32)
        if len(rows):
            with _one_thread():
                faiss.fvec_inner_products_by_idx(
                    faiss.swig_ptr(products),
                    faiss.swig_ptr(query),
                    faiss.swig_ptr(self._vectors),
                    faiss.swig_ptr(rows),
                    self._vectors.shape[1],
                    1,
                    len(rows),
                )
        return products
