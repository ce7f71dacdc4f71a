"""What is a rank worth, whatever the scores behind it?

Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): ``Σ weight / (k + rank)`` with
ranks from 1. A large k makes ranks nearly equal, a small one lets the top of each list decide.
"""

from __future__ import annotations


def reciprocal_ranks(count: int, k: int) -> list[float]:
    """The value of the ranks 1 to ``count``."""
    return [1.0 / (k + rank) for rank in range(1, count + 1)]
