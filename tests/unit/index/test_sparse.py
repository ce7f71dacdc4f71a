"""Are postings scored exactly as the vectors that they were made of?"""

from pathlib import Path

import numpy as np
import pytest

from assay import compiled
from assay.errors import CorruptError
from assay.index import sparse
from assay.index.sparse import Postings, write_sparse
from assay.model.vectors import SparseVector
from tests.conftest import without_compiled

pytestmark = pytest.mark.usefixtures("loops")

VOCABULARY = 50


def vector(rng: np.random.Generator, size: int) -> SparseVector:
    terms = np.sort(rng.choice(VOCABULARY, size, replace=False)).astype(np.int32)
    return SparseVector(terms, rng.random(size, dtype=np.float32) + np.float32(0.01))


def test_scores_are_dot_products(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    vectors = [vector(rng, int(size)) for size in rng.integers(0, 20, size=400)]
    table = np.zeros((400, VOCABULARY))
    for row, each in enumerate(vectors):
        table[row, each.terms] = each.weights
    write_sparse(tmp_path, vectors, VOCABULARY)
    postings = Postings(tmp_path, 400)
    for size in (0, 1, 7, VOCABULARY):
        query = vector(rng, size)
        expected = table[:, query.terms] @ query.weights.astype(np.float64)
        np.testing.assert_allclose(postings.scores(query), expected, rtol=1e-5)


def test_a_segment_without_vectors_has_no_scores(tmp_path: Path) -> None:
    write_sparse(tmp_path, [], VOCABULARY)
    found = Postings(tmp_path, 0).scores(vector(np.random.default_rng(0), 3))
    assert found.shape == (0,)


def test_without_compiled_code_the_scores_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    write_sparse(tmp_path, [vector(rng, 9) for _ in range(300)], VOCABULARY)
    postings, query = Postings(tmp_path, 300), vector(rng, 20)
    quick = postings.scores(query)
    assert quick.any()
    without_compiled(monkeypatch)
    np.testing.assert_allclose(postings.scores(query), quick, rtol=1e-6)


def test_weights_of_any_width_are_stored_alike(tmp_path: Path) -> None:
    wide = SparseVector(np.array([1, 4], dtype=np.int64), np.array([0.5, 2.0]))
    write_sparse(tmp_path, [wide, wide], VOCABULARY)
    query = SparseVector(np.array([4], dtype=np.int64), np.array([3.0]))
    assert Postings(tmp_path, 2).scores(query).tolist() == [6.0, 6.0]


@pytest.mark.parametrize("damage", ["row", "negative row", "start", "term"])
def test_what_is_outside_is_not_written_to(damage: str, tmp_path: Path) -> None:
    """Compiled code looks at every number; scores of rows that are not there are nobody's."""
    if compiled.library() is None:
        pytest.skip("arrays refuse it in their own way")
    rng = np.random.default_rng(2)
    write_sparse(tmp_path, [vector(rng, 9) for _ in range(300)], VOCABULARY)
    name = sparse.STARTS if damage == "start" else sparse.ROWS
    numbers = np.load(tmp_path / name)
    if damage != "term":
        numbers[-1] = -5 if damage == "negative row" else 10**6
    np.save(tmp_path / name, numbers)
    terms = np.arange(VOCABULARY + (damage == "term"), dtype=np.int32)
    query = SparseVector(terms, np.ones(len(terms), dtype=np.float32))
    with pytest.raises(CorruptError, match="assay index rebuild"):
        Postings(tmp_path, 300).scores(query)
