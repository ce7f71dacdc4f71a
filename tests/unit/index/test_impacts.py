"""Are packed postings scored as the vectors that they were made of, but for rounding?"""

from pathlib import Path

import numpy as np
import pytest

from assay import compiled
from assay.errors import CorruptError
from assay.index import impacts
from assay.index.sparse import Postings, open_terms, write_sparse
from assay.index.top import best_rows
from assay.model.vectors import SparseVector

pytestmark = pytest.mark.usefixtures("loops")

VOCABULARY = 400
ROWS = 3_000


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks, with frequent and rare terms in each."""
    monkeypatch.setattr(impacts, "BLOCK_ROWS", 1_300)


def vectors_of(rng: np.random.Generator, weights: int | None = None) -> list[SparseVector]:
    """Terms of all frequencies; ``weights`` is how many different ones there are."""
    shares = np.geomspace(0.9, 0.0003, VOCABULARY)
    found = []
    for _ in range(ROWS):
        terms = np.flatnonzero(rng.random(VOCABULARY) < shares).astype(np.int32)
        drawn = rng.gamma(1.5, 0.45, len(terms)) + 0.02
        if weights is not None:
            drawn = rng.integers(1, weights + 1, len(terms)) / 16
        found.append(SparseVector(terms, drawn.astype(np.float32)))
    return found


def query(rng: np.random.Generator, size: int) -> SparseVector:
    terms = np.sort(rng.choice(VOCABULARY, size, replace=False)).astype(np.int32)
    return SparseVector(terms, rng.random(size).astype(np.float32) + np.float32(0.01))


def test_few_different_weights_are_kept_exactly(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    vectors = vectors_of(rng, weights=40)
    for name, large in (("plain", False), ("packed", True)):
        (tmp_path / name).mkdir()
        write_sparse(tmp_path / name, vectors, VOCABULARY, large=large)
    plain, packed = (open_terms(tmp_path / name, ROWS) for name in ("plain", "packed"))
    assert isinstance(plain, Postings)
    assert isinstance(packed, impacts.Impacts)
    allowed = rng.random(ROWS) < 0.3
    for size in (0, 1, 7, 60, VOCABULARY):
        for mask in (None, allowed):
            asked = query(rng, size)
            rows, scores = plain.best(asked, 50, mask)
            found, values = packed.best(asked, 50, mask)
            assert np.array_equal(rows, found)
            np.testing.assert_allclose(values, scores, rtol=1e-6)
    for row in (0, 1_299, 1_300, 2_999):
        for term in range(0, VOCABULARY, 7):
            assert packed.weight(term, row) == plain.weight(term, row)


def test_many_different_weights_are_rounded_a_little(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    vectors = vectors_of(rng)
    write_sparse(tmp_path, vectors, VOCABULARY, large=True)
    packed = impacts.Impacts(tmp_path, ROWS)
    weights = np.concatenate([vector.weights for vector in vectors])
    kept = np.array([
        packed.weight(term, row)
        for row, vector in enumerate(vectors[:200])
        for term in vector.terms.tolist()
    ])  # fmt: skip
    errors = kept - weights[: len(kept)]
    assert np.abs(errors).max() < 0.03
    assert np.sqrt((errors**2).mean()) < 0.003
    assert abs(errors.mean()) < 0.0005
    table = np.zeros((ROWS, VOCABULARY), dtype=np.float32)
    for row, vector in enumerate(vectors):
        table[row, vector.terms] = vector.weights
    asked = query(rng, 60)
    scores = table[:, asked.terms] @ asked.weights
    rows, values = packed.best(asked, 100, None)
    np.testing.assert_allclose(values, scores[rows], atol=0.1)
    assert len(np.intersect1d(rows, best_rows(scores, 100))) >= 95


def test_a_segment_without_terms_has_no_best(tmp_path: Path) -> None:
    empty = SparseVector(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32))
    write_sparse(tmp_path, [empty] * 5, VOCABULARY, large=True)
    rows, _ = impacts.Impacts(tmp_path, 5).best(query(np.random.default_rng(0), 3), 10, None)
    assert not len(rows)


def test_more_ties_than_there_is_room_for_all_come(tmp_path: Path) -> None:
    same = SparseVector(np.array([3], dtype=np.int32), np.array([0.5], dtype=np.float32))
    write_sparse(tmp_path, [same] * ROWS, VOCABULARY, large=True)
    asked = SparseVector(np.array([3], dtype=np.int32), np.array([2.0], dtype=np.float32))
    rows, scores = impacts.Impacts(tmp_path, ROWS).best(asked, 10, None)
    assert len(rows) == ROWS
    assert set(scores.tolist()) == {1.0}


@pytest.mark.parametrize("damage", ["pairs", "rare_rows", "starts"])
def test_what_is_outside_is_not_written_to(damage: str, tmp_path: Path) -> None:
    if compiled.library() is None:
        pytest.skip("arrays refuse it in their own way")
    write_sparse(tmp_path, vectors_of(np.random.default_rng(2)), VOCABULARY, large=True)
    path = tmp_path / f"impacts-0.{damage}.npy"
    numbers = np.load(path)
    numbers[...] = np.iinfo(numbers.dtype).max
    np.save(path, numbers)
    terms = np.arange(VOCABULARY, dtype=np.int32)
    asked = SparseVector(terms, np.ones(VOCABULARY, dtype=np.float32))
    with pytest.raises(CorruptError, match="assay index rebuild"):
        impacts.Impacts(tmp_path, ROWS).best(asked, 10, None)


@pytest.mark.parametrize("term", [-1, VOCABULARY])
def test_a_term_beyond_the_vocabulary_is_refused(term: int, tmp_path: Path) -> None:
    if compiled.library() is None:
        pytest.skip("encoders are checked before")
    write_sparse(tmp_path, vectors_of(np.random.default_rng(2)), VOCABULARY, large=True)
    asked = SparseVector(np.array([term], dtype=np.int32), np.ones(1, dtype=np.float32))
    with pytest.raises(CorruptError):
        impacts.Impacts(tmp_path, ROWS).best(asked, 10, None)
