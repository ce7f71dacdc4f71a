"""Does a passage support a statement, contradict it, or leave it open?

A cross-encoder reads statement and passage as one text and gives three numbers, which become
probabilities. If both do not fit, the longer one is truncated, which is nearly always the passage.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from assay.encode.parallel import run_each
from assay.encode.runtime import OnCpu
from assay.errors import FormatError, UsageError
from assay.model.vectors import VERDICTS


class OnnxEntailment(OnCpu):
    """A cross-encoder with three classes on the CPU; a row depends on its pair alone."""

    def judge(
        self,
        premises: list[str],
        hypotheses: list[str],
        *,
        stop: Callable[[], bool] | None = None,
    ) -> NDArray[np.float32]:
        """The probabilities of ``VERDICTS``, a row per pair, in order.

        ``stop`` is called before every pair. Once it returns true, ``TimeoutError`` is raised.
        """
        if len(premises) != len(hypotheses):
            raise UsageError(f"{len(premises)} premises and {len(hypotheses)} hypotheses")

        def one(pair: tuple[str, str]) -> NDArray[np.float32]:
            if stop is not None and stop():
                raise TimeoutError("judging was stopped")
            return self._pair(*pair)

        pairs = list(zip(premises, hypotheses, strict=True))
        rows = run_each(one, pairs, self._threads, lambda pair: len(pair[0]) + len(pair[1]))
        return np.stack(rows) if rows else np.zeros((0, len(VERDICTS)), np.float32)

    def _pair(self, premise: str, hypothesis: str) -> NDArray[np.float32]:
        running = self._running
        answer = running.session.run(running.tokenizer.pair(hypothesis, premise)).reshape(-1)
        if len(answer) != len(VERDICTS):
            raise FormatError(f"{running.card.name} gives {len(answer)} numbers to one pair")
        grown = np.exp(answer - answer.max())
        shares: NDArray[np.float32] = (grown / grown.sum()).astype(np.float32)
        return shares
