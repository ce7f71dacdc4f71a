"""Does the tuned cross-encoder order candidates better than fusion, and how much should it count?

    python -m training.reranked list FOLDER LISTS.npz
    python -m training.reranked show FOLDER LISTS.npz RERANKED.npz [final]

LISTS is what ``training.train`` or ``training.measure`` wrote. ``list`` writes the best candidates
of fused scores (.3/.3/.4) to ``FOLDER/listed.npz``, which ``training.rerank`` then scores into
RERANKED. ``show`` prints linear nDCG@10 with the best 20 ordered by a share of the cross-encoder's
scores and the rest of fused ones, both brought between 0 and 1; ``final`` also shows NFCorpus'
test queries.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.evaluate import Collection, ndcg, spread
from training.fuse import Part, parts_of, read

FUSED = (0.3, 0.3, 0.4)
LISTED, BEST = 50, 20
SHARES = (0.0, 0.2, 0.3, 0.4, 0.5, 1.0)
DEPTH = 12
UNLISTED = ("covidqa/seen", "scifact/new", "scifact/seen")  # trained on, or part of another


def fused(part: Part) -> Tensor:
    """The fused scores of one part's queries."""
    made = [weight * spread(one) for weight, one in zip(FUSED, part.lists(), strict=True)]
    return torch.stack(made).sum(0)


def even(values: Tensor) -> Tensor:
    """Values of a row between 0 and 1."""
    low = values.amin(1, keepdim=True)
    return (values - low) / (values.amax(1, keepdim=True) - low).clamp_min(1e-6)


def blended(scores: Tensor, listed: Tensor, judged: Tensor, share: float) -> Tensor:
    """Fused scores with the listed documents first, in the order of both."""
    mixed = share * even(judged) + (1 - share) * even(scores.gather(1, listed))
    return (scores - 10).scatter(1, listed, mixed)


def places(folder: Path, names: list[str]) -> dict[str, tuple[str, np.ndarray]]:
    """The collection of each part, and where its queries stand there."""
    return {
        label: (name, here)
        for name in names
        for label, here in parts_of(Collection(folder / f"{name}.npz", "cpu"))
    }


def write_lists(folder: Path, lists: Path) -> None:
    """Write the candidates of every query that is measured; -1 for the others."""
    names = sorted({key.partition("@")[0] for key in np.load(lists)})
    where = places(folder, names)
    found = {
        name: np.full((len(Collection(folder / f"{name}.npz", "cpu").queries), LISTED), -1)
        for name in names
    }
    for part in read(folder, lists, DEPTH):
        if part.name not in UNLISTED:
            name, here = where[part.name]
            found[name][here] = fused(part).topk(LISTED, dim=1).indices.numpy()
    np.savez_compressed(
        folder / "listed.npz", **{name: ids.astype(np.int16) for name, ids in found.items()}
    )


def show(folder: Path, lists: Path, scored: Path, *, final: bool) -> None:
    """Print the figures."""
    candidates, found = np.load(folder / "listed.npz"), np.load(scored)
    where = places(folder, list(candidates))
    print(f"{'':16} " + " ".join(f"{share:>8}" for share in SHARES))
    for part in read(folder, lists, DEPTH):
        if part.name not in where or part.name in UNLISTED:
            continue
        if part.name == "nfcorpus/test" and not final:
            continue
        name, here = where[part.name]
        listed = torch.from_numpy(candidates[name][here].astype(np.int64))[:, :BEST]
        asked = listed[:, 0] >= 0
        listed, grades, scores = listed[asked], part.grades[asked], fused(part)[asked]
        judged = torch.from_numpy(found[f"{name}/after"][here].astype(np.float32))[asked, :BEST]
        figures = [
            float(ndcg(blended(scores, listed, judged, share), grades).mean()) for share in SHARES
        ]
        print(f"{part.name:16} " + " ".join(f"{figure:8.4f}" for figure in figures))


def main(arguments: list[str]) -> None:
    """List candidates, or show figures."""
    torch.set_num_threads(1)
    what, *paths = arguments
    folder, lists, *rest = (Path(each) for each in paths)
    if what == "list":
        write_lists(folder, lists)
    else:
        show(folder, lists, rest[0], final="final" in arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
