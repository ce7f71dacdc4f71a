"""What do the general models find that shipped before, measured in the same way?

    python -m training.today FOLDER OUT

The dense model reads its own prefix before a query; both read the first 256 tokens, as they do in
the product. FOLDER is that of ``training.train``; the lists for ``training.fuse`` go to OUT.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.arrays import Pool
from training.evaluate import QUERY_WIDTH, WIDTH, Collection, Lists, batches, best, even
from training.model import VOCABULARY
from training.prepare import COLLECTIONS
from training.teachers import Teachers


@torch.no_grad()
def scores(teachers: Teachers, one: Collection, size: int = 256) -> tuple[Tensor, Tensor]:
    """Dense and sparse scores of every pair."""
    device = one.grades.device
    asked = torch.empty(len(one.queries), 384, device=device)
    words = torch.empty(len(one.queries), VOCABULARY, device=device)
    for which in batches(one.queries, size):
        ids = even(one.queries.rows(which, QUERY_WIDTH))
        asked[which], words[which] = teachers.vectors(ids), teachers.terms(ids)
    dense, sparse = torch.empty_like(one.grades), torch.empty_like(one.grades)
    for which in batches(one.documents, size):
        ids = even(one.documents.rows(which, WIDTH))
        dense[:, which] = asked @ teachers.passage_vectors(ids).T
        sparse[:, which] = words @ teachers.terms(ids).T
    return dense, sparse


def main(arguments: list[str]) -> None:
    """Write the lists of every collection."""
    folder, out = Path(arguments[0]), Path(arguments[1])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    teachers = Teachers(folder, Pool(folder / "pool.npz", device))
    lists: Lists = {}
    for path in sorted(folder.glob("*.npz")):
        if path.stem in (*COLLECTIONS, "evidence"):
            for kind, found in zip(
                ("dense", "sparse"), scores(teachers, Collection(path, device)), strict=True
            ):
                key = f"{path.stem}@12/{kind}"
                lists[key], lists[f"{key}/scores"] = best(found)
    np.savez_compressed(out / "today-lists.npz", **lists)


if __name__ == "__main__":
    main(sys.argv[1:])
