"""Are postings scored exactly as the vectors that they were made of?"""

from pathlib import Path

import numpy as np
import pytest

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


def test_without_the_quick_ways_the_scores_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    write_sparse(tmp_path, [vector(rng, 9) for _ in range(300)], VOCABULARY)
    postings, query = Postings(tmp_path, 300), vector(rng, 20)
    quick = postings.scores(query)
    assert quick.any()
    without_compiled(monkeypatch)
    np.testing.assert_allclose(postings.scores(query), quick, rtol=1e-6)
    monkeypatch.setattr(sparse, "_column_adder", lambda: None)
    np.testing.assert_allclose(postings.scores(query), quick, rtol=1e-6)
