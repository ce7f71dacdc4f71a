"""Are postings scored exactly as the vectors that they were made of?"""

from pathlib import Path

import numpy as np

from assay.index.sparse import Postings, write_sparse
from assay.model.vectors import SparseVector

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


def test_opening_reads_no_postings_into_memory(tmp_path: Path) -> None:
    write_sparse(tmp_path, [vector(np.random.default_rng(1), 9)] * 30, VOCABULARY)
    columns = Postings(tmp_path, 30)._columns
    for array in (columns.indices, columns.data):  # views of a file that is mapped to be read
        assert not array.flags.owndata
        assert not array.flags.writeable
