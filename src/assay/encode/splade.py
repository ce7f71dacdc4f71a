"""How does text become weights of vocabulary terms?

SPLADE computes a logit for every token and every term of the vocabulary; a term's weight is
``max over tokens of log(1 + relu(logit))``, and terms without weight are left out. Special tokens
are included, as they were when the models here were trained.
"""

from __future__ import annotations

import numpy as np

from assay.encode.parallel import run_each
from assay.encode.runtime import OnCpu
from assay.errors import FormatError
from assay.model.vectors import Kind, SparseVector


class OnnxSplade(OnCpu):
    """A sparse encoder on the CPU; a vector depends on its text alone."""

    @property
    def vocabulary(self) -> int:
        """The number of terms."""
        return self._running.card.dimension

    def terms(self) -> list[str]:
        """The vocabulary, for showing vectors."""
        return self._running.tokenizer.terms()

    def encode(self, texts: list[str], kind: Kind) -> list[SparseVector]:
        """One vector per text, in order."""
        prefix = self._running.card.prefix(kind)
        return run_each(lambda text: self._vector(prefix + text), texts, self._threads, len)

    def _vector(self, text: str) -> SparseVector:
        running = self._running
        answer = running.session.run(running.tokenizer.text(text))
        if answer.ndim == 2:  # the logits of every token, from a plain export
            answer = np.log1p(np.maximum(answer.max(axis=0), 0))
        if answer.shape != (self.vocabulary,):
            raise FormatError(
                f"{running.card.name} weighs {answer.size} terms, not {self.vocabulary}"
            )
        terms = np.flatnonzero(answer > 0)
        return SparseVector(terms.astype(np.int32), answer[terms])
