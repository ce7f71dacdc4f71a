"""Which wrong answers are hard, and what do the teachers think of them?

    python -m training.mine POOL.npz BGE.npz JUDGE.npz SPLADE.npz OUT.pt

For every query the best passages of two unlike searches together (bge-small's vectors and BM25 over
word pieces) are found, and the cross-encoder reads a few of them and the right one. What does not
change in training is kept: its scores, bge-small's vectors and SPLADE-tiny's terms of all passages.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from training.arrays import Pool, fast, rows_of
from training.model import PAD, SPECIAL, VOCABULARY, Body, Splade, judge, splade, teacher
from training.prepare import KINDS
from training.weights import unpack

CANDIDATES = 8
DEPTH = 30
WIDTH, QUERY_WIDTH = 192, 64
JUDGED = tuple(KINDS.index(kind) for kind in ("title", "question", "claim", "prompt"))
TERMS_KEPT = 256  # of what SPLADE-tiny gives a passage


def floats(path: Path) -> dict[str, Tensor]:
    """The weights of a packed model."""
    return {name: torch.from_numpy(array) for name, array in unpack(dict(np.load(path))).items()}


@torch.no_grad()
def vectors(body: Body, rows: Tensor, batch: int = 2048) -> Tensor:
    """Unit vectors of many texts, in half precision; the shortest are encoded together."""
    order = (rows != PAD).sum(1).argsort()
    found = torch.empty(
        len(rows), body.words.embedding_dim, dtype=torch.float16, device=rows.device
    )
    for at in range(0, len(rows), batch):
        which = order[at : at + batch]
        part = rows[which]
        part = part[:, : _even(int((part != PAD).sum(1).max()))]
        with fast(rows.device):
            state = body(part)[0][:, 0]
        found[which] = functional.normalize(state.float(), dim=-1).half()
    return found


def _even(width: int) -> int:
    """Widths in steps of 16 keep the number of different shapes small."""
    return -(-width // 16) * 16


def term_matrix(pool: Pool, idf: Tensor, k1: float = 1.2, b: float = 0.6) -> Tensor:
    """BM25's weight of every word piece in every document."""
    texts, device = pool.documents, idf.device
    owner = torch.repeat_interleave(torch.arange(len(texts), device=device), texts.length)
    both, count = torch.unique(owner * VOCABULARY + texts.values.long(), return_counts=True)
    row, term = both // VOCABULARY, both % VOCABULARY
    length = texts.length.float() / texts.length.float().mean()
    count = count.float()
    weight = idf[term] * count * (k1 + 1) / (count + k1 * (1 - b + b * length[row]))
    matrix = torch.sparse_coo_tensor(
        torch.stack([row, term]), weight, (len(texts), VOCABULARY), check_invariants=False
    )
    return matrix.coalesce().to_sparse_csr()


@torch.no_grad()
def candidates(pool: Pool, dense: Tensor, asked: Tensor) -> Tensor:
    """Hard wrong answers of every query."""
    device = dense.device
    counts = pool.frequencies(VOCABULARY)
    idf = torch.log(1 + (len(pool.documents) - counts + 0.5) / (counts + 0.5)).clamp_min(0)
    matrix = term_matrix(pool, idf)
    total = len(pool.queries)
    found = torch.empty(total, CANDIDATES, dtype=torch.int32, device=device)
    chance = torch.Generator(device=device).manual_seed(0)
    step = 1024
    for at in range(0, total, step):
        which = torch.arange(at, min(at + step, total), device=device)
        rows = pool.queries.rows(which, QUERY_WIDTH)
        hot = torch.zeros(len(which), VOCABULARY, device=device)
        hot.scatter_(1, rows, 1.0)
        hot[:, :SPECIAL] = 0
        lexical = (matrix @ hot.T).T
        near = asked[which].float() @ dense.float().T
        mixed = lexical / lexical.amax(1, keepdim=True).clamp_min(1e-6)
        low = near.mean(1, keepdim=True)
        mixed = mixed + (near - low) / (near.amax(1, keepdim=True) - low)
        own = pool.document[which][:, None]
        mixed.scatter_(1, own, -1.0)
        best = mixed.topk(DEPTH, dim=1).indices
        # some of the very best and some further down
        order = torch.rand(best.shape, device=device, generator=chance)
        order = order + torch.arange(DEPTH, device=device) / DEPTH
        found[which] = best.gather(1, order.topk(CANDIDATES, dim=1, largest=False).indices).int()
    return found


@torch.no_grad()
def judged(pool: Pool, found: Tensor, path: Path, width: int = 176, batch: int = 4096) -> Tensor:
    """The cross-encoder's scores of right answer and candidates; 0 where it is not asked."""
    device = pool.document.device
    model = judge(floats(path)).to(device).eval()
    total, each = len(pool.queries), 1 + found.shape[1]
    scores = torch.zeros(total * each, device=device)
    asked = torch.isin(pool.kind, torch.tensor(JUDGED, device=device)).nonzero().squeeze(1)
    asked = asked[pool.queries.length[asked].argsort()]
    order = asked.repeat_interleave(each) * each
    order = order + torch.arange(each, device=device).repeat(len(asked))
    for at in range(0, len(order), batch):
        which = order[at : at + batch]
        query, place = which // each, which % each
        with fast(device):
            scores[which] = model(*pair_rows(pool, query, place, found, width))
    return scores.view(total, each)


@torch.no_grad()
def weighed(model: Splade, rows: Tensor, count: int, batch: int = 512) -> tuple[Tensor, Tensor]:
    """The heaviest terms of many texts, and their weights."""
    terms = torch.empty(len(rows), count, dtype=torch.int32, device=rows.device)
    weights = torch.empty(len(rows), count, dtype=torch.float16, device=rows.device)
    for which in (rows != PAD).sum(1).argsort().split(batch):
        part = rows[which]
        part = part[:, : _even(int((part != PAD).sum(1).max()))]
        with fast(rows.device):
            best = model(part).topk(count, dim=1)
        terms[which], weights[which] = best.indices.int(), best.values.half()
    return terms, weights


def pair_rows(
    pool: Pool, query: Tensor, place: Tensor, found: Tensor, width: int
) -> tuple[Tensor, Tensor]:
    """Query and passage as one row, and 1 where a token belongs to the passage."""
    texts = pool.documents
    first = place == 0
    other = found[query, (place - 1).clamp_min(0)].long()
    document = torch.where(first, pool.document[query], other)
    none = torch.zeros_like(query)
    passage = rows_of(
        texts.values,
        texts.start[document],
        texts.length[document],
        width,
        hole=torch.where(first, pool.hole[query], none),
        gap=torch.where(first, pool.gap[query], none),
    )
    return joined(pool.queries.rows(query, QUERY_WIDTH), passage, width)


def joined(asked: Tensor, passage: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Two texts as one row of ``width`` tokens: the first whole, then what fits of the second."""
    used = (asked != PAD).sum(1, keepdim=True)
    at = torch.arange(width, device=asked.device)[None, :].expand(len(asked), -1)
    left = asked.gather(1, at.clamp_max(asked.shape[1] - 1))
    right = passage.gather(1, (at - used + 1).clamp(0, passage.shape[1] - 1))
    second = at >= used
    ids = torch.where(second, right, left)
    return ids, (second & (ids != PAD)).long()


def main(arguments: list[str]) -> None:
    """Write the candidates and what the teachers think of them."""
    source, dense_path, judge_path, splade_path, target = (Path(each) for each in arguments)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    began = time.time()

    def say(text: str) -> None:
        print(f"{time.time() - began:6.1f} s  {text}", flush=True)

    pool = Pool(source, device)
    body = teacher(floats(dense_path)).to(device).eval()
    everyone = torch.arange(len(pool.documents), device=device)
    pairs = torch.arange(len(pool.queries), device=device)
    documents = vectors(body, pool.documents.rows(everyone, WIDTH))
    say("documents")
    passages = vectors(body, pool.passages(pairs, WIDTH))
    asked = vectors(body, pool.queries.rows(pairs, QUERY_WIDTH))
    say("passages and queries")
    found = candidates(pool, documents, asked)
    say("candidates")
    scores = judged(pool, found, judge_path)
    say("judged")
    model = splade(floats(splade_path)).to(device).eval()
    kept = {
        "documents": documents,
        "passages": passages,
        "found": found,
        "judge": scores.half(),
        "document_terms": weighed(model, pool.documents.rows(everyone, WIDTH), TERMS_KEPT),
        "passage_terms": weighed(model, pool.passages(pairs, WIDTH), TERMS_KEPT),
    }
    say("weighed")
    torch.save(kept, target)
    say("written")


if __name__ == "__main__":
    main(sys.argv[1:])
