"""Encoders whose answers can be told from the text, and that count their work."""

from __future__ import annotations

import hashlib

import numpy as np

from assay.model.vectors import DenseMatrix, Kind, SparseVector


class CountingDense:
    """A vector per text made from its hash."""

    def __init__(self, model_id: str = "fake:1:a") -> None:
        self.model_id = model_id
        self.dimension = 8
        self.seen: list[str] = []

    def encode(self, texts: list[str], kind: Kind) -> DenseMatrix:
        self.seen += texts
        rows = [hashlib.sha256(f"{kind}:{text}".encode()).digest() for text in texts]
        found = np.array([list(row[:8]) for row in rows], np.float32).reshape(-1, 8) + 1
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


class CountingSparse:
    """One term per character of the text."""

    def __init__(self, model_id: str = "fake:1:b") -> None:
        self.model_id = model_id
        self.vocabulary = 1000
        self.seen: list[str] = []

    def encode(self, texts: list[str], kind: Kind) -> list[SparseVector]:
        self.seen += texts
        found = []
        for text in texts:
            terms = np.unique(np.array([ord(each) for each in text], np.int32))
            found.append(SparseVector(terms, (terms / 7).astype(np.float32)))
        return found
