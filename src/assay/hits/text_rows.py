"""How do the lines of a run file become rows without becoming strings and floats?

A row holds the positions of its query, document and score in the text, and two hashes. Scores are
parsed only where their order cannot be seen from their digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from assay import limits
from assay.hits.decimals import read_decimals, read_others, steps_down
from assay.hits.fields import Field, Text, cut, hash_field, is_utf8
from assay.hits.kernels import TextDocs, cut_lines
from assay.hits.rows import HashArray, group_starts

if TYPE_CHECKING:
    from assay.model.arrays import FloatArray, IntArray

COLUMNS = 6
QUERY, DOC, SCORE = 0, 2, 4


@dataclass(frozen=True, slots=True)
class TextRows:
    """Rows that are lines of a text."""

    text: Text
    query: Field
    doc: Field
    number: Field
    query_hash: HashArray
    doc_hash: HashArray
    score: FloatArray
    starts: IntArray
    origin: IntArray | None = None
    floats: bool = True  # the scores are true values, not only in the right order

    def __len__(self) -> int:
        return len(self.score)

    @property
    def names(self) -> list[str]:
        """The query of each group."""
        return self.queries(self.starts)

    def group_hashes(self) -> HashArray:
        """A 64-bit hash of the query of each group."""
        return self.query_hash[self.starts]

    def doc_hashes(self) -> HashArray:
        """A 64-bit hash of the document of each row."""
        return self.doc_hash

    def documents(self) -> TextDocs:
        """The documents, as parts of the text."""
        return TextDocs(self.text, self.doc, self.doc_hash)

    def tops(self, rows: IntArray) -> FloatArray:
        """The scores of some rows, as floats."""
        if self.floats:
            return self.score[rows]
        return np.array([float(item) for item in self.number.at(rows).bytes(self.text)])

    def queries(self, rows: IntArray) -> list[str]:
        """The queries of some rows."""
        return [item.decode() for item in self.query.at(rows).bytes(self.text)]

    def docs(self, rows: IntArray) -> list[str]:
        """The documents of some rows."""
        return [item.decode() for item in self.doc.at(rows).bytes(self.text)]

    def head(self, rows: int) -> TextRows:
        """The first rows, which end with a group."""
        return self._chosen(slice(0, rows), self.starts[self.starts < rows])

    def gathered(self) -> TextRows:
        """The same rows, grouped by query, in their original order within each."""
        order = np.argsort(self.query_hash, kind="stable")
        return replace(self._chosen(order, group_starts(self.query_hash[order])), origin=order)

    def _chosen(self, rows: IntArray | slice, starts: IntArray) -> TextRows:
        return replace(
            self,
            query=self.query.at(rows),
            doc=self.doc.at(rows),
            number=self.number.at(rows),
            query_hash=self.query_hash[rows],
            doc_hash=self.doc_hash[rows],
            score=self.score[rows],
            starts=starts,
        )


def text_rows(text: Text, *, floats: bool) -> TextRows | None:
    """The rows of a regular text; None if it is irregular in any way.

    With ``floats`` every score is parsed; otherwise only where its text does not show the order.
    """
    if not is_utf8(text.data):
        return None
    return _compiled_rows(text) or _array_rows(text, floats=floats)


def _compiled_rows(text: Text) -> TextRows | None:
    lines = cut_lines(text)
    if lines is None:
        return None
    score = read_others(text, lines.number, lines.score, np.isnan(lines.score))
    if score is None:
        return None
    hashes = lines.query_hash, lines.doc_hash
    starts = group_starts(lines.query_hash)
    return TextRows(text, lines.query, lines.doc, lines.number, *hashes, score, starts)


def _array_rows(text: Text, *, floats: bool) -> TextRows | None:
    lines = cut(text, COLUMNS)
    if lines is None:
        return None
    query, doc, number = (lines.column(at) for at in (QUERY, DOC, SCORE))
    if max(int(query.length.max()), int(doc.length.max())) > limits.MAX_ID_BYTES:
        return None
    query_hash = hash_field(text, query)
    starts = group_starts(query_hash)
    ranked = None if floats else _ranked(text, number, starts)
    score = read_decimals(text, number) if ranked is None else ranked
    if score is None:
        return None
    hashes = query_hash, hash_field(text, doc)
    return TextRows(text, query, doc, number, *hashes, score, starts, floats=ranked is None)


def _ranked(text: Text, number: Field, starts: IntArray) -> FloatArray | None:
    """Falling numbers in place of falling scores; None if scores rise or their order is unclear."""
    steps = steps_down(text, number)
    if steps is None:
        return None
    above, below = steps
    above[starts[1:] - 1] = False
    if above.any():
        return None
    falling = np.zeros(len(above) + 1)
    np.cumsum(below, out=falling[1:])
    return np.negative(falling, out=falling)
