"""Does the graph find what exact search finds, with and without filters?"""

from pathlib import Path

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


@pytest.mark.slow
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


@pytest.mark.parametrize("kinds", [None, 300, 5])
def test_looking_at_bytes_first_changes_nothing(
    matrix: DenseMatrix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kinds: int | None
) -> None:
    """``kinds`` vectors over and over, so that many scores are equal."""
    monkeypatch.setattr(dense, "SCAN_FROM_ROWS", 1_000)
    vectors = matrix if kinds is None else matrix[np.arange(ROWS) % kinds]
    for name, scan in (("plain", False), ("scan", True)):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(dense, "SCAN_FROM_ROWS", 1_000 if scan else 1 << 40)
        write_dense(tmp_path / name, vectors, graph=False)
    plain, scan_first = Vectors(tmp_path / "plain"), Vectors(tmp_path / "scan")
    assert (tmp_path / "scan" / dense.SCAN).exists()
    assert not (tmp_path / "plain" / dense.SCAN).exists()
    for query in matrix[:20]:
        for k in (1, 10, 100, ROWS):
            rows, scores = plain.nearest(query, k)
            found, values = scan_first.nearest(query, k)
            assert np.array_equal(rows, found)
            assert np.array_equal(scores, values)


def test_the_errors_of_bytes_are_bounded(matrix: DenseMatrix, tmp_path: Path) -> None:
    big = np.tile(matrix, (6, 1))
    write_dense(tmp_path, big, graph=False)
    errors = np.load(tmp_path / dense.ERRORS)
    assert 0 < errors.max() < 0.01


def test_a_search_leaves_the_threads_of_the_caller_alone(
    graph: Vectors, matrix: DenseMatrix
) -> None:
    import faiss

    before = faiss.omp_get_max_threads()
    try:
        faiss.omp_set_num_threads(3)
        graph.nearest(matrix[0], 10)
        graph.exact(matrix[0], 10)
        assert faiss.omp_get_max_threads() == 3
    finally:
        faiss.omp_set_num_threads(before)
