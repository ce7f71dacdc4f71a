"""Which judged documents does a block of rows hold, and at which ranks?

A block is (query, document, score) columns in which the rows of a query stand together. The work
is a few passes over 64-bit hashes: one finds duplicates (a sort), one finds the judged rows (a
bitmap, then a binary search, then the strings themselves). Scores in order have their rank by
position, and only groups of equal scores that hold a judged document are put in order by id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from assay.model.arrays import BoolArray, FloatArray, IntArray
    from assay.model.judgments import Qrels

HashArray: TypeAlias = NDArray[np.uint64]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying loses nothing
_BITMAP_BITS = 22


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
        self.query = qrels.query
        self.docs = pl.Series(qrels.docs, dtype=pl.String)
        names = pl.Series(qrels.queries, dtype=pl.String).gather(qrels.query)
        keys = row_keys(hashes(names), hashes(self.docs))
        self.order = np.argsort(keys, kind="stable")
        self.keys = keys[self.order]
        self.bitmap = np.zeros(1 << _BITMAP_BITS, dtype=np.bool_)
        self.bitmap[_slot(keys)] = True

    def find(self, keys: HashArray, docs: pl.Series, query: IntArray) -> tuple[IntArray, IntArray]:
        """Rows that are judged, and the judgment each meets; ``query`` is −1 outside the qrels."""
        rows = np.flatnonzero(self.bitmap[_slot(keys)])
        rows = rows[query[rows] >= 0]
        if not len(rows):
            return rows, rows
        at = np.minimum(np.searchsorted(self.keys, keys[rows]), len(self.keys) - 1)
        equal = self.keys[at] == keys[rows]
        rows, judgment = rows[equal], self.order[at[equal]]
        same = (self.docs.gather(judgment) == docs.gather(rows)).to_numpy()
        same &= self.query[judgment] == query[rows]
        return rows[same], judgment[same]


def hashes(column: pl.Series) -> HashArray:
    """A 64-bit hash of every string."""
    result: HashArray = column.hash(seed=17).to_numpy()
    return result


def row_keys(query: HashArray, doc: HashArray) -> HashArray:
    """One hash for the pair; the query's is spread so that equal ids do not cancel."""
    keys: HashArray = (query * _SPREAD) ^ doc
    return keys


def _slot(keys: HashArray) -> IntArray:
    return (keys >> np.uint64(64 - _BITMAP_BITS)).astype(np.int64)


def reduce_block(index: JudgedIndex, query: pl.Series, doc: pl.Series, score: FloatArray) -> Block:
    """The judged hits of a block whose rows stand together by query."""
    query_hash = hashes(query)
    starts = group_starts(query_hash)
    names: list[str] = query.gather(starts).to_list()
    sizes = np.diff(starts, append=len(query_hash))
    positions = np.array([index.position.get(name, -1) for name in names], dtype=np.int64)
    keys = row_keys(query_hash, hashes(doc))
    _refuse_duplicates(keys, query, doc)
    group = np.repeat(np.arange(len(starts)), sizes)
    rows, judgment = index.find(keys, doc, positions[group])
    order = _order(score, starts, group)
    place = rows if order is None else _inverse(order)[rows]
    ordered = score if order is None else score[order]
    rank = place - starts[group[rows]] + 1
    tied = _tied(ordered, place, starts)
    if tied.any():
        shift = _tie_shift(ordered, place[tied], starts, doc, order)
        rank[tied] += shift
    return Block(
        query=positions[group[rows]],
        rank=rank,
        grade=index.grade[judgment],
        tied=tied,
        group_names=names,
        group_sizes=sizes,
        group_top=ordered[starts] if len(starts) else score,
    )


def group_starts(query_hash: HashArray) -> IntArray:
    """The first row of each run of equal queries."""
    if not len(query_hash):
        return np.zeros(0, dtype=np.int64)
    return np.concatenate(([0], np.flatnonzero(query_hash[1:] != query_hash[:-1]) + 1))


def _refuse_duplicates(keys: HashArray, query: pl.Series, doc: pl.Series) -> None:
    ordered = np.sort(keys)
    repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    for key in repeated:
        seen: dict[tuple[str, str], int] = {}
        for row in np.flatnonzero(keys == key).tolist():
            pair = (query[row], doc[row])
            if pair in seen:
                raise DuplicateRowError(pair[0], pair[1], seen[pair], row)
            seen[pair] = row


def _order(score: FloatArray, starts: IntArray, group: IntArray) -> IntArray | None:
    """The rows by query and descending score; None where they already stand so."""
    rising = score[1:] > score[:-1]
    rising[starts[1:] - 1] = False
    return np.lexsort((-score, group)) if rising.any() else None


def _inverse(order: IntArray) -> IntArray:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse


def _tied(ordered: FloatArray, place: IntArray, starts: IntArray) -> BoolArray:
    """Does a judged row share its score with the row above or below it in its query?"""
    same = _same_as_above(ordered, starts)
    below = np.append(same[1:], False)
    result: BoolArray = same[place] | below[place]
    return result


def _same_as_above(ordered: FloatArray, starts: IntArray) -> BoolArray:
    same = np.zeros(len(ordered), dtype=np.bool_)
    same[1:] = ordered[1:] == ordered[:-1]
    same[starts] = False
    return same


def _tie_shift(
    ordered: FloatArray,
    place: IntArray,
    starts: IntArray,
    doc: pl.Series,
    order: IntArray | None,
) -> IntArray:
    """How far the id (descending) moves each tied row from where it stands in the block."""
    import polars as pl

    run = np.cumsum(~_same_as_above(ordered, starts)) - 1
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
