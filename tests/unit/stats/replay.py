"""How does scipy draw the resamples that we drew?"""

from __future__ import annotations

import numpy as np


class Replay(np.random.Generator):
    """A generator whose integers are rows of a matrix, so that scipy draws what we drew."""

    def __init__(self, matrix: np.ndarray) -> None:
        super().__init__(np.random.PCG64(0))
        self._rows = iter(matrix)

    def integers(self, *args: object, **kwargs: object) -> np.ndarray:  # type: ignore[override]
        size = kwargs.get("size", args[2] if len(args) > 2 else None)
        assert isinstance(size, tuple)
        drawn = np.array([next(self._rows) for _ in range(size[0])])
        assert drawn.shape == size
        return drawn


def draws(n: int, resamples: int, seed: int) -> np.ndarray:
    """The resamples that a seed stands for, a row of indices each."""
    return np.random.default_rng(seed).integers(0, n, size=(resamples, n))
