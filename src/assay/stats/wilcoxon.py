"""Is one run better on more queries, and by larger ranks, than chance would have it?

Wilcoxon signed-rank test (Wilcoxon 1945), two-sided. The sizes |d| of the differences d = b - a are
ranked, ties get their mean rank, and W+ and W- are the rank sums of the positive and negative ones.

    zeros = "wilcoxon"   zero differences are dropped before ranking
    zeros = "pratt"      they are ranked, then dropped (Pratt 1959)

Each of the 2^m signs of the m non-zero differences is as likely as the other. Up to ``EXACT_LIMIT``
of them the distribution of W+ is computed exactly by dynamic programming, also with ties: doubled
mean ranks are integers. Beyond that W+ is nearly normal with mean Σ r / 2 and variance Σ r² / 4,
which holds the tie correction; ``continuity`` moves W+ by one half towards the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from assay.errors import UsageError
from assay.stats.pairs import read_pairs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from assay.model.arrays import FloatArray, IntArray
    from assay.stats.pairs import Pairs

Zeros: TypeAlias = Literal["wilcoxon", "pratt"]
Mode: TypeAlias = Literal["auto", "exact", "normal"]

EXACT_LIMIT: Final = 60
"""Up to this many non-zero differences the p-value is exact."""

EXACT_MAXIMUM: Final = 400
"""Beyond this many, an exact p-value is refused: it would cost seconds and change nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wilcoxon:
    """Rank sums for and against b; ``z`` is set where the normal approximation was used."""

    n: int
    nonzero: int
    w_plus: float | None
    w_minus: float | None
    p: float | None
    exact: bool
    z: float | None = None
    reason: str | None = None

    @property
    def statistic(self) -> float | None:
        """The smaller of the two rank sums."""
        if self.w_plus is None or self.w_minus is None:
            return None
        return min(self.w_plus, self.w_minus)


def wilcoxon(
    a: ArrayLike,
    b: ArrayLike,
    *,
    zeros: Zeros = "wilcoxon",
    mode: Mode = "auto",
    continuity: bool = False,
) -> Wilcoxon:
    """Two-sided signed-rank test of b against a."""
    pairs = read_pairs(a, b)
    _check(zeros, mode, pairs)
    nonzero = int(np.count_nonzero(pairs.differences))
    if pairs.n == 0:
        return Wilcoxon(
            n=0,
            nonzero=0,
            w_plus=None,
            w_minus=None,
            p=None,
            exact=False,
            reason="there are no pairs",
        )
    doubled, positive = _doubled_ranks(pairs, zeros)
    twice_plus, twice_all = int(doubled[positive].sum()), int(doubled.sum())
    exact = mode == "exact" or (mode == "auto" and nonzero <= EXACT_LIMIT)
    z = None if exact else _z(doubled, twice_plus, continuity)
    return Wilcoxon(
        n=pairs.n,
        nonzero=nonzero,
        w_plus=twice_plus / 2,
        w_minus=(twice_all - twice_plus) / 2,
        p=_exact_p(doubled, twice_plus) if z is None else _normal_p(z),
        exact=exact,
        z=z,
        reason="the runs are identical" if nonzero == 0 else None,
    )


def _check(zeros: str, mode: str, pairs: Pairs) -> None:
    if zeros not in ("wilcoxon", "pratt"):
        raise UsageError(f"unknown treatment of zeros {zeros!r}", hint="use wilcoxon or pratt")
    if mode not in ("auto", "exact", "normal"):
        raise UsageError(f"unknown mode {mode!r}", hint="use auto, exact or normal")
    if mode == "exact" and pairs.n > EXACT_MAXIMUM:
        raise UsageError(
            f"an exact test of {pairs.n} pairs is out of reach", hint="use mode auto or normal"
        )


def _doubled_ranks(
    pairs: Pairs, zeros: str
) -> tuple[IntArray, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Twice the mean rank of each non-zero difference, and which of them are positive."""
    differences = pairs.differences
    if zeros == "wilcoxon":
        differences = differences[differences != 0.0]
    ranks = _doubled_mean_ranks(np.abs(differences), pairs.tolerance)
    moved = differences != 0.0
    return ranks[moved], differences[moved] > 0.0


def _doubled_mean_ranks(sizes: FloatArray, tolerance: float) -> IntArray:
    """Twice the mean rank; neighbours no further apart than ``tolerance`` are tied."""
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    starts = np.flatnonzero(np.append(True, np.diff(ordered) > tolerance)[: sizes.size])
    ends = np.append(starts[1:], sizes.size)
    ranks = np.empty(sizes.size, dtype=np.int64)
    ranks[order] = np.repeat(starts + 1 + ends, ends - starts)
    return ranks


def _exact_p(doubled: IntArray, twice_plus: int) -> float:
    """Twice the smaller tail of W+ over all sign patterns, at most 1."""
    chance = np.zeros(int(doubled.sum()) + 1)
    chance[0] = 1.0
    top = 0
    for rank in np.sort(doubled).tolist():
        without = chance[: top + 1].copy()
        chance[rank : top + rank + 1] += without
        chance[: top + rank + 1] *= 0.5
        top += rank
    smaller = min(twice_plus, top - twice_plus)
    return min(1.0, 2.0 * float(chance[: smaller + 1].sum()))


def _z(doubled: IntArray, twice_plus: int, continuity: bool) -> float:
    ranks = doubled / 2.0
    distance = twice_plus / 2.0 - float(ranks.sum()) / 2.0
    if continuity:
        distance -= math.copysign(0.5, distance) if distance else 0.0
    spread = math.sqrt(float(np.sum(ranks**2)) / 4.0)
    return distance / spread if spread else 0.0


def _normal_p(z: float) -> float:
    return math.erfc(abs(z) / math.sqrt(2.0))
