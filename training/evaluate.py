"""How good are the signals of an encoder, alone and fused with Assay's own BM25?

Linear nDCG@10. Fusion is the product's: lists of 100, reciprocal ranks with k 60, or scores brought
between 0 and 1 by the ends of each list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.arrays import Ragged, fast
from training.model import PAD, VOCABULARY, Encoder, kept_terms

DEPTH = 100
WIDTH, QUERY_WIDTH = 256, 64
MIXTURES = {
    "w.4/.2/.4": (0.4, 0.2, 0.4),
    "w.3/.3/.4": (0.3, 0.3, 0.4),
    "w.2/.3/.5": (0.2, 0.3, 0.5),
}


class Collection:
    """One collection on the device: texts, judgments and BM25's lists."""

    def __init__(self, path: Path, device: str) -> None:
        data = np.load(path)
        self.name = path.stem
        self.documents = Ragged.of(data["document_tokens"], data["document_borders"], device)
        self.queries = Ragged.of(data["query_tokens"], data["query_borders"], device)
        self.part = data["part"]
        shape = (len(self.queries), len(self.documents))
        self.grades = torch.zeros(shape, device=device)
        query, document, grade = torch.from_numpy(data["judgments"].astype(np.int64)).T.to(device)
        self.grades[query, document] = grade.clamp_min(0).float()
        self.bm25 = torch.zeros(shape, device=device)
        if "bm25" in data:
            query, document = torch.from_numpy(data["bm25"].astype(np.int64)).T.to(device)
            self.bm25[query, document] = torch.from_numpy(data["bm25_scores"]).to(device)


def ndcg(scores: Tensor, grades: Tensor, depth: int = 10) -> Tensor:
    """Linear nDCG of every query; what has no score is not found."""
    best = scores.topk(depth, dim=1)
    gains = torch.where(best.values > NONE, grades.gather(1, best.indices), 0.0)
    discount = 1 / torch.log2(torch.arange(2, depth + 2, device=scores.device).float())
    ideal = grades.topk(depth, dim=1).values
    return (gains * discount).sum(1) / (ideal * discount).sum(1).clamp_min(1e-9)


NONE = -1e3


def listed(scores: Tensor) -> Tensor:
    """Scores of the best hundred; all others have none."""
    best = scores.topk(min(DEPTH, scores.shape[1]), dim=1)
    return torch.full_like(scores, NONE * 10).scatter(1, best.indices, best.values)


def lexical(scores: Tensor) -> Tensor:
    """BM25's list: what it did not find has no score."""
    return torch.where(scores > 0, scores, torch.full_like(scores, NONE * 10))


def spread(scores: Tensor) -> Tensor:
    """Scores of a list between 0 and 1; 0 for what is not in it."""
    here = scores > NONE
    high = scores.amax(1, keepdim=True)
    low = torch.where(here, scores, torch.full_like(scores, 1e9)).amin(1, keepdim=True)
    return torch.where(here, (scores - low) / (high - low).clamp_min(1e-9), 0.0)


def votes(scores: Tensor, k: int = 60) -> Tensor:
    """Reciprocal ranks of a list."""
    best = scores.topk(min(DEPTH, scores.shape[1]), dim=1)
    rank = torch.arange(1, best.indices.shape[1] + 1, device=scores.device).float()
    worth = torch.where(best.values > NONE, 1 / (k + rank), 0.0)
    return torch.zeros_like(scores).scatter(1, best.indices, worth)


def fused(bm25: Tensor, sparse: Tensor, dense: Tensor) -> dict[str, Tensor]:
    """The scores of every way to fuse the three lists."""
    lists = (lexical(bm25), listed(sparse), listed(dense))
    ranks, scores = [votes(one) for one in lists], [spread(one) for one in lists]
    made = {"rrf": sum(ranks), "rrf.3/.2/.5": 0.3 * ranks[0] + 0.2 * ranks[1] + 0.5 * ranks[2]}
    for name, weights in MIXTURES.items():
        made[name] = sum(w * one for w, one in zip(weights, scores, strict=True))
    return made


def batches(texts: Ragged, size: int) -> Sequence[Tensor]:
    """Rows of like length together."""
    return texts.length.argsort().split(size)


def even(rows: Tensor) -> Tensor:
    """Rows without columns that only pad, in steps of 16."""
    longest = int((rows != PAD).sum(1).max())
    return rows[:, : -(-longest // 16) * 16]


@torch.no_grad()
def scores(
    model: Encoder, one: Collection, size: int = 128
) -> tuple[list[tuple[Tensor, Tensor]], list[float]]:
    """Per exit: dense and sparse scores of every pair; and how many terms a passage has."""
    device = one.grades.device
    count = len(model.exits)
    dense = [torch.empty(len(one.documents), 384, device=device) for _ in range(count)]
    asked = [torch.empty(len(one.queries), 384, device=device) for _ in range(count)]
    words = torch.empty(len(one.queries), VOCABULARY, device=device)
    for which in batches(one.queries, size):
        ids = even(one.queries.rows(which, QUERY_WIDTH))
        words[which] = model.query_terms(ids)
        with fast(device):
            for at, state in enumerate(model.states(ids)):
                asked[at][which] = model.dense(state, ids, at)
    sparse = [torch.empty_like(one.grades) for _ in range(count)]
    terms = [0.0] * count
    for which in batches(one.documents, size):
        ids = even(one.documents.rows(which, WIDTH))
        with fast(device):
            for at, state in enumerate(model.states(ids)):
                dense[at][which] = model.dense(state, ids, at)
                weights = model.terms(state, ids, at)
                terms[at] += float((weights > 0).sum()) / len(one.documents)
                with torch.autocast("cuda", enabled=False):
                    sparse[at][:, which] = words @ kept_terms(weights).T
    found = [
        (ask @ passages.T, match) for ask, passages, match in zip(asked, dense, sparse, strict=True)
    ]
    return found, terms


Line = dict[str, float]
Lists = dict[str, np.ndarray]


def measured(one: Collection, part: str, dense: Tensor, sparse: Tensor) -> Line:
    """Every figure for one part of a collection's queries."""
    chosen = torch.from_numpy(np.flatnonzero(one.part == part)).to(one.grades.device)
    grades, bm25 = one.grades[chosen], one.bm25[chosen]
    dense, sparse = dense[chosen], sparse[chosen]
    ways = {"bm25": lexical(bm25), "sparse": sparse, "dense": dense, **fused(bm25, sparse, dense)}
    return {name: float(ndcg(made, grades).mean()) for name, made in ways.items()}


def best(scores: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The documents of the best hundred and their scores."""
    found = scores.topk(min(DEPTH, scores.shape[1]), dim=1)
    return found.indices.cpu().numpy().astype(np.uint16), found.values.float().cpu().numpy()


def table(
    model: Encoder, collections: Sequence[Collection], wanted: Callable[[str, str], bool]
) -> tuple[dict[str, Line], Lists]:
    """Figures of every exit on every wanted part of every collection, and the lists of all."""
    model.eval()
    lines: dict[str, Line] = {}
    lists: Lists = {}
    for one in collections:
        parts = [part for part in sorted(set(one.part.tolist())) if wanted(one.name, part)]
        signals, terms = scores(model, one)
        for depth, (dense, sparse), mean in zip(model.exits, signals, terms, strict=True):
            for kind, values in (("dense", dense), ("sparse", sparse)):
                key = f"{one.name}@{depth}/{kind}"
                lists[key], lists[f"{key}/scores"] = best(values)
            for part in parts:
                line = measured(one, part, dense, sparse)
                lines[f"{one.name}/{part}@{depth}"] = line | {"terms": mean}
    return lines, lists


def show(lines: dict[str, Line]) -> str:
    """The figures as a table."""
    names = list(next(iter(lines.values())))
    rows = [" " * 24 + " ".join(f"{name:>11}" for name in names)]
    for key, line in lines.items():
        figures = (
            f"{line[name]:11.4f}" if name != "terms" else f"{line[name]:11.0f}" for name in names
        )
        rows.append(f"{key:24}" + " ".join(figures))
    return "\n".join(rows)
