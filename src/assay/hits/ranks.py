"""What is the rank of each hit, given the scores of its query?

No ranking is ever sorted by id. A rank is one more than the number of scores above the hit's own:
a binary search in the query's descending scores, done for all hits at once. Only where a hit shares
its score with others do ids decide.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.model.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of many queries in one array, those of a query together.

    ``descending`` holds the same scores sorted within each query; ``messy`` lists the queries that
    had to be sorted. ``falling`` says that no score rises, not even between queries.
    """

    score: FloatArray
    starts: IntArray
    sizes: IntArray
    descending: FloatArray
    messy: BoolArray
    falling: bool = False

    @classmethod
    def of(cls, score: FloatArray, starts: IntArray, sizes: IntArray) -> Scores:
        """The scores in the order given."""
        messy = np.zeros(len(starts), dtype=np.bool_)
        rising = score[1:] > score[:-1]
        if not rising.any():
            return cls(score, starts, sizes, score, messy, falling=True)
        rising[starts[(starts > 0) & (starts < len(score))] - 1] = False
        if not rising.any():
            return cls(score, starts, sizes, score, messy)
        inside = np.flatnonzero(rising) + 1
        messy[np.searchsorted(starts, inside, side="right") - 1] = True
        descending = score.copy()
        for query in np.flatnonzero(messy).tolist():
            start = int(starts[query])
            part = descending[start : start + int(sizes[query])]
            part[:] = np.sort(part)[::-1]
        return cls(score, starts, sizes, descending, messy)

    def best(self) -> IntArray:
        """The position of each query's best score; every query must have one."""
        best = self.starts.copy()
        for query in np.flatnonzero(self.messy).tolist():
            start = int(self.starts[query])
            best[query] += np.argmax(self.score[start : start + int(self.sizes[query])])
        return best

    def ranks(
        self,
        query: IntArray,
        score: FloatArray,
        ids: Callable[[IntArray], list[str]],
        others: Callable[[int, IntArray], list[str]],
    ) -> tuple[IntArray, BoolArray]:
        """The rank of each hit, and whether it was tied; of tied documents the higher id is first.

        ``ids`` returns the ids of some of the hits, ``others`` those of a query at given positions.
        The hits of a query must be contiguous.
        """
        above = self._count(query, score, or_equal=False)
        until = self._count(query, score, or_equal=True)
        tied = until - above > 1
        if tied.any():
            hits = (query[tied], above[tied], until[tied])
            above[tied] += self._higher(hits, ids(np.flatnonzero(tied)), others)
        return above + 1, tied

    def _count(self, query: IntArray, score: FloatArray, *, or_equal: bool) -> IntArray:
        """For each hit: how many scores of its query are greater (or equal)?"""
        first = self.starts[query]
        low, high = first, first + self.sizes[query]
        if self.falling:
            rising = self.descending[::-1]
            below = np.searchsorted(rising, score, side="left" if or_equal else "right")
            return np.clip(len(rising) - below, low, high) - first
        last = len(self.descending) - 1
        for _ in range(int(self.sizes.max(initial=0)).bit_length()):
            middle = (low + high) >> 1
            value = self.descending[np.minimum(middle, last)]
            beyond = (value >= score) if or_equal else (value > score)
            beyond &= low < high
            low = np.where(beyond, middle + 1, low)
            high = np.where(beyond, high, middle)
        return low - first

    def _higher(
        self,
        hits: tuple[IntArray, IntArray, IntArray],
        ids: list[str],
        others: Callable[[int, IntArray], list[str]],
    ) -> IntArray:
        """For each tied hit, the number of documents with its score and a higher id.

        Ids compare in UTF-8 byte order. Each group of equal scores is sorted once.
        """
        higher: list[int] = []
        which, order = -1, np.zeros(0, dtype=np.int64)
        groups: dict[int, list[str]] = {}
        for own, query, above, until in zip(ids, *(part.tolist() for part in hits), strict=True):
            if query != which:
                which, order, groups = query, self._by_score(query), {}
            if above not in groups:
                groups[above] = sorted(others(query, order[above:until]))
            higher.append(len(groups[above]) - bisect_right(groups[above], own))
        return np.array(higher, dtype=np.int64)

    def _by_score(self, query: int) -> IntArray:
        """The positions of a query's scores in descending order."""
        start, size = int(self.starts[query]), int(self.sizes[query])
        if not self.messy[query]:
            return np.arange(size)
        return np.argsort(-self.score[start : start + size], kind="stable")
