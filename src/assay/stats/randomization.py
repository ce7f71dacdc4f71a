"""Is the mean difference more than chance, whatever its distribution?

Paired randomization test (Fisher 1935; for retrieval Smucker, Allan and Carterette 2007). If the
runs were interchangeable, each query's difference could as well have the other sign. The two-sided
p-value is the share of sign patterns whose |sum| reaches the observed one:

    exact     c / 2^m over all sign patterns of the m non-zero differences, where 2^m <= flips
    sampled   (c + 1) / (flips + 1) over random sign patterns (Phipson and Smyth 2010)

Zero differences have no sign and change neither. Sums that fall short of the observed one by no
more than ``SAME`` Σ|d| are ties that rounding broke, and count as reached.

Sampling takes eight queries at a time: the 256 signed sums of eight differences are one table, and
a random byte picks an entry. All columns share the bytes, so a column's p-value does not depend on
which others are tested with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from assay import interrupt
from assay.errors import InputError
from assay.model.sampling import DEFAULT_RESAMPLES, DEFAULT_SEED
from assay.stats.defaults import SAME
from assay.stats.inputs import (
    check_sampling,
    defined_mask,
    float_array,
    refuse_bad_entries,
    unusable,
)
from assay.stats.pairs import subtract

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from assay.model.arrays import BoolArray, FloatArray, IntArray

BLOCK_FLIPS: Final = 65_536
"""Sign patterns looked at together, which bounds the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Randomization:
    """The mean difference b - a and how often chance reaches it.

    ``flips`` counts the sign patterns looked at: all of them where ``exact``.
    """

    n: int
    difference: float | None
    p: float | None
    flips: int
    exact: bool
    seed: int
    reason: str | None = None


def randomization_test(
    a: ArrayLike, b: ArrayLike, *, flips: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> Randomization:
    """Two-sided randomization test of b against a."""
    first, second = float_array(a, "a", 1), float_array(b, "b", 1)
    (answer,) = randomization_tests(first[:, None], second[:, None], flips=flips, seed=seed)
    return answer


def randomization_tests(
    a: ArrayLike,
    b: ArrayLike,
    *,
    defined: ArrayLike | None = None,
    flips: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> tuple[Randomization, ...]:
    """The test for each column; rows are queries, ``defined`` masks pairs that lack a value."""
    check_sampling(flips, seed)
    differences, mask = _read(a, b, defined)
    moving = np.count_nonzero(differences, axis=0)
    sampled = np.flatnonzero(moving >= flips.bit_length())
    counts = _count_sampled(differences[:, sampled], flips, seed).tolist()
    reached = dict(zip(sampled.tolist(), counts, strict=True))
    answers = []
    for j in range(differences.shape[1]):
        n, column = int(mask[:, j].sum()), differences[:, j]
        if j in reached:
            p, seen = (reached[j] + 1) / (flips + 1), flips
        else:
            seen = 1 << int(moving[j])
            p = _count_all(column[column != 0.0]) / seen
        answers.append(
            Randomization(
                n=n,
                difference=float(column.sum() / n) if n else None,
                p=p if n else None,
                flips=seen if n else 0,
                exact=j not in reached and n > 0,
                seed=seed,
                reason=_reason(n, int(moving[j])),
            )
        )
    return tuple(answers)


def _read(a: ArrayLike, b: ArrayLike, defined: ArrayLike | None) -> tuple[FloatArray, BoolArray]:
    """The differences, zero where undefined, and which of them are defined."""
    first, second = float_array(a, "a", 2), float_array(b, "b", 2)
    if first.shape != second.shape:
        raise InputError(
            f"a has shape {first.shape} and b {second.shape}",
            hint="pass both runs' values for the same queries, in the same order",
        )
    mask = defined_mask(defined, first.shape)
    refuse_bad_entries(first, mask & unusable(first), "a")
    refuse_bad_entries(second, mask & unusable(second), "b")
    return subtract(np.where(mask, first, 0.0), np.where(mask, second, 0.0)), mask


def _reason(n: int, moving: int) -> str | None:
    if n == 0:
        return "there are no pairs"
    if moving == 0:
        return "the runs are identical"
    if moving == 1:
        return "one non-zero difference cannot be told from chance"
    return None


def _count_all(column: FloatArray) -> int:
    """How many of all sign patterns reach the observed sum."""
    sums = np.zeros(1)
    for difference in column:
        sums = np.concatenate((sums + difference, sums - difference))
    return int(_reaching(sums[:, None], sums[:1], column[:, None])[0])


def _count_sampled(columns: FloatArray, flips: int, seed: int) -> IntArray:
    """For each column, how many of the random sign patterns reach the observed sum."""
    rng = np.random.default_rng(seed)
    signs = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    rows = np.concatenate((columns, np.zeros((-len(columns) % 8, columns.shape[1]))))
    reached = np.zeros(rows.shape[1], dtype=np.int64)
    for done in range(0, flips, BLOCK_FLIPS):
        interrupt.check()
        sums = np.zeros((min(BLOCK_FLIPS, flips - done), rows.shape[1]))
        observed = np.zeros(rows.shape[1])
        for start in range(0, len(rows), 8):
            table = signs @ rows[start : start + 8]
            sums += table.take(_random_bytes(rng, len(sums)), axis=0)
            observed += table[0]
        reached += _reaching(sums, observed, rows)
    return reached


def _random_bytes(rng: np.random.Generator, count: int) -> NDArray[np.uint8]:
    """``count`` random bytes, in the same order on every machine."""
    words = rng.integers(0, 1 << 64, size=-(-count // 8), dtype=np.uint64)
    return words.astype("<u8").view(np.uint8)[:count]


def _reaching(sums: FloatArray, observed: FloatArray, columns: FloatArray) -> IntArray:
    """For each column, how many sums are as far from zero as the observed one."""
    tolerance = SAME * np.abs(columns).sum(axis=0)
    far = np.abs(sums) >= np.abs(observed) - tolerance
    counts: IntArray = far.sum(axis=0, dtype=np.int64)
    return counts
