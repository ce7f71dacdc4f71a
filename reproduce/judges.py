"""How good are the judges that ship, and what do they save people, on claims that people labelled?

``python -m reproduce.judges`` lets ``words`` and ``entailment`` read the validation claims of
SciFact beside the abstracts that they cite, and the development statements of NLI4CT beside their
lines. Neither was trained on. Kappa and accuracy are of "supported" against the rest. Then a
hundred labels are drawn a thousand times, and the share of supported claims is estimated from them
alone, and from them with the judge's opinions of all others.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence

import numpy as np

from assay.app.engine import judge_of
from assay.model.judges import Judge, JudgeTask, TaskKind
from assay.settings import configure
from assay.stats.kappa import cohen_kappa
from assay.stats.prediction_powered import prediction_powered_mean
from training.statements import SUPPORTED, Pair, nli4ct, scifact

LABELS, DRAWS, SEED = 100, 1_000, 0


def shipped(spec: str) -> Judge:
    """A judge that needs no workspace."""
    return judge_of(configure({}), spec)


def collections() -> dict[str, list[Pair]]:
    """The pairs that people labelled and nothing was trained on."""
    claims = [one for one in scifact(random.Random(SEED)) if one.source == "claim"]
    return {
        "SciFact validation": [one for one in claims if one.part == "test"],
        "NLI4CT development": [one for one in nli4ct() if one.part == "test"],
    }


def opinions(judge: Judge, pairs: Sequence[Pair]) -> list[bool]:
    """What a judge says of each pair."""
    tasks = [JudgeTask(TaskKind.SUPPORT, one.statement, one.premise) for one in pairs]
    found = dict(judge.judge(tasks))
    return [found[at].supported for at in range(len(tasks))]


def row(name: str, judge: Judge, pairs: Sequence[Pair]) -> str:
    """One judge on one collection, as a row of the table."""
    people = [one.verdict == SUPPORTED for one in pairs]
    said = opinions(judge, pairs)
    kappa = cohen_kappa(people, said, categories=(True, False))
    y, f = np.array(people, np.float64), np.array(said, np.float64)
    rng = np.random.default_rng(SEED)
    held, widths, saved = [], [], []
    for _ in range(DRAWS):
        order = rng.permutation(len(y))
        few, others = order[:LABELS], order[LABELS:]
        found = prediction_powered_mean(y[few], f[few], f[others])
        ends = (found.interval, found.labelled_interval)
        held.append([(one.low or 0.0) <= y.mean() <= (one.high or 0.0) for one in ends])
        widths.append([(one.high or 0.0) - (one.low or 0.0) for one in ends])
        saved.append(found.saved or 0)
    covers, wide = np.mean(held, axis=0), np.mean(widths, axis=0)
    low, high = kappa.interval.low or 0.0, kappa.interval.high or 0.0
    return (
        f"| {name} ({len(pairs)}) | {judge.name.partition('(')[0]} | {kappa.agreement:.3f} "
        f"| {kappa.value:.3f} [{low:.3f}, {high:.3f}] | {y.mean():.3f} / {f.mean():.3f} "
        f"| {covers[0]:.3f}, {wide[0]:.3f} | {covers[1]:.3f}, {wide[1]:.3f} "
        f"| {np.median(saved):.0f} |"
    )


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description="How good are the judges that ship?").parse_args()
    print("| claims | judge | accuracy | kappa [95 %] | supported: people / judge "
          "| joint: covers, width | labels alone | labels saved of 100 |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for name, pairs in collections().items():
        for spec in ("words", "entailment"):
            print(row(name, shipped(spec), pairs), flush=True)


if __name__ == "__main__":
    main()
