"""Does the graph find what exact search finds, with and without filters?"""

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.index import dense
from assay.index.dense import Vectors, write_dense
from assay.model.vectors import DenseMatrix

ROWS = 4_000


@pytest.fixture(scope="module")
def matrix() -> DenseMatrix:
    vectors = np.random.default_rng(3).standard_normal((ROWS, 32)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@pytest.fixture(scope="module")
def graph(matrix: DenseMatrix, tmp_path_factory: pytest.TempPathFactory) -> Vectors:
    folder = tmp_path_factory.mktemp("graph")
    write_dense(folder, matrix, graph=True)
    return Vectors(folder)


def share_found(graph: Vectors, matrix: DenseMatrix, allowed: NDArray[np.bool_] | None) -> float:
    found = 0
    for query in matrix[:50]:
        exact, _ = graph.exact(query, 100, allowed)
        rows, scores = graph.nearest(query, 100, allowed)
        assert allowed is None or allowed[rows].all()
        np.testing.assert_allclose(scores, matrix[rows] @ query, atol=1e-5)
        found += len(np.intersect1d(exact, rows))
    return found / 5_000


def test_the_graph_finds_nearly_all(graph: Vectors, matrix: DenseMatrix) -> None:
    assert graph.approximate
    assert share_found(graph, matrix, None) > 0.95


@pytest.mark.parametrize("share", [0.9, 0.5, 0.25])
def test_a_filter_costs_no_recall(
    graph: Vectors, matrix: DenseMatrix, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "EXACT_BELOW", 0)  # the walk itself is what is looked at
    allowed = np.random.default_rng(1).random(ROWS) < share
    assert share_found(graph, matrix, allowed) > 0.95


def test_few_rows_are_searched_exactly(graph: Vectors, matrix: DenseMatrix) -> None:
    allowed = np.zeros(ROWS, dtype=bool)
    allowed[::100] = True
    assert share_found(graph, matrix, allowed) == 40 * 50 / 5_000
    nothing, _ = graph.nearest(matrix[0], 5, np.zeros(ROWS, dtype=bool))
    assert nothing.size == 0


def test_exact_search_is_what_sorting_gives(graph: Vectors, matrix: DenseMatrix) -> None:
    rows, _ = graph.exact(matrix[7], 10)
    order = np.argsort(-(matrix.astype(np.float64) @ matrix[7].astype(np.float64)))
    assert sorted(rows.tolist()) == sorted(order[:10].tolist())


def test_a_filter_changes_no_bit_of_a_score(graph: Vectors, matrix: DenseMatrix) -> None:
    """Otherwise the same chunk could rank differently with a filter that lets it through."""
    every = graph._products(matrix[0])
    assert np.array_equal(every, graph._products_of(np.arange(ROWS), matrix[0]))
