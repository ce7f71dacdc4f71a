"""Do trainings agree, and is the encoder better than the general models by more than chance?

    python -m training.seeds FOLDER OLDER-lists.npz NAME-lists.npz [NAME-lists.npz ...] [final]

OLDER is what ``training.today`` wrote, the others are the lists of trainings that differ in their
seed, that of the shipped weights first. Prints linear nDCG@10 of every signal and of both fusions
as the cards want them, the spread of the seeds, and the shipped seed's difference to the general
models: its bootstrap interval, and p of the paired randomization test, Holm-corrected over the
table. ``final`` also shows NFCorpus' test queries.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import numpy as np
import torch
from numpy.typing import NDArray

from assay.stats.bootstrap import bootstrap_mean
from assay.stats.multiple import holm
from assay.stats.randomization import randomization_test
from training.evaluate import ndcg, spread, votes
from training.fuse import RANKS, SCORES, Part, read

Values = NDArray[np.float64]
LEFT_OUT = ("covidqa/seen",)  # trained on
HALVES = ("scifact/new", "scifact/seen")  # of scifact/test
WAYS = ("sparse", "dense", "ranks", "scores")


@dataclass(frozen=True, slots=True)
class Fusion:
    """The weights of bm25, sparse and dense, by ranks and by scores."""

    ranks: Sequence[float]
    scores: Sequence[float]


OLDER = Fusion((1, 1, 1), (0.4, 0.2, 0.4))
OURS = Fusion(RANKS, SCORES)


def values(part: Part, fusion: Fusion) -> dict[str, Values]:
    """The measure of every query, by way."""
    lists = part.lists()
    made = {
        "sparse": part.sparse,
        "dense": part.dense,
        "ranks": sum(w * votes(one) for w, one in zip(fusion.ranks, lists, strict=True)),
        "scores": sum(w * spread(one) for w, one in zip(fusion.scores, lists, strict=True)),
    }
    return {way: ndcg(made[way], part.grades).numpy().astype(np.float64) for way in WAYS}


def measured(folder: Path, lists: Path, fusion: Fusion) -> dict[tuple[str, str], Values]:
    """The measure of every query, by part and way."""
    return {
        (part.name, way): found
        for part in read(folder, lists, 12)
        if part.name not in LEFT_OUT
        for way, found in values(part, fusion).items()
    }


def middle(seeds: Mapping[str, Mapping[tuple[str, str], Values]], way: str) -> str:
    """The means of the seeds over all collections, and whose is the median."""
    means = {
        name: fmean(
            float(one.mean())
            for (part, by), one in found.items()
            if by == way and part not in HALVES
        )
        for name, found in seeds.items()
    }
    shown = ", ".join(f"{name} {mean:.4f}" for name, mean in means.items())
    nearest = min(means, key=lambda name: abs(means[name] - median(means.values())))
    return f"mean by {way}: {shown}; the median is {nearest}"


def main(arguments: list[str]) -> None:
    """Print the table."""
    torch.set_num_threads(1)
    folder, old, *lists = (Path(one) for one in arguments if one != "final")
    older = measured(folder, old, OLDER)
    seeds = {one.name.removesuffix("-lists.npz"): measured(folder, one, OURS) for one in lists}
    if "final" not in arguments:
        hidden = "nfcorpus/test"
        older = {key: one for key, one in older.items() if key[0] != hidden}
        seeds = {
            name: {key: one for key, one in found.items() if key[0] != hidden}
            for name, found in seeds.items()
        }
    shipped = next(iter(seeds.values()))
    adjusted = holm([randomization_test(older[key], shipped[key]).p for key in older])
    heads = ["older", *seeds, "spread", "shipped - older", "95 %", "p (Holm)"]
    widths = [7, *(max(7, len(name)) for name in seeds), 7, 15, 18, 8]
    print(" " * 25 + "  ".join(f"{h:>{w}}" for h, w in zip(heads, widths, strict=True)))
    for key, p in zip(older, adjusted, strict=True):
        means = [float(found[key].mean()) for found in seeds.values()]
        change = shipped[key] - older[key]
        between = bootstrap_mean(change)
        cells = [f"{older[key].mean():.4f}", *(f"{one:.4f}" for one in means)]
        cells += [f"{max(means) - min(means):.4f}", f"{change.mean():+.4f}"]
        cells += [f"{between.low:+.4f} to {between.high:+.4f}", f"{p:.4f}"]
        row = "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        print(f"{key[0]:17}{key[1]:8}{row}")
    for way in ("ranks", "scores"):
        print(middle(seeds, way))


if __name__ == "__main__":
    main(sys.argv[1:])
