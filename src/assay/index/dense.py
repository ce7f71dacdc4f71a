"""Which chunks mean what the query means?

Vectors of unit length, so that the inner product is the cosine. A segment is searched exactly
unless it has an HNSW graph: that proposes candidates, whose scores are then computed from the
vectors themselves, and the index card says which share of the true best 100 it finds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.model.arrays import BoolArray, FloatArray
from assay.model.vectors import DenseMatrix

VECTORS = "dense.npy"
GRAPH = "dense.hnsw"
GRAPH_LINKS, BUILD_EFFORT, SEARCH_EFFORT = 32, 200, 256
FEW_ROWS = 10_000  # a filter that lets no more through is searched exactly


def write_dense(folder: Path, vectors: DenseMatrix, *, graph: bool) -> None:
    """The vectors of a segment, and a graph over them where one is wanted."""
    np.save(folder / VECTORS, np.ascontiguousarray(vectors, dtype=np.float32), allow_pickle=False)
    if graph:
        faiss = _faiss()

        links = faiss.IndexHNSWFlat(vectors.shape[1], GRAPH_LINKS, faiss.METRIC_INNER_PRODUCT)
        links.hnsw.efConstruction = BUILD_EFFORT
        links.add(vectors)
        faiss.write_index(links, str(folder / GRAPH))


def _faiss() -> Any:
    """The library, imported where it is used; its stubs lack half of what it has."""
    import faiss

    return faiss


class Vectors:
    """The vectors of one segment."""

    def __init__(self, folder: Path) -> None:
        self._vectors: DenseMatrix = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
        self._graph: Any = None
        if (folder / GRAPH).exists():
            faiss = _faiss()

            self._graph = faiss.read_index(str(folder / GRAPH))

    @property
    def approximate(self) -> bool:
        """Whether a graph proposes candidates."""
        return self._graph is not None

    def row(self, at: int) -> NDArray[np.float32]:
        """One vector."""
        return np.array(self._vectors[at])

    def scores(self, query: NDArray[np.float32]) -> FloatArray:
        """The cosine with every row."""
        return _inner_products(self._vectors, query)

    def candidates(
        self, query: NDArray[np.float32], k: int, allowed: BoolArray | None
    ) -> tuple[NDArray[np.int64], FloatArray]:
        """Rows that may be among the k nearest, and their cosines.

        The graph proposes them, a filter restricting the walk itself; where few rows pass the
        filter all of them are looked at, which is faster and exact.
        """
        passing = None if allowed is None else np.flatnonzero(allowed)
        if passing is not None and len(passing) <= FEW_ROWS:
            rows = passing
        else:
            rows = self._proposed(query, 2 * k, passing)
        return rows, _inner_products(np.ascontiguousarray(self._vectors[rows]), query)

    def _proposed(
        self, query: NDArray[np.float32], k: int, passing: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        faiss = _faiss()
        selector = None if passing is None else faiss.IDSelectorBatch(passing)
        parameters = faiss.SearchParametersHNSW(efSearch=max(SEARCH_EFFORT, k), sel=selector)
        _, found = self._graph.search(query[None, :], k, params=parameters)
        return np.sort(found[0][found[0] >= 0].astype(np.int64))


def _inner_products(vectors: DenseMatrix, query: NDArray[np.float32]) -> FloatArray:
    """One product a row; BLAS would sum in another order with another number of threads."""
    faiss = _faiss()

    products = np.empty(len(vectors), dtype=np.float32)
    if len(vectors):
        faiss.fvec_inner_products_ny(
            faiss.swig_ptr(products),
            faiss.swig_ptr(query),
            faiss.swig_ptr(vectors),
            vectors.shape[1],
            len(vectors),
        )
    return products.astype(np.float64)
