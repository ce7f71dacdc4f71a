"""Is the search by bytes exact, and does the graph find nearly the same, with filters too?"""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from assay import compiled
from assay.errors import CorruptError
from assay.index import dense, quantised
from assay.index.dense import Vectors, write_dense
from assay.model.vectors import DenseMatrix
from tests.conftest import without_compiled

ROWS = 4_000


@pytest.fixture(scope="module")
def matrix() -> DenseMatrix:
    vectors = np.random.default_rng(3).standard_normal((ROWS, 32)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@pytest.fixture(scope="module")
def graph(matrix: DenseMatrix, tmp_path_factory: pytest.TempPathFactory) -> Vectors:
    if compiled.library() is None:
        pytest.skip("without compiled code every search is exact")
    folder = tmp_path_factory.mktemp("graph")
    write_dense(folder, matrix, large=True, graph=True)
    return Vectors(folder)


def share_found(graph: Vectors, matrix: DenseMatrix, allowed: NDArray[np.bool_] | None) -> float:
    found = 0
    for query in matrix[:50]:
        exact, _ = graph.exact(query, 100, allowed)
        rows, scores = graph.nearest(query, 100, allowed)
        assert allowed is None or allowed[rows].all()
        np.testing.assert_allclose(scores, matrix[rows] @ query, atol=3e-5)
        found += len(np.intersect1d(exact, rows))
    return found / 5_000


@pytest.mark.slow
def test_the_graph_finds_nearly_all(graph: Vectors, matrix: DenseMatrix) -> None:
    assert graph.approximate
    assert share_found(graph, matrix, None) > 0.95


@pytest.mark.parametrize("share", [0.9, 0.5, 0.25, 0.02])
def test_a_filter_costs_little_recall(
    graph: Vectors, matrix: DenseMatrix, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "EXACT_BELOW", 0)  # the walk itself is what is looked at
    allowed = np.random.default_rng(1).random(ROWS) < share
    most = min(1.0, np.count_nonzero(allowed) / 100)
    assert share_found(graph, matrix, allowed) > 0.9 * most


def test_few_rows_are_searched_exactly(graph: Vectors, matrix: DenseMatrix) -> None:
    allowed = np.zeros(ROWS, dtype=bool)
    allowed[::100] = True
    assert share_found(graph, matrix, allowed) == 40 * 50 / 5_000
    nothing, _ = graph.nearest(matrix[0], 5, np.zeros(ROWS, dtype=bool))
    assert nothing.size == 0


def test_a_walk_without_a_single_allowed_row_finds_nothing(
    graph: Vectors, matrix: DenseMatrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "EXACT_BELOW", -1)
    found, _ = graph.nearest(matrix[0], 5, np.zeros(ROWS, dtype=bool))
    assert found.size == 0


def test_exact_search_is_what_sorting_gives(graph: Vectors, matrix: DenseMatrix) -> None:
    rows, _ = graph.exact(matrix[7], 10)
    order = np.argsort(-(matrix.astype(np.float64) @ matrix[7].astype(np.float64)))
    assert sorted(rows.tolist()) == sorted(order[:10].tolist())


def test_a_filter_changes_no_bit_of_a_score(graph: Vectors, matrix: DenseMatrix) -> None:
    """Otherwise the same chunk could rank differently with a filter that lets it through."""
    rows, scores = graph.exact(matrix[0], ROWS)
    allowed = np.random.default_rng(1).random(ROWS) < 0.5
    some, those = graph.exact(matrix[0], ROWS, allowed)
    assert np.array_equal(scores[np.isin(rows, some)], those)


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("kinds", [None, 300, 5])
def test_looking_at_bytes_first_changes_nothing(
    matrix: DenseMatrix, tmp_path: Path, kinds: int | None
) -> None:
    """``kinds`` vectors over and over, so that many scores are equal."""
    vectors = matrix if kinds is None else matrix[np.arange(ROWS) % kinds]
    write_dense(tmp_path, vectors, large=True)
    stored = Vectors(tmp_path)
    (tmp_path / "plain").mkdir()
    write_dense(tmp_path / "plain", np.stack([stored.row(at) for at in range(ROWS)]), large=False)
    plain = Vectors(tmp_path / "plain")
    queries = matrix[:20]
    allowed = np.random.default_rng(1).random(ROWS) < 0.3
    for k in (1, 10, 100, ROWS):
        for mask in (None, allowed):
            every = stored.nearest_many(queries, k, mask)
            for query, (many, _) in zip(queries, every, strict=True):
                rows, scores = plain.nearest(query, k, mask)
                found, values = stored.nearest(query, k, mask)
                assert np.array_equal(rows, found)
                assert np.array_equal(rows, many)
                assert np.array_equal(scores, values)


@pytest.mark.usefixtures("loops")
def test_two_bytes_a_number_are_as_good_as_four(matrix: DenseMatrix, tmp_path: Path) -> None:
    constant = np.concatenate([matrix, np.full((ROWS, 1), 0.25, dtype=np.float32)], axis=1)
    write_dense(tmp_path, constant, large=True)
    stored = Vectors(tmp_path)
    assert np.abs(np.stack([stored.row(at) for at in range(ROWS)]) - constant).max() < 2e-5
    for query in constant[:20]:
        rows, scores = stored.nearest(query, 10)
        np.testing.assert_allclose(scores, constant[rows] @ query, atol=2e-5)


def test_estimates_are_within_their_bound(matrix: DenseMatrix, tmp_path: Path) -> None:
    write_dense(tmp_path, matrix, large=True)
    planes = quantised.Planes(tmp_path)
    for query in matrix[:20]:
        asked = planes.asked(query)
        errors = np.abs(planes.estimates(asked, None) - matrix @ query)
        assert 0 < errors.max() <= asked.error < 0.05


def test_without_compiled_code_a_graph_is_not_needed(
    matrix: DenseMatrix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dense(tmp_path, matrix, large=True, graph=True)
    without_compiled(monkeypatch)
    stored = Vectors(tmp_path)
    assert not stored.approximate
    rows, _ = stored.nearest(matrix[7], 10)
    assert sorted(rows.tolist()) == sorted(np.argsort(-(matrix @ matrix[7]))[:10].tolist())


@pytest.mark.parametrize("damage", ["link", "low", "links"])
def test_what_is_outside_is_not_read(matrix: DenseMatrix, tmp_path: Path, damage: str) -> None:
    if compiled.library() is None:
        pytest.skip("arrays refuse it in their own way")
    write_dense(tmp_path, matrix, large=True, graph=True)
    if damage == "low":
        path = tmp_path / quantised.LOW
        stored = Vectors(tmp_path)
        path.write_bytes(path.read_bytes()[:200])
    else:
        links = np.load(tmp_path / quantised.LINKS)
        links[:, 0] = ROWS
        np.save(tmp_path / quantised.LINKS, links if damage == "link" else links[1:])
    with pytest.raises(CorruptError, match="assay index rebuild"):
        (stored if damage == "low" else Vectors(tmp_path)).nearest(matrix[0], 10)
