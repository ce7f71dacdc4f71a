"""How does compiled code split lines and look up judged documents?

Both functions return None where there is no compiled code (``assay.compiled``) or the input is not
regular; array operations then do the same work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assay import compiled, limits
from assay.hits.fields import Field, Text, WordArray

if TYPE_CHECKING:
    from assay.model.arrays import FloatArray, IntArray

SHORTEST_LINE = len("q 0 d 1 2 t\n")
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
    table = np.empty(max(LEAST_PLACES, 2 << largest.bit_length()), dtype=np.int32)
    rows = np.empty(len(wanted), dtype=np.int64)
    crowded = library.assay_match(
        parts[0].ctypes.data, parts[1].ctypes.data, len(bounds) - 1, parts[2].ctypes.data,
        parts[3].ctypes.data, table.ctypes.data, rows.ctypes.data,
    )  # fmt: skip
    return None if crowded else rows
