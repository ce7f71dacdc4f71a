"""How does compiled code split lines, look up judged documents and rank them?

Every function returns None where there is no compiled code (``assay.compiled``) or the input is not
regular; array operations then do the same work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay import compiled, limits
from assay.hits.fields import Field, Text, WordArray

if TYPE_CHECKING:
    from assay.model.arrays import BoolArray, FloatArray, IntArray

SHORTEST_LINE = len("q 0 d 1 2 t\n")
SHORTEST_JUDGMENT = len("q d 1\n")
LEAST_PLACES = 1 << 15  # slots of a hash table: eight for each of 4,096 rows
MOST_BYTES = (1 << 31) - 1  # positions are 32-bit numbers


@dataclass(frozen=True, slots=True)
class CutLines:
    """The lines of a regular text; a score that was not parsed here is NaN."""

    query: Field
    doc: Field
    number: Field
    query_hash: WordArray
    doc_hash: WordArray
    score: FloatArray


def cut_lines(text: Text) -> CutLines | None:
    """The lines of a regular text of six columns; None if they cannot be split here."""
    library = compiled.library()
    if library is None or text.size > MOST_BYTES:
        return None
    most = text.size // SHORTEST_LINE + 1
    places = np.empty((6, most), dtype=np.int32)
    hashes = np.empty((2, most), dtype=np.uint64)
    score = np.empty(most)
    lines = library.assay_cut(
        text.data, text.size, most, limits.MAX_ID_BYTES, places.ctypes.data,
        hashes[0].ctypes.data, hashes[1].ctypes.data, score.ctypes.data,
    )  # fmt: skip
    if lines < 1:
        return None
    query, doc, number = (Field(places[at, :lines], places[at + 1, :lines]) for at in (0, 2, 4))
    return CutLines(query, doc, number, hashes[0, :lines], hashes[1, :lines], score[:lines])


@dataclass(frozen=True, slots=True)
class CutJudgments:
    """The lines of a text of judgments; a query's begin at ``starts``, and may go on elsewhere."""

    query: Field
    doc: Field
    starts: IntArray
    doc_hash: WordArray
    grade: IntArray


def cut_judgments(text: Text, columns: int, doc_column: int) -> CutJudgments | None:
    """The judgments of a text; None if it has none, or if a line is not a sound judgment."""
    library = compiled.library()
    if library is None or text.size > MOST_BYTES:
        return None
    most = text.size // SHORTEST_JUDGMENT + 1
    places = np.empty((4, most), dtype=np.int32)
    begins = np.empty(most, dtype=np.bool_)
    doc_hash = np.empty(most, dtype=np.uint64)
    grade = np.empty(most, dtype=np.int64)
    lines = library.assay_cut_qrels(
        text.data, text.size, columns, doc_column, most, limits.MAX_ID_BYTES, limits.MAX_GRADE,
        places.ctypes.data, begins.ctypes.data, doc_hash.ctypes.data, grade.ctypes.data,
    )  # fmt: skip
    if lines < 1:
        return None
    query, doc = (Field(places[at, :lines], places[at + 1, :lines]) for at in (0, 2))
    starts = np.flatnonzero(begins[:lines])
    return CutJudgments(query, doc, starts, doc_hash[:lines], grade[:lines].copy())


def match_groups(
    hashes: WordArray, bounds: IntArray, wanted: WordArray, wanted_bounds: IntArray
) -> IntArray | None:
    """For each wanted hash of each group, the row that has it, or −1.

    ``bounds`` delimit the rows of each group, ``wanted_bounds`` its wanted hashes. None if a group
    may have a hash twice, or if there is no compiled code.
    """
    library = compiled.library()
    largest = int(np.diff(bounds).max(initial=0))
    if library is None or largest > MOST_BYTES >> 1:
        return None
    kinds = np.uint64, np.int64, np.uint64, np.int64
    given = (hashes, bounds, wanted, wanted_bounds)
    parts = [np.ascontiguousarray(part, kind) for part, kind in zip(given, kinds, strict=True)]
    table = _table(largest)
    rows = np.empty(len(wanted), dtype=np.int64)
    crowded = library.assay_match(
        parts[0].ctypes.data, parts[1].ctypes.data, len(bounds) - 1, parts[2].ctypes.data,
        parts[3].ctypes.data, table.ctypes.data, rows.ctypes.data,
    )  # fmt: skip
    return None if crowded else rows


def _table(largest: int) -> NDArray[np.int32]:
    """Room for the hashes of a group of so many rows."""
    return np.empty(max(LEAST_PLACES, 2 << largest.bit_length()), dtype=np.int32)


@dataclass(frozen=True, slots=True)
class TextDocs:
    """Documents that are parts of a text, and their hashes."""

    text: Text
    field: Field
    hashes: WordArray

    def at(self, rows: IntArray) -> TextDocs:
        """Some of the documents."""
        return TextDocs(self.text, self.field.at(rows), self.hashes[rows])


@dataclass(frozen=True, slots=True)
class RankedHits:
    """The judged documents of a block, best first in each group, and the best row of each group."""

    group: IntArray
    judgment: IntArray
    rank: IntArray
    tied: BoolArray
    best: IntArray


def judge_groups(
    docs: TextDocs,
    score: FloatArray,
    bounds: IntArray,
    judged: TextDocs,
    judgments: tuple[IntArray, IntArray],
) -> RankedHits | None:
    """The judged documents among the rows of each group, ranked by score, then by id.

    ``bounds`` delimit the rows of each group; its judgments are those from the first of
    ``judgments`` up to the second. None if a group may have a document twice or judge it twice.
    """
    library = compiled.library()
    largest = int(np.diff(bounds).max(initial=0))
    if library is None or docs.text.size > MOST_BYTES or largest > MOST_BYTES >> 1:
        return None

    def place(part: NDArray[Any], kind: type[np.generic]) -> int:
        used.append(np.ascontiguousarray(part, kind))
        return int(used[-1].ctypes.data)

    used: list[NDArray[Any]] = []  # what the library reads must live until it is done
    groups, most = len(bounds) - 1, int((judgments[1] - judgments[0]).sum())
    best = np.empty(groups, dtype=np.int64)
    hits = np.empty((3, most), dtype=np.int64)
    tied = np.empty(most, dtype=np.bool_)
    table, room = _table(largest), np.empty(3 * largest, dtype=np.int32)
    count = library.assay_judge(
        docs.text.data, place(docs.field.start, np.int32), place(docs.field.end, np.int32),
        place(docs.hashes, np.uint64), place(score, np.float64), place(bounds, np.int64), groups,
        judged.text.data, place(judged.field.start, np.int64), place(judged.field.end, np.int64),
        place(judged.hashes, np.uint64), place(judgments[0], np.int64),
        place(judgments[1], np.int64), table.ctypes.data, room.ctypes.data, largest,
        best.ctypes.data, *(part.ctypes.data for part in hits), tied.ctypes.data,
    )  # fmt: skip
    if count < 0:
        return None
    group, judgment, rank = hits[:, :count]
    return RankedHits(group, judgment, rank, tied[:count], best)
