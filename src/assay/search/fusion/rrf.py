"""What does a rank contribute, regardless of scores?

Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): ``Σ weight / (k + rank)`` with
ranks from 1. A large k makes ranks nearly equal, a small one lets the top of each list decide.
"""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=256)
def reciprocal_ranks(count: int, k: int) -> tuple[float, ...]:
    """The value of the ranks 1 to ``count``."""
    return tuple([1.0 / (k + rank) for rank in range(1, count + 1)])
