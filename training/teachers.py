"""What do the general models and BM25 together think of the passages of a batch?

Three unlike searches see every query and every passage: bge-small with its prefix, SPLADE-tiny, and
BM25 over word pieces. Each one's scores are brought to the same range, as fusion does, and added.
Their fused order is better than that of any of them, and it can be had for any text: queries need
no right answer, so that a few words of a sentence are a query, too.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from training.arrays import Pool, fast
from training.mine import floats
from training.model import CLS, PAD, PREFIX, SEP, SPECIAL, VOCABULARY, splade, teacher

K1, B = 1.2, 0.6
MOST_KEYWORDS = 6
RARE = 2.0  # IDF of a word that can stand for a query


class Teachers:
    """The general models, on the device that trains."""

    def __init__(self, folder: Path, pool: Pool) -> None:
        device = pool.document.device
        self._dense = teacher(floats(folder / "bge.npz")).to(device).eval()
        self._sparse = splade(floats(folder / "splade.npz")).to(device).eval()
        counts = pool.frequencies(VOCABULARY)
        self.idf = torch.log(1 + (len(pool.documents) - counts + 0.5) / (counts + 0.5))
        self.idf[:SPECIAL] = 0
        self._length = float(pool.documents.length.float().mean())
        self._inside = pool.inside

    @torch.no_grad()
    def vectors(self, queries: Tensor) -> Tensor:
        """The dense model's vectors of queries, which it reads after its prefix."""
        with fast(queries.device):
            state = self._dense(prefixed(queries))[0][:, 0]
        return functional.normalize(state.float(), dim=-1)

    @torch.no_grad()
    def passage_vectors(self, passages: Tensor) -> Tensor:
        """The dense model's vectors of passages."""
        with fast(passages.device):
            state = self._dense(passages)[0][:, 0]
        return functional.normalize(state.float(), dim=-1)

    @torch.no_grad()
    def terms(self, texts: Tensor) -> Tensor:
        """The sparse model's terms."""
        with fast(texts.device):
            return self._sparse(texts)

    @torch.no_grad()
    def lexical(self, queries: Tensor, passages: Tensor) -> Tensor:
        """BM25's scores over word pieces."""
        counts = torch.zeros(len(passages), VOCABULARY, device=passages.device)
        counts.scatter_add_(1, passages, torch.ones_like(passages, dtype=counts.dtype))
        length = (passages != PAD).sum(1, keepdim=True) / self._length
        weights = self.idf * counts * (K1 + 1) / (counts + K1 * (1 - B + B * length))
        asked = torch.zeros(len(queries), VOCABULARY, device=queries.device)
        return asked.scatter_(1, queries, 1.0) @ weights.T

    @torch.no_grad()
    def keywords(self, queries: Tensor) -> tuple[Tensor, Tensor]:
        """Queries cut to one to six of their rare words; and which had enough of them."""
        device, width = queries.device, queries.shape[1]
        real = (queries != PAD) & (queries != CLS) & (queries != SEP)
        word = ((real & ~self._inside[queries]).cumsum(1) - 1).clamp_min(0)
        rarity = torch.where(real, self.idf[queries], 0.0)
        worth = torch.zeros_like(rarity).scatter_reduce(1, word, rarity, "amax")
        noise = -torch.log(-torch.log(torch.rand(worth.shape, device=device).clamp(1e-6, 1 - 1e-6)))
        score = torch.where(worth > RARE, 2 * worth.clamp_min(1e-3).log() + noise, -1e4)
        count = torch.randint(1, MOST_KEYWORDS + 1, (len(queries), 1), device=device)
        rank = score.argsort(1, descending=True).argsort(1)
        chosen = (rank < count) & (worth > RARE)
        keep = chosen.gather(1, word) & real
        keep[:, 0] = True
        order = (~keep).int().argsort(dim=1, stable=True)
        at, total = torch.arange(width, device=device), keep.sum(1, keepdim=True)
        found = torch.where(at < total, queries.gather(1, order), PAD)
        found = torch.where(at == total, SEP, found)
        return found, (worth > RARE).sum(1) > 3


def prefixed(queries: Tensor) -> Tensor:
    """Queries with the dense model's prefix after the first token."""
    prefix = torch.tensor(PREFIX, device=queries.device).expand(len(queries), -1)
    return torch.cat([queries[:, :1], prefix, queries[:, 1:]], 1)


def spread(scores: Tensor) -> Tensor:
    """Scores of a row so that its mean is 0 and its best 1."""
    low = scores.mean(1, keepdim=True)
    return (scores - low) / (scores.amax(1, keepdim=True) - low).clamp_min(1e-6)
