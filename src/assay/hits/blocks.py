"""Which judged documents does a block of rows hold, at which ranks, and how do blocks make a table?

Rows are matched by 64-bit hashes, and matches are confirmed by comparing the strings. Compiled code
looks the judged documents up in a small hash table per query, and ranks those of a text at once.
Without compiled code, or where a query may list a document twice, all hashes of the block are
sorted, which brings duplicates together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from assay.errors import InputError
from assay.hits.fields import hash_field, hash_texts, texts_joined
from assay.hits.kernels import RankedHits, TextDocs, judge_groups, match_groups
from assay.hits.ranks import Scores
from assay.hits.rows import HashArray, Rows, pair_keys
from assay.measures.table import JudgedHits, build_table
from assay.model.judgments import Qrels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.model.arrays import BoolArray, FloatArray, IntArray


class DuplicateRowError(InputError):
    """Two rows of one query name the same document."""

    def __init__(self, query: str, doc: str, first: int, second: int) -> None:
        super().__init__(f"query {query!r} has document {doc!r} twice")
        self.query, self.doc, self.first, self.second = query, doc, first, second


@dataclass(frozen=True, slots=True)
class Block:
    """What a block adds to the table; ``query`` holds positions in the qrels."""

    query: IntArray
    rank: IntArray
    grade: IntArray
    tied: BoolArray
    group_names: list[str]
    group_sizes: IntArray
    group_top: FloatArray


class JudgedIndex:
    """The judgments, indexed by hash; ``documents`` are given for runs that are texts."""

    def __init__(
        self,
        qrels: Qrels,
        hashes: Callable[[Sequence[str]], HashArray],
        documents: TextDocs | None = None,
    ) -> None:
        self.position = qrels.position
        self.grade = qrels.grade
        self._docs = qrels.docs
        self._query_hash = hashes(qrels.queries)[qrels.query]
        self._doc_hash = hashes(qrels.docs) if documents is None else documents.hashes
        # query q has self._sizes[q] judgments, starting at self._first[q] in self._order
        self._order = np.argsort(qrels.query, kind="stable")
        places = np.arange(len(qrels.queries) + 1)
        self._first = np.searchsorted(qrels.query[self._order], places, side="left")
        self._sizes = np.diff(
            self._first, append=len(self._order)
        )  # the last, for unknown queries, is 0
        self._documents = documents and documents.at(self._order)

    def ranked(
        self,
        documents: TextDocs | None,
        score: FloatArray,
        starts: IntArray,
        positions: IntArray,
    ) -> RankedHits | None:
        """The judged rows with their ranks; None if only ``find`` can tell."""
        if documents is None or self._documents is None:
            return None
        first = self._first[positions]  # -1 picks the last entry
        ranked = judge_groups(
            documents,
            score,
            np.append(starts, len(score)),
            self._documents,
            (first, first + self._sizes[positions]),
        )
        return ranked and replace(ranked, judgment=self._order[ranked.judgment])

    def find(self, rows: Rows, positions: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """The judged rows, the group of each, and the judgment it matches.

        ``positions`` holds the position of each group's query in the qrels, or −1.
        """
        wanted, sizes = self._judgments(positions)
        row, which = self._alike(rows, wanted, sizes)
        judgment, group = wanted[which], np.repeat(np.arange(len(sizes)), sizes)[which]
        met = self._met(row, judgment, rows)
        row, group, judgment = row[met], group[met], judgment[met]
        by_row = np.argsort(row)
        return row[by_row], group[by_row], judgment[by_row]

    def _judgments(self, positions: IntArray) -> tuple[IntArray, IntArray]:
        """The judgments of each group's query, and how many there are."""
        first, sizes = self._first[positions], self._sizes[positions]  # -1 picks the last entry
        before = np.cumsum(sizes) - sizes
        found: IntArray = self._order[np.arange(sizes.sum()) + np.repeat(first - before, sizes)]
        return found, sizes

    def _alike(self, rows: Rows, wanted: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
        """Rows whose hash equals that of a judgment of their group, and which judgment that is."""
        hashes = rows.doc_hashes()
        bounds = np.append(rows.starts, len(rows))
        found = match_groups(hashes, bounds, self._doc_hash[wanted], np.append(0, np.cumsum(sizes)))
        if found is not None:
            which = np.flatnonzero(found >= 0)
            return found[which], which
        keys = pair_keys(np.repeat(rows.group_hashes(), np.diff(bounds)), hashes)
        in_order = SortedKeys(keys)
        _refuse_duplicates(keys, in_order.repeated(), rows)
        row, which = in_order.rows_of(pair_keys(self._query_hash[wanted], self._doc_hash[wanted]))
        group = np.searchsorted(rows.starts, row, side="right") - 1
        met = np.repeat(np.arange(len(sizes)), sizes)[which] == group
        return row[met], which[met]

    def _met(self, rows_at: IntArray, judgments: IntArray, rows: Rows) -> BoolArray:
        """Is it really the same document? Equal hashes only suggest it."""
        wanted = map(self._docs.__getitem__, judgments.tolist())
        same = [a == b for a, b in zip(rows.docs(rows_at), wanted, strict=True)]
        return np.array(same, dtype=np.bool_)


_HELD: WeakKeyDictionary[Qrels, JudgedIndex] = WeakKeyDictionary()


def text_index(qrels: Qrels) -> JudgedIndex:
    """The judgments, indexed for runs that are texts; held as long as the judgments are."""
    held = _HELD.get(qrels)
    if held is None:
        held = _HELD[qrels] = JudgedIndex(qrels, hash_texts, as_text(qrels.docs))
    return held


def as_text(docs: Sequence[str]) -> TextDocs:
    """The documents as parts of one text."""
    text, field = texts_joined(docs)
    return TextDocs(text, field, hash_field(text, field))


class SortedKeys:
    """The keys of a block, sorted, each with its row.

    The row number replaces the low bits of each key, so that one plain sort yields both; this is
    several times faster than an argsort. The full key is looked up where the low bits matter.
    """

    def __init__(self, keys: HashArray) -> None:
        self._keys = keys
        self._bits = np.uint64(max(len(keys) - 1, 0).bit_length())
        self._sorted = (keys >> self._bits) << self._bits
        self._sorted |= np.arange(len(keys), dtype=np.uint64)
        self._sorted.sort()

    def rows_of(self, wanted: HashArray) -> tuple[IntArray, IntArray]:
        """The rows that have one of these keys, and which key each row has."""
        high = (wanted >> self._bits) << self._bits
        at, which = np.searchsorted(self._sorted, high), np.arange(len(wanted))
        found = [np.zeros((2, 0), dtype=np.int64)]
        while len(at):
            inside = at < len(self._sorted)
            at, which = at[inside], which[inside]
            entry = self._sorted[at]
            alike = (entry ^ high[which]) >> self._bits == 0
            at, which = at[alike] + 1, which[alike]  # the next one may match, too
            row = self._rows(entry[alike])
            same = self._keys[row] == wanted[which]
            found.append(np.stack((row[same], which[same])))
        rows, keys = np.concatenate(found, axis=1)
        return rows, keys

    def repeated(self) -> IntArray:
        """The rows that share their key with another row, in order."""
        high = self._sorted >> self._bits
        again = np.flatnonzero(high[1:] == high[:-1])
        if not len(again):
            return again
        alike = np.sort(self._rows(self._sorted[np.union1d(again, again + 1)]))
        _, key, count = np.unique(self._keys[alike], return_inverse=True, return_counts=True)
        return alike[count[key] > 1]

    def _rows(self, entries: HashArray) -> IntArray:
        return (entries & ((np.uint64(1) << self._bits) - np.uint64(1))).astype(np.int64)


def reduce_block(index: JudgedIndex, rows: Rows) -> Block:
    """The judged hits of a block; ``ScatteredRowsError`` if a query occurs in two places."""
    starts, names = rows.starts, rows.names
    if len(set(names)) < len(names):
        raise ScatteredRowsError
    sizes = np.diff(starts, append=len(rows))
    positions = np.array([index.position.get(name, -1) for name in names], dtype=np.int64)
    hits = index.ranked(rows.documents(), rows.score, starts, positions)
    if hits is None:
        hits = _ranked(index, rows, positions, sizes)
    return Block(
        query=positions[hits.group],
        rank=hits.rank,
        grade=index.grade[hits.judgment],
        tied=hits.tied,
        group_names=names,
        group_sizes=sizes,
        group_top=rows.tops(hits.best),
    )


def _ranked(index: JudgedIndex, rows: Rows, positions: IntArray, sizes: IntArray) -> RankedHits:
    """The judged rows with their ranks, by array operations."""
    starts = rows.starts
    found, group, judgment = index.find(rows, positions)
    scores = Scores.of(rows.score, starts, sizes)
    rank, tied = scores.ranks(
        group,
        rows.score[found],
        lambda hits: rows.docs(found[hits]),
        lambda query, places: rows.docs(starts[query] + places),
    )
    return RankedHits(group, judgment, rank, tied, scores.best())


def _refuse_duplicates(keys: HashArray, suspects: IntArray, rows: Rows) -> None:
    """Raise an error that names the first document to be repeated."""
    if not len(suspects):
        return
    origin = suspects if rows.origin is None else rows.origin[suspects]
    by_origin = np.argsort(origin)
    suspects, origin = suspects[by_origin], origin[by_origin]
    _, first, group = np.unique(keys[suspects], return_index=True, return_inverse=True)
    again = int(np.argmax(first[group] < np.arange(len(group))))
    likely = [int(first[group[again]]), again]
    _refuse_twice(suspects[likely], origin[likely], rows)
    _refuse_twice(suspects, origin, rows)  # two hashes collided, so compare all strings


def _refuse_twice(suspects: IntArray, origin: IntArray, rows: Rows) -> None:
    pairs = zip(rows.queries(suspects), rows.docs(suspects), strict=True)
    seen: dict[tuple[str, str], int] = {}
    for pair, came in zip(pairs, origin.tolist(), strict=True):
        if pair in seen:
            raise DuplicateRowError(pair[0], pair[1], seen[pair], came)
        seen[pair] = came


class ScatteredRowsError(Exception):
    """The rows of a query are not contiguous; the reader must gather them first."""


class TableBuilder:
    """Collects blocks into one table; each query may occur in one block only."""

    def __init__(self, qrels: Qrels) -> None:
        self._qrels = qrels
        self._blocks: list[Block] = []
        self._seen: set[str] = set()
        count = len(qrels.queries)
        self._retrieved = np.zeros(count, dtype=np.int64)
        self._top = np.full(count, -np.inf)
        self._missing = np.ones(count, dtype=np.bool_)
        self._extra = 0

    def add(self, block: Block) -> None:
        """Add a block; ``ScatteredRowsError`` if one of its queries was in an earlier block."""
        names = set(block.group_names)
        if len(names) < len(block.group_names) or not self._seen.isdisjoint(names):
            raise ScatteredRowsError
        self._seen |= names
        where = np.array(
            [self._qrels.position.get(n, -1) for n in block.group_names], dtype=np.int64
        )
        known = where >= 0
        self._extra += int((~known).sum())
        self._retrieved[where[known]] = block.group_sizes[known]
        self._top[where[known]] = block.group_top[known]
        self._missing[where[known]] = False
        self._blocks.append(block)

    def build(self) -> JudgedHits:
        """The table of all blocks."""
        empty = np.zeros(0, dtype=np.int64)
        query = np.concatenate([empty, *(b.query for b in self._blocks)])
        tied = np.concatenate([empty, *(b.query[b.tied] for b in self._blocks)])
        return build_table(
            self._qrels.queries,
            (
                query,
                np.concatenate([empty, *(b.rank for b in self._blocks)]),
                np.concatenate([empty, *(b.grade for b in self._blocks)]),
            ),
            self._qrels.best_first,
            retrieved=self._retrieved,
            top_score=self._top,
            tied=np.bincount(tied, minlength=len(self._qrels.queries)),
            missing=self._missing,
            extra_queries=self._extra,
        )
