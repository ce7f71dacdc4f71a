"""How much processor time do our statistics take beside scipy's and scikit-learn's?

Run from the repository root: ``python -m bench.stats``. Every case does the same work both ways in
one process; times are processor seconds, so another busy core changes little. Each side runs three
times; the table shows the median, the spread (largest minus smallest) and the ratio of the medians.

scipy works vectorised, with the fastest of the batch sizes 5, 10, 30, 100, 1,000 and all at once.
scikit-learn has no bootstrap, so its functions are called in a loop over 100 resamples and the time
is multiplied to 10,000: such rows say "extrapolated".
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

from assay.stats.bootstrap import bootstrap_means
from assay.stats.bootstrap_auc import bootstrap_ranking_quality
from assay.stats.randomization import randomization_test, randomization_tests

if TYPE_CHECKING:
    from collections.abc import Callable

RESAMPLES = 10_000
QUERIES = 6_980
COLUMNS = 10
PAIRS = 15_000
LOOPED = 100
BOOTSTRAP_BATCH = 10
FLIP_BATCH = 1_000
REPEATS = 3


@dataclass(frozen=True, slots=True)
class Case:
    """One piece of work done by us and by a peer; ``scale`` multiplies the peer's time."""

    name: str
    peer: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    scale: float = 1.0


def run() -> list[dict[str, object]]:
    """One row per case: seconds of both sides with their spread, and the ratio."""
    return [_measure(case) for case in _cases()]


def main() -> None:
    rows = run()
    print(f"{'case':<52} {'ours s':>16} {'peer s':>16} {'ratio':>7}  peer")
    for row in rows:
        ours = f"{row['ours_s']:.3f} ±{row['ours_spread_s']:.3f}"
        peer = f"{row['peer_s']:.2f} ±{row['peer_spread_s']:.2f}"
        print(f"{row['case']:<52} {ours:>16} {peer:>16} {row['ratio']:>6.1f}x  {row['peer']}")


def _measure(case: Case) -> dict[str, object]:
    ours, theirs = [], []
    case.ours()  # the first call imports and allocates
    for _ in range(REPEATS):
        ours.append(_seconds(case.ours))
        theirs.append(_seconds(case.theirs) * case.scale)
    return {
        "case": case.name,
        "peer": case.peer,
        "ours_s": statistics.median(ours),
        "ours_spread_s": max(ours) - min(ours),
        "peer_s": statistics.median(theirs),
        "peer_spread_s": max(theirs) - min(theirs),
        "ratio": statistics.median(theirs) / statistics.median(ours),
        "extrapolated": case.scale != 1.0,
    }


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _cases() -> list[Case]:
    rng = np.random.default_rng(7)
    values = rng.random((QUERIES, COLUMNS))
    labels = rng.random(PAIRS) < 0.5
    scores = rng.normal(size=PAIRS) + labels
    other = values + rng.normal(0.003, 0.2, values.shape)
    return [
        Case(
            "percentile bootstrap, 10 columns of 6,980, 10k",
            "scipy.stats.bootstrap",
            lambda: bootstrap_means(values, resamples=RESAMPLES),
            lambda: _scipy_bootstrap(values, "percentile"),
        ),
        Case(
            "BCa bootstrap, 10 columns of 6,980, 10k",
            "scipy.stats.bootstrap",
            lambda: bootstrap_means(values, method="bca", resamples=RESAMPLES),
            lambda: _scipy_bootstrap(values, "BCa"),
        ),
        Case(
            "AUROC + AUPRC bootstrap, 15,000 pairs, 10k",
            f"scikit-learn loop, extrapolated from {LOOPED}",
            lambda: bootstrap_ranking_quality(labels, scores, resamples=RESAMPLES),
            lambda: _scikit_learn_loop(labels, scores),
            RESAMPLES / LOOPED,
        ),
        Case(
            "sign flips, 6,980 pairs, 10k",
            "scipy.stats.permutation_test",
            lambda: randomization_test(values[:, 0], other[:, 0], flips=RESAMPLES),
            lambda: _scipy_flips(values[:, :1], other[:, :1]),
        ),
        Case(
            "sign flips, 10 columns of 6,980 pairs, 10k",
            "scipy.stats.permutation_test, extrapolated from 1 column",
            lambda: randomization_tests(values, other, flips=RESAMPLES),
            lambda: _scipy_flips(values[:, :1], other[:, :1]),
            COLUMNS,
        ),
    ]


def _scipy_bootstrap(values: np.ndarray, method: Literal["percentile", "BCa"]) -> list[object]:
    return [
        stats.bootstrap(
            (column,),
            np.mean,
            n_resamples=RESAMPLES,
            batch=BOOTSTRAP_BATCH,
            method=method,
            vectorized=True,
            rng=np.random.default_rng(1),
        )
        for column in np.ascontiguousarray(values.T)
    ]


def _scipy_flips(a: np.ndarray, b: np.ndarray) -> list[object]:
    return [
        stats.permutation_test(
            (difference,),
            np.mean,
            permutation_type="samples",
            n_resamples=RESAMPLES,
            batch=FLIP_BATCH,
            vectorized=True,
            rng=np.random.default_rng(1),
        )
        for difference in np.ascontiguousarray((b - a).T)
    ]


def _scikit_learn_loop(labels: np.ndarray, scores: np.ndarray) -> list[tuple[float, float]]:
    rng = np.random.default_rng(1)
    values = []
    for _ in range(LOOPED):
        drawn = rng.integers(0, PAIRS, PAIRS)
        truth, points = labels[drawn], scores[drawn]
        values.append((roc_auc_score(truth, points), average_precision_score(truth, points)))
    return values


if __name__ == "__main__":
    main()
