"""Which passage tells most about the lists that were pooled?

A passage that one list has first and another does not have at all decides between them; one that
all have in the same place decides nothing. The weight of a passage is the standard deviation of its
discounts, ``1 / log2(rank + 1)``, over the lists. Passages are drawn in proportion to it without
replacement (Efraimidis and Spirakis 2006), so that whatever has been judged when a person stops is
a random sample: the heaviest first would mostly be what many lists share, and a list that finds
something of its own would look worse than it is. ``reproduce/judging.yaml`` has the figures.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence

import numpy as np

from assay.model.annotation import Item, ItemKey
from assay.model.arrays import FloatArray

DEPTH = 10  # ranks that count, as in nDCG@10
SHRINK = 4  # judged passages that a query's own mean must outweigh
LEAST = 0.01  # of the largest weight: what all lists agree on is drawn late, not never


def discounts(items: Sequence[Item], depth: int = DEPTH) -> tuple[tuple[str, ...], FloatArray]:
    """The lists, and a row an item: its discount in each of them, 0 below ``depth``."""
    names = tuple(sorted({name for item in items for name in item.found_by}))
    found = np.zeros((len(items), len(names)))
    for row, item in enumerate(items):
        for column, name in enumerate(names):
            rank = item.found_by.get(name)
            if rank is not None and rank <= depth:
                found[row, column] = 1 / math.log2(rank + 1)
    return names, found


def weights(items: Sequence[Item], depth: int = DEPTH) -> dict[ItemKey, float]:
    """How much the lists differ about each item."""
    if not items:
        return {}
    _, table = discounts(items, depth)
    spread = table.std(axis=1)
    least = LEAST * float(spread.max()) or 1.0
    return {item.key: max(float(w), least) for item, w in zip(items, spread, strict=True)}


def drawn(items: Sequence[Item], seed: int, depth: int = DEPTH) -> tuple[Item, ...]:
    """The items in the order in which they are drawn; every beginning of it is a sample."""
    weight = weights(items, depth)

    def late(item: Item) -> tuple[float, ItemKey]:
        digest = hashlib.sha256("\0".join((str(seed), *item.key)).encode()).digest()
        uniform = (int.from_bytes(digest[:8], "big") + 1) / 2**64
        return -math.log(uniform) / weight[item.key], item.key

    return tuple(sorted(items, key=late))


def within_budget(items: Sequence[Item], budget: int, seed: int) -> tuple[Item, ...]:
    """The first ``budget`` items that are drawn, in the order in which they came."""
    kept = {item.key for item in drawn(items, seed)[:budget]}
    return tuple(item for item in items if item.key in kept)


def depth_within(items: Sequence[Item], budget: int, depth: int) -> int:
    """The largest depth at which no more than ``budget`` of the items are pooled; at least 1."""
    best = [min(item.found_by.values()) for item in items]
    return next((d for d in range(depth, 1, -1) if sum(rank <= d for rank in best) <= budget), 1)


def expected_gains(
    items: Sequence[Item], grades: Mapping[ItemKey, int], depth: int = DEPTH
) -> FloatArray:
    """The gain ``2^grade - 1`` of every item: judged ones as judged, others as their ranks suggest.

    A ridge regression on the places in each list, and the mean residual of the query, shrunk.
    """
    _, table = discounts(items, depth)
    features = np.hstack([np.ones((len(items), 1)), table, (table > 0).astype(float)])
    judged = np.array([item.key in grades for item in items], bool)
    gains = np.array([2.0 ** grades.get(item.key, 0) - 1 for item in items])
    if not judged.any():
        return np.zeros(len(items))
    known, said = features[judged], gains[judged]
    solved = np.linalg.solve(known.T @ known + np.eye(known.shape[1]), known.T @ said)
    guess = features @ solved
    rest: dict[str, list[float]] = {}
    for item, gain, guessed in zip(items, gains, guess, strict=True):
        if item.key in grades:
            rest.setdefault(item.query_id, []).append(float(gain - guessed))
    shift = {query: sum(left) / (len(left) + SHRINK) for query, left in rest.items()}
    guess = guess + np.array([shift.get(item.query_id, 0.0) for item in items])
    return np.where(judged, gains, np.clip(guess, 0.0, None))


def estimates(
    items: Sequence[Item], grades: Mapping[ItemKey, int], depth: int = DEPTH
) -> dict[str, float]:
    """NDCG of each list over the pooled queries, with expected gains where nobody has judged."""
    names, table = discounts(items, depth)
    gains = expected_gains(items, grades, depth)
    total = np.zeros(len(names))
    queries: dict[str, list[int]] = {}
    for row, item in enumerate(items):
        queries.setdefault(item.query_id, []).append(row)
    ideal_discounts = 1 / np.log2(np.arange(2, depth + 2))
    for rows in queries.values():
        best = np.sort(gains[rows])[::-1][:depth]
        ideal = float((best * ideal_discounts[: len(best)]).sum())
        if ideal > 0:
            total += (table[rows] * gains[rows][:, None]).sum(axis=0) / ideal
    return {name: float(value) / len(queries) for name, value in zip(names, total, strict=True)}
