"""How well does a passage answer a query, read together?

A cross-encoder reads query and passage as one text. It costs about a hundred times as much as
comparing two vectors, so it runs on the best few candidates only. If both do not fit, the longer
one is truncated, which is nearly always the passage.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from assay import limits
from assay.encode.parallel import run_each
from assay.encode.runtime import OnCpu
from assay.errors import FormatError, LimitError

BATCH = 32


class OnnxReranker(OnCpu):
    """A cross-encoder on the CPU; a score depends on its pair alone."""

    def score(
        self, query: str, passages: list[str], *, stop: Callable[[], bool] | None = None
    ) -> NDArray[np.float32]:
        """One score per passage, in order; higher is better.

        ``stop`` is called before every pair. Once it returns true, ``TimeoutError`` is raised, so
        that work nobody is waiting for does not pile up.
        """
        if len(passages) > limits.MAX_RERANK_PASSAGES:
            raise LimitError(
                f"{len(passages)} passages to rerank, and {limits.MAX_RERANK_PASSAGES} are allowed"
            )

        def one(passage: str) -> float:
            if stop is not None and stop():
                raise TimeoutError("reranking was stopped")
            return self._pair(query, passage)

        scores: list[float] = []
        for at in range(0, len(passages), BATCH):
            scores += run_each(one, passages[at : at + BATCH], self._threads, len)
        return np.array(scores, np.float32)

    def _pair(self, query: str, passage: str) -> float:
        running = self._running
        answer = running.session.run(running.tokenizer.pair(query, passage))
        if answer.size != 1:
            raise FormatError(f"{running.card.name} gives {answer.size} scores to one pair")
        return float(answer.reshape(-1)[0])
