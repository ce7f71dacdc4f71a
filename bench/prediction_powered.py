"""Do prediction-powered intervals cover the true mean as often as they say, and what do they save?

``python -m bench.prediction_powered`` draws four thousand samples for each setting: labels of
people that are right with a given chance, and a judge with a given sensitivity and specificity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.stats.prediction_powered import prediction_powered_mean

REPETITIONS = 4_000
NOMINAL, WITHIN = 0.95, 0.015
NEARLY_ALL = 0.95  # from here on few labels cannot be exact: more than promised is right, too
OTHERS = 1_000


@dataclass(frozen=True)
class Judge:
    """How often it says yes to what is so, and no to what is not."""

    sensitivity: float
    specificity: float


@dataclass(frozen=True)
class Simulated:
    """What came of many samples."""

    coverage: float
    labelled_coverage: float
    judge_coverage: float
    width: float
    labelled_width: float
    saved: float


SETTINGS = [
    (judge, truth, labels)
    for labels in (30, 50, 100)
    for judge, truth in (
        (Judge(0.9, 0.9), 0.7),
        (Judge(0.8, 0.6), 0.7),
        (Judge(0.5, 0.5), 0.5),
        (Judge(0.9, 0.8), 0.9),
        (Judge(0.97, 0.9), 0.95),
        (Judge(0.97, 0.9), 0.99),
    )
]


def simulate(
    judge: Judge, *, truth: float, labels: int, others: int, repetitions: int, seed: int
) -> Simulated:
    """How often each interval holds the true mean, how wide it is, and the labels it saves."""
    rng = np.random.default_rng(seed)
    held, widths, saved = [], [], []
    for _ in range(repetitions):
        y = (rng.random(labels + others) < truth).astype(np.float64)
        yes = rng.random(len(y)) < np.where(y == 1.0, judge.sensitivity, 1.0 - judge.specificity)
        f = yes.astype(np.float64)
        found = prediction_powered_mean(y[:labels], f[:labels], f[labels:])
        mean = float(f.mean())
        reach = 1.96 * float(f.std()) / len(f) ** 0.5
        ends = [
            (found.interval.low, found.interval.high),
            (found.labelled_interval.low, found.labelled_interval.high),
            (mean - reach, mean + reach),
        ]
        held.append([(low or 0.0) <= truth <= (high or 0.0) for low, high in ends])
        widths.append([(high or 0.0) - (low or 0.0) for low, high in ends])
        saved.append(found.saved or 0)
    shares, wide = np.mean(held, axis=0), np.mean(widths, axis=0)
    return Simulated(
        float(shares[0]), float(shares[1]), float(shares[2]), float(wide[0]), float(wide[1]),
        float(np.median(saved)),
    )  # fmt: skip


def main() -> int:
    """Print the table; 1 where some coverage is further from 95 % than it may be."""
    print("| labels | judge (sens, spec) | true mean | covers | labels alone | judge alone "
          "| width | labels alone | labels saved |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    off = 0
    for judge, truth, labels in SETTINGS:
        found = simulate(
            judge, truth=truth, labels=labels, others=OTHERS, repetitions=REPETITIONS, seed=0
        )
        over = found.coverage - NOMINAL
        off += over < -WITHIN or (over > WITHIN and truth < NEARLY_ALL)
        print(
            f"| {labels} | {judge.sensitivity}, {judge.specificity} | {truth} "
            f"| {found.coverage:.3f} | {found.labelled_coverage:.3f} | {found.judge_coverage:.3f} "
            f"| {found.width:.3f} | {found.labelled_width:.3f} | {found.saved:.0f} |"
        )
    return int(off > 0)


if __name__ == "__main__":
    raise SystemExit(main())
