"""Which weights should fusion give the three lists, and what do they find?

    python -m training.fuse FOLDER LISTS.npz [grid] [final] [depth=6]

LISTS is what ``training.train`` or ``training.today`` wrote. Prints the figures of every
collection; ``grid`` first looks for weights on the development collections, by the mean over
them; ``final`` also shows NFCorpus' test queries, which are for the end. SciFact's test claims are
shown in two parts: those that cite an abstract which no training claim cites, and the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from assay.encode.catalog import CARDS
from training.evaluate import NONE, Collection, lexical, ndcg, spread, votes

DEVELOPMENT = ("nfcorpus/dev", "covidqa/kept", "cranfield/test", "med1033/test", "evidence/kept")
STEP = 0.1
# of bm25, sparse and dense, as the card of the shipped encoder has them
RANKS = tuple(weight for _, weight in CARDS["assay-bio"].rrf_weights)
SCORES = tuple(weight for _, weight in CARDS["assay-bio"].score_weights)


@dataclass(slots=True)
class Part:
    """The lists of one part of a collection's queries: scores, and -1e4 for what is not listed."""

    name: str
    grades: Tensor
    bm25: Tensor
    sparse: Tensor
    dense: Tensor

    def lists(self) -> tuple[Tensor, Tensor, Tensor]:
        """The three lists."""
        return self.bm25, self.sparse, self.dense


def parts_of(one: Collection) -> Iterator[tuple[str, np.ndarray]]:
    """The parts of a collection and the places of their queries."""
    for part in sorted(set(one.part.tolist())):
        here = np.flatnonzero(one.part == part)
        if one.name == "scifact":
            if part != "test":
                continue
            trained = np.flatnonzero(one.part != "test")
            known = (one.grades[trained] > 0).any(0)
            seen = ((one.grades[here] > 0) & known).any(1).numpy()
            yield f"{one.name}/new", here[~seen]
            yield f"{one.name}/seen", here[seen]
        yield f"{one.name}/{part}", here


def read(
    folder: Path, lists: Path, depth: int, names: Sequence[str] | None = None
) -> Iterator[Part]:
    """Every part of every collection, or of those that are named."""
    found = np.load(lists)
    if names is None:
        names = sorted({key.partition("@")[0] for key in found if "@" in key})
    for name in names:
        one = Collection(folder / f"{name}.npz", "cpu")

        def listed(kind: str, one: Collection = one) -> Tensor:
            key = f"{one.name}@{depth}/{kind}"
            ids = torch.from_numpy(found[key].astype(np.int64))
            values = torch.from_numpy(found[f"{key}/scores"])
            return torch.full_like(one.grades, NONE * 10).scatter(1, ids, values)

        dense, sparse = listed("dense"), listed("sparse")
        for label, here in parts_of(one):
            yield Part(label, one.grades[here], lexical(one.bm25[here]), sparse[here], dense[here])


def mixed(made: Sequence[Tensor], weights: Sequence[float], grades: Tensor) -> float:
    """The figure of a weighted sum."""
    total = sum(weight * one for weight, one in zip(weights, made, strict=True))
    return float(ndcg(total, grades).mean())


def grid(parts: list[Part], brought: dict[str, list[list[Tensor]]]) -> None:
    """The best weights on the development collections together, for scores and for ranks."""
    steps = range(round(1 / STEP) + 1)
    choices = [
        (a * STEP, b * STEP, 1 - (a + b) * STEP) for a in steps for b in steps if a + b <= steps[-1]
    ]
    for way, made in brought.items():
        rows = []
        for weights in choices:
            each = [mixed(one, weights, part.grades) for one, part in zip(made, parts, strict=True)]
            rows.append((sum(each) / len(each), weights, each))
        rows.sort(reverse=True)
        print(way, " ".join(part.name for part in parts))
        for mean, weights, each in rows[:10]:
            shown = "/".join(f"{weight:.1f}" for weight in weights)
            print(f"  {mean:.4f}  {shown}  " + " ".join(f"{one:.4f}" for one in each))


def main(arguments: list[str]) -> None:
    """Print the figures."""
    settings = dict(each.split("=") for each in arguments if "=" in each)
    words = [each for each in arguments if "=" not in each]
    folder, lists, *asked = words
    torch.set_num_threads(1)
    parts = [
        part
        for part in read(Path(folder), Path(lists), int(settings.get("depth", 12)))
        if "final" in asked or part.name != "nfcorpus/test"
    ]
    if "grid" in asked:
        chosen = [part for part in parts if part.name in DEVELOPMENT]
        grid(
            chosen,
            {
                "scores": [[spread(one) for one in part.lists()] for part in chosen],
                "ranks": [[votes(one) for one in part.lists()] for part in chosen],
            },
        )
    weights = [
        tuple(float(one) for one in each.split("/"))
        for each in settings.get("weights", ".4/.2/.4,.3/.3/.4,.2/.3/.5").split(",")
    ]
    titles = ["bm25", "sparse", "dense", "rrf"]
    titles += ["/".join(f"{one:g}" for one in each) for each in weights]
    titles += [f"rrf {'/'.join(f'{one:g}' for one in each)}" for each in weights]
    print(f"{'':16} " + " ".join(f"{title:>15}" for title in titles))
    for part in parts:
        scores, ranks = (
            [spread(one) for one in part.lists()],
            [votes(one) for one in part.lists()],
        )
        figures = [float(ndcg(one, part.grades).mean()) for one in part.lists()]
        figures.append(mixed(ranks, (1, 1, 1), part.grades))
        figures += [mixed(scores, each, part.grades) for each in weights]
        figures += [mixed(ranks, each, part.grades) for each in weights]
        print(f"{part.name:16} " + " ".join(f"{figure:15.4f}" for figure in figures))


if __name__ == "__main__":
    main(sys.argv[1:])
