"""What does one batch ask of the encoder?

A batch has queries, the right answer of each and a few hard wrong ones; every passage is a possible
answer to every query. Dense and sparse scores are pulled towards

- what the general models and BM25 think of the whole batch (``likeness``);
- the right answer (``contrast``), where MeSH headings grade what else is right (``mesh``);
- the order of a query's own candidates, in which the cross-encoder has a say (``listwise``).

Vectors also stay near those of the start (``anchor``), passages that share rare headings near each
other, and terms few (``sparsity``). Some queries are only a few words of a longer one, and some
passages keep the sentence that was taken out as query, because searchers' words do stand in
passages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from training.arrays import Pool
from training.model import VOCABULARY
from training.recipe import Recipe
from training.teachers import Teachers, spread

MINUS = -1e4
CLEARLY = 0.05  # how much better, by the teachers, a passage is that counts as right, too


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
    likeness: Tensor  # how all teachers see the batch, as a distribution
    nearness: Tensor  # the same for vectors
    listed: Tensor  # the columns of a query's own candidates
    order: Tensor  # how the teachers order them, as a distribution


class Lessons:
    """Draws batches from the pool as a recipe wants them."""

    def __init__(  # noqa: PLR0917 - what a training has
        self,
        pool: Pool,
        teachers: Teachers,
        taught: dict[str, Any],
        recipe: Recipe,
        chances: Tensor,
        labelled: Tensor,
    ) -> None:
        self._pool, self._teachers, self._taught, self._recipe = pool, teachers, taught, recipe
        self._chances, self._labelled = chances, labelled
        judge = taught["judge"]
        judge = judge[judge.any(1)].float()
        self._scale = float((judge[:, 1:] - judge[:, :1]).std()) / 3

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
        queries, short = self._queries(pair)
        whole = short | (torch.rand(size, device=device) < recipe.whole)
        kept, holed = pool.documents.rows(document, recipe.width), pool.passages(pair, recipe.width)
        right_rows = torch.where(whole[:, None], kept, holed)
        texts = torch.cat([right_rows, pool.documents.rows(other, recipe.width)])
        query_vectors = self._teachers.vectors(queries)
        first = torch.where(whole[:, None], taught["documents"][document], taught["passages"][pair])
        passage_vectors = torch.cat([first, taught["documents"][other]]).float()
        near = query_vectors @ passage_vectors.T
        fused = self._fused(queries, texts, near, self._terms(pair, document, other, whole))
        row = torch.arange(size, device=device)
        right = functional.one_hot(row, len(owner)).float()
        same = (owner[None] == document[:, None]) & (right == 0)
        # what the teachers prefer to the right answer is no clear mistake, unless people judged it
        trusted = (self._labelled[pool.kind[pair]] & ~short)[:, None]
        unclear = (fused > fused[row, row][:, None] + CLEARLY) & ~trusted
        graded, named = self._graded(pair, owner, right, same)
        unclear = unclear | (named & (graded > 0.05) & (right == 0))
        target = graded / graded.sum(1, keepdim=True)
        columns = size + row[:, None] * wrong + torch.arange(wrong, device=device)
        listed = torch.cat([row[:, None], columns], 1)
        likeness = (fused / recipe.peak).masked_fill(same, MINUS).softmax(1)
        alone = (near / recipe.temperature).masked_fill(same, MINUS).softmax(1)
        return Batch(
            queries=queries,
            passages=texts,
            owner=owner,
            query_vectors=query_vectors,
            passage_vectors=passage_vectors,
            same=same,
            hide=same | (unclear & (target < 0.01)),
            right=target,
            likeness=likeness,
            nearness=recipe.together * likeness + (1 - recipe.together) * alone,
            listed=listed,
            order=self._order(pair, which, fused.gather(1, listed), trusted, short),
        )

    def _queries(self, pair: Tensor) -> tuple[Tensor, Tensor]:
        """The queries, some cut to a few words, and which are."""
        rows = self._pool.queries.rows(pair, self._recipe.query_width)
        words, enough = self._teachers.keywords(rows)
        short = enough & (torch.rand(len(rows), device=rows.device) < self._recipe.keywords)
        return torch.where(short[:, None], words, rows), short

    def _terms(self, pair: Tensor, document: Tensor, other: Tensor, whole: Tensor) -> Tensor:
        """SPLADE-tiny's terms of the passages."""
        (terms, weights), (own, own_weights) = (
            self._taught["document_terms"],
            self._taught["passage_terms"],
        )
        here = whole[:, None]
        terms = torch.cat([torch.where(here, terms[document], own[pair]), terms[other]])
        first = torch.where(here, weights[document], own_weights[pair])
        weights = torch.cat([first, weights[other]]).float()
        full = torch.zeros(len(terms), VOCABULARY, device=terms.device)
        return full.scatter_(1, terms.long(), weights)

    def _fused(self, queries: Tensor, texts: Tensor, near: Tensor, terms: Tensor) -> Tensor:
        """The fused scores of three unlike searches; about 1 for the best passage."""
        recipe, teachers = self._recipe, self._teachers
        found = recipe.teach_dense * spread(near)
        found = found + recipe.teach_splade * spread(teachers.terms(queries) @ terms.T)
        return found + recipe.teach_bm25 * spread(teachers.lexical(queries, texts))

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

    def _order(
        self, pair: Tensor, which: Tensor, fused: Tensor, trusted: Tensor, short: Tensor
    ) -> Tensor:
        """How the teachers order a query's candidates; the right one keeps a share of its own."""
        recipe = self._recipe
        judge = self._taught["judge"][pair].gather(1, functional.pad(which + 1, (1, 0))).float()
        # the cross-encoder has read the long query only
        judge = torch.where(short[:, None], 0.0, recipe.teach_judge * judge / self._scale)
        first = torch.zeros_like(fused)
        first[:, 0] = 1
        belief = torch.where(trusted, 0.7, torch.where(short[:, None], 0.1, 0.4))
        return belief * first + (1 - belief) * (fused / recipe.peak + judge).softmax(1)


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
    loss = recipe.likeness * divergence(near, batch.nearness) + recipe.anchor * moved
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
    loss = loss + recipe.sparse_likeness * divergence(match, batch.likeness)
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
