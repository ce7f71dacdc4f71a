"""Are these the vectors that an encoder promised?

Vectors come from models, which may be anybody's. They are checked before they are stored or
compared: a NaN would silently make every ranking wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.model.vectors import DenseMatrix, SparseVector


def checked_matrix(vectors: DenseMatrix, rows: int, model: str) -> DenseMatrix:
    """The vectors, if they are valid vectors for this number of texts."""
    if vectors.ndim != 2 or len(vectors) != rows or not vectors.shape[1]:
        raise _wrong(model, f"an array of shape {vectors.shape} for {rows} texts")
    _check_lengths(np.linalg.norm(vectors, axis=1), model)
    return vectors


def checked_query(vector: NDArray[np.float32], dimension: int, model: str) -> NDArray[np.float32]:
    """The vector of a query, if it can be compared with vectors of this dimension."""
    if vector.shape != (dimension,):
        raise _wrong(model, f"a query of shape {vector.shape}, and the index has {dimension}")
    _check_lengths(np.linalg.norm(vector[None, :], axis=1), model)
    return np.ascontiguousarray(vector, dtype=np.float32)


def checked_sparse(
    vectors: Sequence[SparseVector], rows: int, vocabulary: int, model: str
) -> Sequence[SparseVector]:
    """The sparse vectors, if they are valid for this number of texts and this vocabulary."""
    if len(vectors) != rows:
        raise _wrong(model, f"{len(vectors)} vectors for {rows} texts")
    for vector in vectors:
        terms, weights = vector.terms, vector.weights
        if terms.shape != weights.shape or terms.ndim != 1:
            raise _wrong(model, f"{terms.size} terms with {weights.size} weights")
        if len(terms) and (
            terms[0] < 0 or terms[-1] >= vocabulary or (terms[1:] <= terms[:-1]).any()
        ):
            raise _wrong(model, f"terms that do not ascend within a vocabulary of {vocabulary}")
        if not (np.isfinite(weights) & (weights > 0)).all():
            raise _wrong(model, "a weight that is not a positive number")
    return vectors


def _check_lengths(lengths: NDArray[np.floating], model: str) -> None:
    if not np.isfinite(lengths).all():
        raise _wrong(model, "a vector with NaN or infinite numbers")
    if not lengths.all():
        raise _wrong(model, "a vector of length zero")


def _wrong(model: str, what: str) -> InputError:
    return InputError(f"the model {model or '(unnamed)'} made {what}", hint="assay models check")
