"""What does one batch ask of the encoder?

A batch has queries, the right answer of each and a few hard wrong ones; every passage is a possible
answer to every query. Dense and sparse scores are pulled towards

- the right answer (``contrast``), where MeSH headings grade what else is right (``mesh``);
- the similarities that the dense teacher sees in the batch (``likeness``);
- the order in which four teachers together put a query's own candidates (``listwise``).

Vectors also stay near those of the start (``anchor``), passages that share rare headings near each
other, and terms few (``sparsity``).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from training.arrays import Pool
from training.recipe import Recipe

MINUS = -1e4
TEACHERS = ("dense", "judge", "bm25", "splade")


@dataclass(slots=True)
class Batch:
    """Texts, what the teachers think of them, and what is to be learned."""

    queries: Tensor
    passages: Tensor  # right answers first, then every query's wrong ones
    owner: Tensor  # the document of each passage
    query_vectors: Tensor  # the dense teacher's
    passage_vectors: Tensor
    same: Tensor  # another copy of the right answer
    hide: Tensor  # neither right nor clearly wrong
    right: Tensor  # how right each passage is, as a distribution
    likeness: Tensor  # the dense teacher's similarities, as a distribution
    listed: Tensor  # the columns of a query's own candidates
    order: Tensor  # how the teachers order them, as a distribution


class Lessons:
    """Draws batches from the pool as a recipe wants them."""

    def __init__(
        self,
        pool: Pool,
        taught: dict[str, Tensor],
        recipe: Recipe,
        chances: Tensor,
        labelled: Tensor,
    ) -> None:
        self._pool, self._taught, self._recipe = pool, taught, recipe
        self._chances, self._labelled = chances, labelled
        # differences between candidates get the same spread, whoever judges
        self._scales = {
            name: float((taught[name][:, 1:] - taught[name][:, :1]).float().std()) / 3
            for name in TEACHERS
        }

    @torch.no_grad()
    def batch(self) -> Batch:
        """One batch."""
        pool, taught, recipe = self._pool, self._taught, self._recipe
        size, wrong = recipe.batch, recipe.wrong
        pair = torch.multinomial(self._chances, size, replacement=True)
        device = pair.device
        every = taught["found"].shape[1]
        which = torch.rand(size, every, device=device).argsort(1)[:, :wrong]
        other = taught["found"][pair].long().gather(1, which).reshape(-1)
        document = pool.document[pair]
        owner = torch.cat([document, other])
        texts = torch.cat(
            [pool.passages(pair, recipe.width), pool.documents.rows(other, recipe.width)]
        )
        query_vectors = taught["queries"][pair].float()
        passage_vectors = torch.cat([taught["passages"][pair], taught["documents"][other]]).float()
        sight = query_vectors @ passage_vectors.T / recipe.temperature
        row = torch.arange(size, device=device)
        right = functional.one_hot(row, len(owner)).float()
        same = (owner[None] == document[:, None]) & (right == 0)
        # what a teacher prefers to the right answer is no clear mistake, unless people judged it
        trusted = self._labelled[pool.kind[pair]][:, None]
        unclear = (sight > sight[row, row][:, None] + 1.0) & ~trusted
        graded, named = self._graded(pair, owner, right, same)
        unclear = unclear | (named & (graded > 0.05) & (right == 0))
        target = graded / graded.sum(1, keepdim=True)
        columns = size + row[:, None] * wrong + torch.arange(wrong, device=device)
        return Batch(
            queries=pool.queries.rows(pair, recipe.query_width),
            passages=texts,
            owner=owner,
            query_vectors=query_vectors,
            passage_vectors=passage_vectors,
            same=same,
            hide=same | (unclear & (target < 0.01)),
            right=target,
            likeness=sight.masked_fill(same, MINUS).softmax(1),
            listed=torch.cat([row[:, None], columns], 1),
            order=self._order(pair, which, trusted),
        )

    def _graded(
        self, pair: Tensor, owner: Tensor, right: Tensor, same: Tensor
    ) -> tuple[Tensor, Tensor]:
        """How right each passage is by the headings a query names, and which queries name any."""
        pool, weight = self._pool, self._recipe.mesh
        if not weight:
            return right, torch.zeros_like(right[:, :1], dtype=torch.bool)
        asked = pool.asked.many_hot(pair, len(pool.rarity), pool.rarity)
        about = pool.mesh.many_hot(owner, len(pool.rarity), pool.rarity.new_ones(1))
        total = asked.sum(1, keepdim=True)
        part = ((asked @ about.T) / total.clamp_min(1e-6)).clamp(0, 1)
        graded = torch.where(total > 0, part**6, 0.0)
        return torch.where(right > 0, 1.0, graded * weight).masked_fill(same, 0), total > 0

    def _order(self, pair: Tensor, which: Tensor, trusted: Tensor) -> Tensor:
        """How the teachers order a query's candidates; the right one keeps a share of its own."""
        recipe = self._recipe
        columns = functional.pad(which + 1, (1, 0))
        total = torch.zeros(columns.shape, device=pair.device)
        weights = (recipe.teach_dense, recipe.teach_judge, recipe.teach_bm25, recipe.teach_splade)
        for name, weight in zip(TEACHERS, weights, strict=True):
            values = self._taught[name][pair].gather(1, columns).float()
            total += weight * values / self._scales[name]
        first = torch.zeros_like(total)
        first[:, 0] = 1
        belief = torch.where(trusted, 0.7, 0.4)
        return belief * first + (1 - belief) * total.softmax(1)


def soft_cross_entropy(scores: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy with a distribution as target."""
    return -(target * scores.log_softmax(1)).sum(1).mean()


def divergence(scores: Tensor, target: Tensor) -> Tensor:
    """How far a distribution is from its target."""
    return functional.kl_div(scores.log_softmax(1), target, reduction="batchmean")


def dense_loss(recipe: Recipe, batch: Batch, query: Tensor, passage: Tensor, pool: Pool) -> Tensor:
    """What the vectors are to learn."""
    near = (query @ passage.T / recipe.temperature).masked_fill(batch.same, MINUS)
    moved = (1 - (query * batch.query_vectors).sum(1)).mean()
    moved = moved + (1 - (passage * batch.passage_vectors).sum(1)).mean()
    loss = recipe.likeness * divergence(near, batch.likeness) + recipe.anchor * moved
    loss = loss + recipe.contrast * soft_cross_entropy(
        near.masked_fill(batch.hide, MINUS), batch.right
    )
    if recipe.listwise:
        loss = loss + recipe.listwise * soft_cross_entropy(
            near.gather(1, batch.listed), batch.order
        )
    if recipe.mesh:
        loss = loss + recipe.mesh * alike(pool, batch.owner[: len(query)], passage[: len(query)])
    return loss


def sparse_loss(recipe: Recipe, batch: Batch, query: Tensor, terms: Tensor) -> Tensor:
    """What the terms are to learn."""
    size = len(query)
    match = (query @ terms.T).masked_fill(batch.same, MINUS)
    back = functional.cross_entropy(match[:, :size].T, torch.arange(size, device=match.device))
    loss = recipe.sparse_contrast * (
        soft_cross_entropy(match.masked_fill(batch.hide, MINUS), batch.right) + 0.5 * back
    )
    loss = loss + 0.5 * divergence(match, batch.likeness)
    if recipe.listwise:
        loss = loss + recipe.listwise * soft_cross_entropy(
            match.gather(1, batch.listed), batch.order
        )
    return loss


def alike(pool: Pool, document: Tensor, passage: Tensor) -> Tensor:
    """Passages that share rare headings should be near each other."""
    chosen = (pool.mesh.length[document] > 0).nonzero().squeeze(1)
    if len(chosen) < 8:
        return passage.new_zeros(())
    with torch.no_grad():
        about = pool.mesh.many_hot(document[chosen], len(pool.rarity), pool.rarity)
        about = functional.normalize(about, dim=1)
        itself = torch.eye(len(chosen), device=passage.device, dtype=torch.bool)
        target = (about @ about.T / 0.08).masked_fill(itself, MINUS).softmax(1)
    here = passage[chosen]
    return divergence((here @ here.T / 0.05).masked_fill(itself, MINUS), target)
