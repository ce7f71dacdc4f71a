"""Are the best rows of many blocks those of one, whatever ties and whatever masks allow?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import compiled
from assay.errors import CorruptError
from assay.index.postings import BlockPostings, Postings
from assay.model.arrays import BoolArray

pytestmark = pytest.mark.usefixtures("loops")

FIELDS, TERMS, CODES = 2, 6, 5


def block(rng: np.random.Generator, size: int) -> BlockPostings:
    """Random postings of some rows; few values, so that scores tie."""
    rows = [np.flatnonzero(rng.random(size) < share) for share in rng.random(TERMS)]
    every = np.concatenate(rows).astype(np.uint16)
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    codes = rng.integers(0, CODES, len(every)).astype(np.uint16)
    values = rng.integers(1, 4, (FIELDS, CODES)).astype(np.float32)
    return BlockPostings(Path("nowhere"), size, starts, every, codes, values)


def by_sorting(
    blocks: Sequence[BlockPostings],
    terms: np.ndarray,
    masks: Sequence[BoolArray | None],
    k: int,
) -> dict[tuple[int, int], float]:
    fields, factors = np.arange(TERMS, dtype=np.int32) % FIELDS, np.ones(TERMS, dtype=np.float32)
    every = {
        (number, row): float(score)
        for number, (one, here, mask) in enumerate(zip(blocks, terms, masks, strict=True))
        for row, score in enumerate(one.scores(fields, here, factors))
        if score > 0 and (mask is None or mask[row])
    }
    best = sorted(every.values(), reverse=True)[:k]
    return {place: score for place, score in every.items() if score >= best[-1]}


@given(
    sizes=st.lists(st.integers(1, 300), min_size=1, max_size=4),
    k=st.integers(1, 20),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_best_are_those_of_all_blocks(sizes: list[int], k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    blocks = [block(rng, size) for size in sizes]
    terms = rng.integers(-1, TERMS, (len(blocks), TERMS)).astype(np.int32)
    terms = np.sort(terms, axis=1)
    masks = [rng.random(size) < 0.5 if rng.random() < 0.5 else None for size in sizes]
    fields = np.arange(TERMS, dtype=np.int32) % FIELDS
    every = Postings(blocks).best(fields, terms, np.ones(TERMS, dtype=np.float32), masks, k)
    found = {
        (one.block, row): score
        for one in every
        for row, score in zip(one.rows.tolist(), one.scores.tolist(), strict=True)
    }
    wanted = by_sorting(blocks, terms, masks, k)
    assert {place: found.get(place) for place in wanted} == wanted


def test_more_ties_than_there_is_room_for_all_come_back() -> None:
    size = 5_000
    rows = np.arange(size, dtype=np.uint16)
    one = BlockPostings(
        Path("nowhere"), size, np.array([0, size]), rows, np.zeros_like(rows),
        np.ones((1, 1), dtype=np.float32),
    )  # fmt: skip
    none, one_term = np.zeros(1, dtype=np.int32), np.zeros((1, 1), dtype=np.int32)
    (found,) = Postings([one]).best(none, one_term, np.ones(1, dtype=np.float32), [None], 3)
    assert len(found.rows) == size


@pytest.mark.parametrize("wrong", ["rows", "codes", "starts"])
def test_postings_outside_of_their_block_are_refused(wrong: str) -> None:
    rng = np.random.default_rng(1)
    sound = block(rng, 50)
    damaged = getattr(sound, wrong).copy()
    damaged[-1] = 60_000
    bad = Postings([sound._replace(**{wrong: damaged})])
    terms = np.full((1, 1), TERMS - 1, dtype=np.int32)
    fields, factors = np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.float32)
    if wrong == "starts":  # arrays end where their data do
        compiled.library() or pytest.skip("arrays end by themselves")
    with pytest.raises((CorruptError, IndexError)):
        [*bad.best(fields, terms, factors, [None], 5)]
