"""How does text become a unit-length vector?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from assay.encode.cards import Pooling
from assay.encode.parallel import run_each
from assay.encode.runtime import OnCpu
from assay.errors import CorruptModelError, FormatError
from assay.model.vectors import DenseMatrix, Kind

_Row = NDArray[np.float32]


def _first(states: _Row) -> _Row:
    first: _Row = states[0]
    return first


def _mean(states: _Row) -> _Row:
    average: _Row = states.mean(axis=0, dtype=np.float64).astype(np.float32)
    return average


def _largest(states: _Row) -> _Row:
    largest: _Row = states.max(axis=0)
    return largest


def _by_root_of_length(states: _Row) -> _Row:
    total: _Row = (states.sum(axis=0, dtype=np.float64) / np.sqrt(len(states))).astype(np.float32)
    return total


def _later_weighs_more(states: _Row) -> _Row:
    average: _Row = np.average(states, axis=0, weights=np.arange(1, len(states) + 1))
    return average.astype(np.float32)


def _last(states: _Row) -> _Row:
    last: _Row = states[-1]
    return last


def _as_given(vector: _Row) -> _Row:
    return vector


POOL: dict[Pooling, Callable[[_Row], _Row]] = {
    "cls": _first,
    "mean": _mean,
    "max": _largest,
    "mean_sqrt_len_tokens": _by_root_of_length,
    "weightedmean": _later_weighs_more,
    "lasttoken": _last,
    "none": _as_given,
}


def pool(states: _Row, pooling: Pooling) -> _Row:
    """One vector from the states of all tokens; several ways of pooling are joined."""
    parts = [POOL[one](states) for one in pooling.split("+")]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


class OnnxDense(OnCpu):
    """A dense encoder on the CPU; a vector depends on its text alone."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._running.card.dimension

    def encode(self, texts: list[str], kind: Kind) -> DenseMatrix:
        """One row per text, in order."""
        prefix = self._running.card.prefix(kind)
        rows = run_each(lambda text: self._vector(prefix + text), texts, self._threads, len)
        return np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)

    def _vector(self, text: str) -> _Row:
        running = self._running
        states = running.session.run(running.tokenizer.text(text))
        if states.ndim != (1 if running.card.pooling == "none" else 2):
            raise FormatError(
                f"{running.card.name} answers with {states.ndim} axes, which does not go with "
                f"pooling {running.card.pooling!r}"
            )
        vector = pool(states, running.card.pooling)
        for head in running.heads:
            vector = head(vector)
        if vector.shape != (self.dimension,):
            raise FormatError(
                f"{running.card.name} makes vectors of {vector.size} numbers, not {self.dimension}"
            )
        length = float(np.linalg.norm(vector))
        if length == 0:
            raise CorruptModelError(f"{running.card.name} made a vector of zeros")
        unit: _Row = vector / np.float32(length)
        return unit
