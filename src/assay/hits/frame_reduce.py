"""Which judged documents does a block of rows hold, and at which ranks?

The work is a few passes over 64-bit hashes: one finds duplicates (a sort), one finds the judged
rows (a bitmap, then a binary search, then the strings themselves).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError
from assay.hits.ranks import Scores
from assay.hits.rows import HashArray, Rows, pair_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.model.arrays import BoolArray, FloatArray, IntArray
    from assay.model.judgments import Qrels

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

    def __init__(self, qrels: Qrels, hashes: Callable[[Sequence[str]], HashArray]) -> None:
        self.position = qrels.position
        self.grade = qrels.grade
        self._query = qrels.query
        self._docs = qrels.docs
        keys = pair_keys(hashes(qrels.queries)[qrels.query], hashes(qrels.docs))
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        # how many judgments share a hash: one, unless someone sought a collision
        self._most = int(np.unique(self._keys, return_counts=True)[1].max(initial=0))
        low, high = _BITMAP_BITS
        bits = min(max(len(keys).bit_length() + 6, low), high)
        self._shift = np.uint64(64 - bits)
        self._bitmap = np.zeros(1 << bits, dtype=np.bool_)
        self._bitmap[self._slot(keys)] = True

    def find(
        self, keys: HashArray, rows: Rows, positions: IntArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Rows that are judged, the group of each, and the judgment that it meets.

        ``positions`` tells for each group where its query stands in the qrels; −1 is outside.
        """
        row = np.flatnonzero(self._bitmap[self._slot(keys)])
        group = np.searchsorted(rows.starts, row, side="right") - 1
        inside = positions[group] >= 0
        row, group = row[inside], group[inside]
        first = np.searchsorted(self._keys, keys[row])
        found = [np.zeros((3, 0), dtype=np.int64)]
        for step in range(self._most):
            at = np.minimum(first + step, len(self._keys) - 1)
            equal = self._keys[at] == keys[row]
            met = self._met(row[equal], self._order[at[equal]], rows)
            met &= self._query[self._order[at[equal]]] == positions[group[equal]]
            met &= (first + step == at)[equal]
            found.append(np.stack((row[equal], group[equal], self._order[at[equal]]))[:, met])
        judged_rows, groups, judgments = np.concatenate(found, axis=1)
        return judged_rows, groups, judgments

    def _met(self, rows_at: IntArray, judgments: IntArray, rows: Rows) -> BoolArray:
        """Is it really the same document? Hashes only said that it may be."""
        wanted = map(self._docs.__getitem__, judgments.tolist())
        same = [a == b for a, b in zip(rows.docs(rows_at), wanted, strict=True)]
        return np.array(same, dtype=np.bool_)

    def _slot(self, keys: HashArray) -> IntArray:
        return (keys >> self._shift).view(np.int64)


def reduce_block(index: JudgedIndex, rows: Rows) -> Block:
    """The judged hits of a block."""
    starts, names = rows.starts, rows.names
    sizes = np.diff(starts, append=len(rows))
    positions = np.array([index.position.get(name, -1) for name in names], dtype=np.int64)
    keys = rows.keys()
    _refuse_duplicates(keys, rows)
    found, group, judgment = index.find(keys, rows, positions)
    scores = Scores.of(rows.score, starts, sizes)
    rank, tied = scores.ranks(
        group,
        rows.score[found],
        lambda hits: rows.docs(found[hits]),
        lambda query, places: rows.docs(starts[query] + places),
    )
    return Block(
        query=positions[group],
        rank=rank,
        grade=index.grade[judgment],
        tied=tied,
        group_names=names,
        group_sizes=sizes,
        group_top=rows.tops(scores.best()),
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
    pairs = zip(rows.queries(suspects), rows.docs(suspects), strict=True)
    seen: dict[tuple[str, str], int] = {}
    for pair, came in zip(pairs, origin.tolist(), strict=True):
        if pair in seen:
            raise DuplicateRowError(pair[0], pair[1], seen[pair], came)
        seen[pair] = came
