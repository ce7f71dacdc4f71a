"""Which judged documents does a block of rows hold, and at which ranks?

The work is a few passes over 64-bit hashes: one finds duplicates (a sort), one finds the judged
rows (a bitmap, then a binary search, then the strings themselves). Scores in order have their rank
by position, and only groups of equal scores that hold a judged document are put in order by id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError
from assay.hits.rows import HashArray, Rows, hashes

if TYPE_CHECKING:
    import polars as pl

    from assay.model.arrays import BoolArray, FloatArray, IntArray
    from assay.model.judgments import Qrels

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying loses nothing
_BITMAP_BITS = (16, 22)  # at least and at most; a small one stays in the processor's cache


class DuplicateRowError(InputError):
    """Two rows of one query name the same document."""

    def __init__(self, query: str, doc: str, first: int, second: int) -> None:
        super().__init__(f"query {query!r} has document {doc!r} twice")
        self.query, self.doc, self.first, self.second = query, doc, first, second


@dataclass(frozen=True, slots=True)
class Block:
    """What a block adds to the table; queries are positions in the qrels."""

    query: IntArray
    rank: IntArray
    grade: IntArray
    tied: BoolArray
    group_names: list[str]
    group_sizes: IntArray
    group_top: FloatArray


class JudgedIndex:
    """The judgments, ready to be looked up by hash."""

    def __init__(self, qrels: Qrels) -> None:
        import polars as pl

        self.position = qrels.position
        self.grade = qrels.grade
        self._query = qrels.query
        self._docs = pl.Series(qrels.docs, dtype=pl.String)
        names = hashes(pl.Series(qrels.queries, dtype=pl.String))
        keys = (names * _SPREAD)[qrels.query] ^ hashes(self._docs)
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        # how many judgments share a hash: one, unless someone sought a collision
        self._most = int(np.unique(keys, return_counts=True)[1].max(initial=0))
        low, high = _BITMAP_BITS
        bits = min(max(len(keys).bit_length() + 6, low), high)
        self._shift = np.uint64(64 - bits)
        self._bitmap = np.zeros(1 << bits, dtype=np.bool_)
        self._bitmap[self._slot(keys)] = True

    def find(
        self, keys: HashArray, docs: pl.Series, starts: IntArray, positions: IntArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Rows that are judged, the group of each, and the judgment that it meets.

        ``positions`` tells for each group where its query stands in the qrels; −1 is outside.
        """
        rows = np.flatnonzero(self._bitmap[self._slot(keys)])
        groups = np.searchsorted(starts, rows, side="right") - 1
        inside = positions[groups] >= 0
        rows, groups = rows[inside], groups[inside]
        first = np.searchsorted(self._keys, keys[rows])
        found = [np.zeros((3, 0), dtype=np.int64)]
        for step in range(self._most):
            at = np.minimum(first + step, len(self._keys) - 1)
            equal = self._keys[at] == keys[rows]
            row, group, judgment = rows[equal], groups[equal], self._order[at[equal]]
            same = (self._docs.gather(judgment) == docs.gather(row)).to_numpy()
            same &= (self._query[judgment] == positions[group]) & (first + step == at)[equal]
            found.append(np.stack((row[same], group[same], judgment[same])))
        row, group, judgment = np.concatenate(found, axis=1)
        return row, group, judgment

    def _slot(self, keys: HashArray) -> IntArray:
        return (keys >> self._shift).view(np.int64)


def reduce_block(index: JudgedIndex, rows: Rows) -> Block:
    """The judged hits of a block."""
    starts, score, names = rows.starts, rows.score, rows.names()
    sizes = np.diff(starts, append=len(rows))
    positions = np.array([index.position.get(name, -1) for name in names], dtype=np.int64)
    keys = np.repeat(hashes(rows.query.gather(starts)) * _SPREAD, sizes) ^ hashes(rows.doc)
    _refuse_duplicates(keys, rows)
    found, group, judgment = index.find(keys, rows.doc, starts, positions)
    order = _order(score, starts, sizes)
    place = found if order is None else _inverse(order)[found]
    ordered = score if order is None else score[order]
    rank = place - starts[group] + 1
    tied = _tied(ordered, place, starts[group], starts[group] + sizes[group])
    if tied.any():
        rank[tied] += _tie_shift(ordered, place[tied], starts, rows.doc, order)
    return Block(
        query=positions[group],
        rank=rank,
        grade=index.grade[judgment],
        tied=tied,
        group_names=names,
        group_sizes=sizes,
        group_top=ordered[starts],
    )


def _refuse_duplicates(keys: HashArray, rows: Rows) -> None:
    """Of all documents that come again, the one that does so first is named."""
    ordered = np.sort(keys)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(repeated):
        return
    suspects = np.flatnonzero(np.isin(keys, repeated))
    origin = suspects if rows.origin is None else rows.origin[suspects]
    by_origin = np.argsort(origin)
    suspects, origin = suspects[by_origin], origin[by_origin]
    _, first, group = np.unique(keys[suspects], return_index=True, return_inverse=True)
    again = int(np.argmax(first[group] < np.arange(len(group))))
    likely = [int(first[group[again]]), again]
    _refuse_twice(suspects[likely], origin[likely], rows)
    _refuse_twice(suspects, origin, rows)  # two hashes collided, so all strings have to be seen


def _refuse_twice(suspects: IntArray, origin: IntArray, rows: Rows) -> None:
    queries, docs = rows.query.gather(suspects).to_list(), rows.doc.gather(suspects).to_list()
    seen: dict[tuple[str, str], int] = {}
    for pair, came in zip(zip(queries, docs, strict=True), origin.tolist(), strict=True):
        if pair in seen:
            raise DuplicateRowError(pair[0], pair[1], seen[pair], came)
        seen[pair] = came


def _order(score: FloatArray, starts: IntArray, sizes: IntArray) -> IntArray | None:
    """The rows by query and descending score; None where they already stand so."""
    rising = score[1:] > score[:-1]
    rising[starts[1:] - 1] = False
    if not rising.any():
        return None
    return np.lexsort((-score, np.repeat(np.arange(len(starts)), sizes)))


def _inverse(order: IntArray) -> IntArray:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse


def _tied(ordered: FloatArray, place: IntArray, start: IntArray, end: IntArray) -> BoolArray:
    """Does a judged row share its score with the row above or below it in its query?"""
    score = ordered[place]
    above = (place > start) & (ordered[np.maximum(place - 1, 0)] == score)
    below = (place + 1 < end) & (ordered[np.minimum(place + 1, len(ordered) - 1)] == score)
    result: BoolArray = above | below
    return result


def _tie_shift(
    ordered: FloatArray,
    place: IntArray,
    starts: IntArray,
    doc: pl.Series,
    order: IntArray | None,
) -> IntArray:
    """How far the id (descending) moves each tied row from where it stands in the block."""
    import polars as pl

    same = np.zeros(len(ordered), dtype=np.bool_)
    same[1:] = ordered[1:] == ordered[:-1]
    same[starts] = False
    run = np.cumsum(~same) - 1
    wanted = np.zeros(int(run[-1]) + 1, dtype=np.bool_)
    wanted[run[place]] = True
    members = np.flatnonzero(wanted[run])
    rows = members if order is None else order[members]
    frame = pl.DataFrame({"run": run[members], "doc": doc.gather(rows), "place": members})
    by_id = frame.sort(["run", "doc"], descending=[False, True])["place"].to_numpy()
    target = np.empty(len(ordered), dtype=np.int64)
    target[by_id] = members
    moved: IntArray = target[place] - place
    return moved
