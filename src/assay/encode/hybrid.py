"""How does one model give both signals of a text?

A passage takes one pass, which gives its vector and its terms (``one_pass.py``). A query needs the
model for its vector alone: its terms are its own word pieces with learned weights. Passages and
queries have sessions of their own, opened when the first comes: a process that only searches never
loads what passages need. An ingest opens that of queries too, so that how they run fastest
(``machine.py``) is measured before the first search.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.encode import machine, one_pass
from assay.encode.cards import ModelCard
from assay.encode.machine import Way
from assay.encode.parallel import run_each, thread_count
from assay.encode.runtime import ModelSession, token_limit
from assay.encode.shelf import FoundModel, load
from assay.encode.tensors import Arrays, read_arrays
from assay.encode.tokens import TextTokenizer
from assay.errors import FormatError, UsageError
from assay.model.vectors import BothVectors, DenseMatrix, Kind, SparseVector

TOKENIZER = "tokenizer.json"
MANY_TEXTS = 32
"""Passages in one call that show that a corpus is being encoded."""
_TYPICAL = "Does low-dose aspirin lower the risk of a second heart attack in older adults?"


class Hybrid:
    """One model for both signals; threads may share it. ``dense`` and ``sparse`` are its faces."""

    def __init__(
        self,
        found: FoundModel,
        *,
        threads: int = 0,
        max_tokens: int | None = None,
        kept: Path | None = None,
    ) -> None:
        """Load and check it; ``kept`` is where the workspace keeps how it runs best."""
        card = found.card
        if card.role != "hybrid" or card.runtime != "one_pass":
            raise UsageError(f"{card.name} is a {card.role} model, and a hybrid one is needed here")
        loaded = load(found, (card.weights, TOKENIZER))
        self._source = str(found.folder / card.weights)
        self._arrays: Arrays = read_arrays(loaded.contents[card.weights], self._source)
        sizes = one_pass.sizes(self._arrays, self._source)
        if (sizes.width, sizes.vocabulary) != (card.dimension, card.vocabulary):
            raise FormatError(
                f"it has {sizes.width} dimensions and {sizes.vocabulary} terms, not "
                f"{card.dimension} and {card.vocabulary}",
                source=self._source,
            )
        tokens = min(token_limit(card, max_tokens), sizes.places)
        self.tokenizer = TextTokenizer(
            loaded.contents[TOKENIZER], tokens, str(found.folder / TOKENIZER)
        )
        self.card: ModelCard = card
        self.model_id = loaded.identity(tokens)
        self.dimension, self.vocabulary = sizes.width, sizes.vocabulary
        self._threads, self._kept = thread_count(threads), kept
        self._asked = np.maximum(self._arrays[one_pass.ASKED].astype(np.float32), 0)
        self._asked[: one_pass.SPECIAL] = 0
        self._opening = threading.Lock()
        self.dense, self.sparse = HybridDense(self), HybridSparse(self)

    def encode_both(self, texts: list[str]) -> list[BothVectors]:
        """The vectors of passages, in order, one pass each."""
        session, prefix = self._passages, self.card.passage_prefix
        found = run_each(lambda text: self._both(session, prefix + text), texts, self._threads, len)
        if self._kept is not None and len(texts) >= MANY_TEXTS:
            _ = self._queries  # an ingest takes its time, the first search should not
        return found

    def query_vectors(self, texts: list[str]) -> DenseMatrix:
        """The dense vectors of queries, in order."""
        session, prefix = self._queries, self.card.query_prefix

        def one(text: str) -> NDArray[np.float32]:
            return session.results(self.tokenizer.text(prefix + text))[one_pass.DENSE]

        rows = run_each(one, texts, self._threads, len)
        return np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)

    def query_terms(self, texts: list[str]) -> list[SparseVector]:
        """The terms of queries with their learned weights, in order; no model runs."""
        return [self._own_terms(text) for text in texts]

    def _both(self, session: ModelSession, text: str) -> BothVectors:
        found = session.results(self.tokenizer.text(text))
        return BothVectors(found[one_pass.DENSE], _sparse(found))

    def _own_terms(self, text: str) -> SparseVector:
        # not np.unique, whose first call imports masked arrays: a tenth of a second of a command
        ids = np.array(sorted({*self.tokenizer.text(text).ids}), dtype=np.int64)
        if len(ids) and ids[-1] >= self.vocabulary:
            raise FormatError(
                f"{self.card.name}: the tokenizer knows more than {self.vocabulary} terms"
            )
        terms = ids[self._asked[ids] > 0]
        return SparseVector(terms.astype(np.int32), self._asked[terms])

    @property
    def _passages(self) -> ModelSession:
        with self._opening:
            return self._passage_session

    @property
    def _queries(self) -> ModelSession:
        with self._opening:
            return self._query_session

    @cached_property
    def _passage_session(self) -> ModelSession:
        return self._session(Way(), sparse=True)

    @cached_property
    def _query_session(self) -> ModelSession:
        opened: dict[Way, ModelSession] = {}
        row = self.tokenizer.text(_TYPICAL)

        def runner(way: Way) -> Callable[[], object]:
            session = opened[way] = self._session(way, sparse=False)
            return lambda: session.results(row)

        way = machine.chosen(self._kept, self.model_id, self._threads, runner)
        return opened.get(way) or self._session(way, sparse=False)

    def _session(self, way: Way, *, sparse: bool) -> ModelSession:
        model = one_pass.build(self._arrays, self.card.layers, self._source, sparse=sparse)
        return ModelSession(model, self._source, threads=way.threads)


def _sparse(found: Mapping[str, NDArray[np.float32]]) -> SparseVector:
    """The terms that have a weight, in ascending order."""
    weights = found[one_pass.WEIGHTS]
    terms = found[one_pass.TERM_IDS].astype(np.int32)
    order = np.argsort(terms)
    order = order[weights[order] > 0]
    return SparseVector(terms[order], weights[order])


@dataclass(frozen=True, slots=True)
class HybridDense:
    """The dense face of a hybrid model."""

    whole: Hybrid

    @property
    def model_id(self) -> str:
        """Identifies the weights and everything else that affects a vector."""
        return self.whole.model_id

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self.whole.dimension

    def encode(self, texts: list[str], kind: Kind) -> DenseMatrix:
        """One row per text, in order."""
        if kind == "query":
            return self.whole.query_vectors(texts)
        rows = [both.dense for both in self.whole.encode_both(texts)]
        return np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)


@dataclass(frozen=True, slots=True)
class HybridSparse:
    """The sparse face of a hybrid model."""

    whole: Hybrid

    @property
    def model_id(self) -> str:
        """Identifies the weights and everything else that affects a vector."""
        return self.whole.model_id

    @property
    def vocabulary(self) -> int:
        """The number of terms."""
        return self.whole.vocabulary

    def terms(self) -> list[str]:
        """The vocabulary, for showing vectors."""
        return self.whole.tokenizer.terms()

    def encode(self, texts: list[str], kind: Kind) -> list[SparseVector]:
        """One vector per text, in order."""
        if kind == "query":
            return self.whole.query_terms(texts)
        return [both.sparse for both in self.whole.encode_both(texts)]
