"""Does the reranker order candidates better than fusion, and how much should it count?

    python -m training.reranked FOLDER LISTS.npz SCORES.npz [best=20] [final]

LISTS and SCORES are what ``training.rerank`` wrote. Prints linear nDCG@10 with the best candidates
ordered by a share of the reranker's scores and the rest of fused ones, both brought between 0 and
1, once for fused ranks and once for fused scores, with the weights of the encoder's card. The share
is chosen on NFCorpus' development queries and every second
query of Evidence Inference's kept articles and CovidQA's kept papers, which neither the encoder nor
the reranker has seen. The last column tests the chosen share (paired t-test). ``final`` also shows
NFCorpus' test queries.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from assay.stats.paired import paired_t
from training.evaluate import Collection, ndcg, spread, votes
from training.fuse import RANKS, SCORES, Part, parts_of, read

SHARES = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
CHOSEN = 0.4
DEPTH = 12
HALVED = ("evidence/kept", "covidqa/kept")
CHOOSING = ("nfcorpus/dev", "evidence/kept a", "covidqa/kept a")


def fused(part: Part, way: str) -> Tensor:
    """The fused scores of one part's queries, by ``ranks`` or by ``scores``."""
    weights, bring = (RANKS, votes) if way == "ranks" else (SCORES, spread)
    made = [weight * bring(one) for weight, one in zip(weights, part.lists(), strict=True)]
    return torch.stack(made).sum(0)


def even(values: Tensor) -> Tensor:
    """Values of a row between 0 and 1."""
    low = values.amin(1, keepdim=True)
    return (values - low) / (values.amax(1, keepdim=True) - low).clamp_min(1e-6)


def blended(scores: Tensor, listed: Tensor, judged: Tensor, share: float) -> Tensor:
    """Fused scores with the listed documents first, in the order of both."""
    mixed = share * even(judged) + (1 - share) * even(scores.gather(1, listed))
    return (scores - 10).scatter(1, listed, mixed)


def judged_of(lists: Path, scored: Path, name: str, shape: torch.Size) -> Tensor:
    """The reranker's score of every pair that it read; the lowest of a query's for others."""
    listed = torch.from_numpy(np.load(lists)[f"{name}/listed"].astype(np.int64))
    found = torch.from_numpy(np.load(scored)[name].astype(np.float32))
    return found.amin(1, keepdim=True).expand(shape).clone().scatter(1, listed, found)


def halves(part: Part, judged: Tensor) -> Iterator[tuple[str, Part, Tensor]]:
    """The parts that the share is chosen on, and those that it is shown on."""
    yield part.name, part, judged
    if part.name in HALVED:
        for label, begin in (("a", 0), ("b", 1)):
            one = Part(
                f"{part.name} {label}", part.grades[begin::2], *(x[begin::2] for x in part.lists())
            )
            yield one.name, one, judged[begin::2]


def main(arguments: list[str]) -> None:
    """Print the figures."""
    torch.set_num_threads(1)
    settings = dict(each.split("=") for each in arguments if "=" in each)
    folder, lists, scored, *asked = (each for each in arguments if "=" not in each)
    best = int(settings.get("best", 20))
    rows = []
    for name in np.load(scored):
        one = Collection(Path(folder) / f"{name}.npz", "cpu")
        places = dict(parts_of(one))
        judged = judged_of(Path(lists), Path(scored), name, one.grades.shape)
        for part in read(Path(folder), Path(lists), DEPTH, [name]):
            if (
                part.name == "nfcorpus/test" and "final" not in asked
            ) or part.name == "covidqa/seen":
                continue
            rows += list(halves(part, judged[places[part.name]]))
    for way in ("ranks", "scores"):
        print(f"{way:18} " + " ".join(f"{share:>7}" for share in SHARES) + f"   {CHOSEN} against 0")
        mean = torch.zeros(len(SHARES))
        for name, part, judged in rows:
            scores = fused(part, way)
            listed = scores.topk(best, dim=1).indices
            read_too = judged.gather(1, listed)
            figures = torch.stack(
                [ndcg(blended(scores, listed, read_too, share), part.grades) for share in SHARES]
            )
            if name in CHOOSING:
                mean += figures.mean(1) / len(CHOOSING)
            test = paired_t(figures[0].numpy(), figures[SHARES.index(CHOSEN)].numpy())
            print(f"{name:18} {_row(figures.mean(1))}   {test.difference:+.4f}, p {test.p:.4f}")
        print(f"{'chosen on':18} {_row(mean)}")


def _row(figures: Tensor) -> str:
    return " ".join(f"{float(figure):7.4f}" for figure in figures)


if __name__ == "__main__":
    main(sys.argv[1:])
