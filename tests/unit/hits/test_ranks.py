"""Are ranks those of a plain sort by score and id?"""

from __future__ import annotations

import numpy as np
import pytest

from assay.hits.ranks import Scores
from assay.model.arrays import IntArray


def scores(*queries: list[float]) -> Scores:
    sizes = np.array([len(query) for query in queries], dtype=np.int64)
    return Scores.of(
        np.array([value for query in queries for value in query], dtype=np.float64),
        np.cumsum(sizes) - sizes,
        sizes,
    )


def test_only_what_is_not_in_order_is_put_in_order() -> None:
    neat = scores([3, 2, 2], [], [9, 1])
    assert neat.descending is neat.score
    messy = scores([3, 2, 2], [1, 5, 3], [9, 1], [])
    assert messy.messy.tolist() == [False, True, False, False]
    assert messy.descending.tolist() == [3, 2, 2, 5, 3, 1, 9, 1]
    assert messy.score.tolist() == [3, 2, 2, 1, 5, 3, 9, 1]
    assert scores([1, 2], [3, 3], [0, 7, 7]).best().tolist() == [1, 2, 5]


def test_a_query_that_begins_above_the_last_is_in_order() -> None:
    assert not scores([1], [2], [], [3, 3]).messy.any()


@pytest.mark.parametrize("seed", range(5))
def test_against_a_plain_sort(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = [
        rng.integers(0, 1 + seed * 3, int(rng.integers(0, 40))).astype(float) for _ in range(30)
    ]
    names = [[f"d{n}" for n in rng.permutation(100)[: len(value)]] for value in values]
    all_scores = scores(*(value.tolist() for value in values))
    hits = [
        (query, place) for query, value in enumerate(values) for place in range(0, len(value), 2)
    ]
    expected, ties = [], []
    for query, place in hits:
        pairs = list(zip(values[query], names[query], strict=True))
        expected.append(sorted(pairs, reverse=True).index(pairs[place]) + 1)
        ties.append(int((values[query] == values[query][place]).sum()) > 1)

    def ids(chosen: IntArray) -> list[str]:
        return [names[hits[at][0]][hits[at][1]] for at in chosen.tolist()]

    def others(query: int, places: IntArray) -> list[str]:
        return [names[query][place] for place in places.tolist()]

    queries = np.array([query for query, _ in hits], dtype=np.int64)
    own = np.array([values[query][place] for query, place in hits])
    rank, tied = all_scores.ranks(queries, own, ids, others)
    assert rank.tolist() == expected
    assert tied.tolist() == ties


def test_no_scores_and_no_hits() -> None:
    empty = scores([], [])
    none = np.zeros(0, dtype=np.int64)
    rank, tied = empty.ranks(none, np.zeros(0), lambda _: [], lambda *_: [])
    assert len(rank) == len(tied) == 0
