"""What do models turn text into?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Kind: TypeAlias = Literal["query", "passage"]
DenseMatrix: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class SparseVector:
    """Weights of vocabulary terms: ``terms`` ascending and unique, ``weights`` positive."""

    terms: NDArray[np.int32]
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class BothVectors:
    """The dense vector and the weighted terms of one text, from one pass."""

    dense: NDArray[np.float32]
    sparse: SparseVector


class DenseEncoder(Protocol):
    """Text to unit-length vectors, one row each."""

    @property
    def model_id(self) -> str:
        """Names the weights and everything else that changes a vector."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def encode(self, texts: list[str], kind: Kind) -> DenseMatrix:
        """One row per text, in order."""


class SparseEncoder(Protocol):
    """Text to weights over a vocabulary."""

    @property
    def model_id(self) -> str:
        """Names the weights and everything else that changes a vector."""

    @property
    def vocabulary(self) -> int:
        """How many terms there are."""

    def encode(self, texts: list[str], kind: Kind) -> list[SparseVector]:
        """One vector per text, in order."""


def term_names(encoder: SparseEncoder) -> Sequence[str]:
    """The vocabulary by number; empty where a model cannot name it."""
    named: Callable[[], Sequence[str]] | None = getattr(encoder, "terms", None)
    return () if named is None else named()


class HybridEncoder(Protocol):
    """Passages to both signals at once.

    A dense and a sparse encoder that are two faces of one model have it as ``whole``.
    """

    @property
    def model_id(self) -> str:
        """Names the weights and everything else that changes a vector."""

    @property
    def dimension(self) -> int:
        """Length of a dense vector."""

    @property
    def vocabulary(self) -> int:
        """How many terms there are."""

    def encode_both(self, texts: list[str]) -> list[BothVectors]:
        """The vectors of every passage, in order."""


class SearchEncoder(HybridEncoder, Protocol):
    """Passages and queries to both signals."""

    def query_vectors(self, texts: list[str]) -> DenseMatrix:
        """The dense vectors of queries, in order."""

    def query_terms(self, texts: list[str]) -> list[SparseVector]:
        """The weighted terms of queries, in order."""


def whole_of(encoder: DenseEncoder | SparseEncoder | None) -> HybridEncoder | None:
    """The model behind an encoder that is one face of it."""
    whole: HybridEncoder | None = getattr(encoder, "whole", None)
    return whole


class Reranker(Protocol):
    """Scores pairs of query and passage; higher is better."""

    @property
    def model_id(self) -> str:
        """Names the weights and everything else that changes a score."""

    def score(
        self, query: str, passages: list[str], *, stop: Callable[[], bool] | None = None
    ) -> NDArray[np.float32]:
        """One score per passage, in order; ``TimeoutError`` once ``stop`` says yes."""


VERDICTS = ("supported", "contradicted", "not_enough")
"""What a passage may say of a statement, in the order of a model's probabilities."""


class Entailment(Protocol):
    """Says whether passages support statements."""

    @property
    def model_id(self) -> str:
        """Names the weights and everything else that changes a probability."""

    def judge(
        self,
        premises: list[str],
        hypotheses: list[str],
        *,
        stop: Callable[[], bool] | None = None,
    ) -> NDArray[np.float32]:
        """The probabilities of ``VERDICTS`` per pair; ``TimeoutError`` once ``stop`` says yes."""
