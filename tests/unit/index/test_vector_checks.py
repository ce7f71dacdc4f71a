"""Are vectors that no ranking can be made of refused, with the model named?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.errors import InputError
from assay.index.vector_checks import checked_matrix, checked_query, checked_sparse
from assay.model.vectors import SparseVector


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones((1, 3), np.float32), r"model m made an array of shape \(1, 3\) for 2 texts"),
        (np.ones(2, np.float32), "shape"),
        (np.ones((2, 0), np.float32), "shape"),
        (np.array([[1, 0], [np.nan, 1]], np.float32), "NaN or infinite"),
        (np.array([[1, 0], [np.inf, 1]], np.float32), "infinite"),
        (np.array([[1, 0], [0, 0]], np.float32), "length zero"),
    ],
)
def test_matrices(vectors: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked_matrix(vectors, 2, "m")


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        ([1.0, 0.0], "the index has 3"),
        ([1.0, 0.0, 0.0, 0.0], "the index has 3"),
        ([np.nan, 0.0, 0.0], "NaN"),
        ([0.0, 0.0, 0.0], "length zero"),
    ],
)
def test_queries(vector: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked_query(np.array(vector, np.float32), 3, "m")


@pytest.mark.parametrize(
    ("terms", "weights", "message"),
    [
        ([1, 2], [1.0], "2 terms with 1 weights"),
        ([2, 1], [1.0, 1.0], "do not ascend"),
        ([1, 1], [1.0, 1.0], "do not ascend"),
        ([-1], [1.0], "vocabulary of 9"),
        ([9], [1.0], "vocabulary of 9"),
        ([1], [np.nan], "not a positive number"),
        ([1], [0.0], "not a positive number"),
        ([1], [-2.0], "not a positive number"),
    ],
)
def test_weights(terms: list[int], weights: list[float], message: str) -> None:
    vector = SparseVector(np.array(terms, np.int32), np.array(weights, np.float32))
    with pytest.raises(InputError, match=message):
        checked_sparse([vector], 1, 9, "m")
    with pytest.raises(InputError, match="0 vectors for 1 texts"):
        checked_sparse([], 1, 9, "m")


def test_what_is_sound_passes_unchanged() -> None:
    empty = SparseVector(np.zeros(0, np.int32), np.zeros(0, np.float32))
    assert checked_sparse([empty], 1, 9, "m") == [empty]
    vectors = np.eye(2, dtype=np.float32)
    assert checked_matrix(vectors, 2, "m") is vectors


def test_unsigned_terms_do_not_wrap() -> None:
    terms: Any = np.array([5, 1_000_000, 6], dtype=np.uint32)
    with pytest.raises(InputError, match="do not ascend"):
        checked_sparse([SparseVector(terms, np.ones(3, np.float32))], 1, 10, "m")
