"""What encodes text without any model, for tests of everything around it?

Words are hashed into dimensions (the hashing trick). The vectors are real and deterministic, and
know nothing of meaning.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from dataclasses import dataclass

import numpy as np

from assay.model.answers import Usage
from assay.model.vectors import DenseEncoder, DenseMatrix, Kind, SparseEncoder, SparseVector

_WORD = re.compile(r"\w+")


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))


@dataclass(frozen=True, slots=True)
class GivenModels:
    """Encoders that a workspace finds where it would open models: its ``opened_models``."""

    dense_encoder: DenseEncoder
    sparse_encoder: SparseEncoder

    def usage(self) -> list[str]:
        """They ask nobody."""
        return []

    def spent(self) -> Usage:
        """They take nothing."""
        return Usage()

    def is_here(self, name: str) -> bool:
        """They stand for every model."""
        return True

    def dense(self, name: str | None) -> DenseEncoder | None:
        """The dense encoder, unless the settings want none."""
        return None if name is None else self.dense_encoder

    def sparse(self, name: str | None) -> SparseEncoder | None:
        """The sparse encoder, unless the settings want none."""
        return None if name is None else self.sparse_encoder


class HashingDense:
    """A dense encoder over hashed words."""

    model_id = "hashing-dense-64"
    dimension = 64

    def encode(self, texts: list[str], kind: Kind) -> DenseMatrix:
        """Unit vectors; a text without words points along the first axis."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for at, text in enumerate(texts):
            for word, count in _words(text).items():
                place = zlib.crc32(word.encode())
                rows[at, place % self.dimension] += count * (1.0 if place & 1024 else -1.0)
            if not rows[at].any():
                rows[at, 0] = 1.0
        unit: DenseMatrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


class HashingSparse:
    """A sparse encoder over hashed words."""

    model_id = "hashing-sparse-4096"
    vocabulary = 4096

    def terms(self) -> list[str]:
        """The vocabulary: the number of each hash."""
        return [f"#{number}" for number in range(self.vocabulary)]

    def encode(self, texts: list[str], kind: Kind) -> list[SparseVector]:
        """Logarithmic counts of hashed words."""
        vectors = []
        for text in texts:
            weights: dict[int, float] = {}
            for word, count in _words(text).items():
                term = zlib.crc32(word.encode()) % self.vocabulary
                weights[term] = weights.get(term, 0.0) + float(np.log1p(count))
            terms = np.array(sorted(weights), dtype=np.int32)
            values = np.array([weights[int(term)] for term in terms], dtype=np.float32)
            vectors.append(SparseVector(terms, values))
        return vectors
