"""What are the rows of a run, grouped by query?

Rows are (query, document, score), with those of a query next to each other. They are columns of a
data frame or lines of a file; matching them needs only hashes, scores, and the text of a few rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from assay.hits.kernels import TextDocs
    from assay.model.arrays import FloatArray, IntArray

HashArray: TypeAlias = NDArray[np.uint64]

BLOCK_ROWS = 1 << 17  # rows per block, whose hashes fit the CPU cache
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplication is reversible


class Rows(Protocol):
    """Rows of a run, those of a query together."""

    @property
    def starts(self) -> IntArray:
        """The first row of each query."""

    @property
    def names(self) -> list[str]:
        """The query of each group."""

    @property
    def score(self) -> FloatArray:
        """Numbers that order the rows of each query as their scores do, ties included."""

    @property
    def origin(self) -> IntArray | None:
        """The original position of each row, if rows had to be gathered."""

    def __len__(self) -> int: ...

    def group_hashes(self) -> HashArray:
        """A 64-bit hash of the query of each group."""

    def doc_hashes(self) -> HashArray:
        """A 64-bit hash of the document of each row."""

    def documents(self) -> TextDocs | None:
        """The documents, if they are parts of a text."""

    def tops(self, rows: IntArray) -> FloatArray:
        """The true scores of some rows."""

    def queries(self, rows: IntArray) -> list[str]:
        """The queries of some rows."""

    def docs(self, rows: IntArray) -> list[str]:
        """The documents of some rows."""


@dataclass(frozen=True, slots=True)
class FrameRows:
    """Rows that are columns of a data frame.

    Each group's query and its hash are known; documents are hashed block by block, so that the
    hashes stay in the CPU cache.
    """

    query: pl.Series
    doc: pl.Series
    score: FloatArray
    starts: IntArray
    names: list[str]
    name_hash: HashArray
    origin: IntArray | None = None

    @classmethod
    def of(cls, query: pl.Series, doc: pl.Series, score: FloatArray) -> FrameRows:
        """The columns as given; a query that recurs starts a new group."""
        starts, name_hash = _groups(query)
        return cls(query, doc, score, starts, _texts(query, starts), name_hash)

    def __len__(self) -> int:
        return len(self.score)

    def group_hashes(self) -> HashArray:
        """A 64-bit hash of the query of each group."""
        return self.name_hash

    def doc_hashes(self) -> HashArray:
        """A 64-bit hash of the document of each row."""
        return series_hashes(self.doc)

    def documents(self) -> TextDocs | None:
        """No text: a column of a frame."""
        return None

    def tops(self, rows: IntArray) -> FloatArray:
        """The scores of some rows."""
        return self.score[rows]

    def queries(self, rows: IntArray) -> list[str]:
        """The queries of some rows."""
        return _texts(self.query, rows)

    def docs(self, rows: IntArray) -> list[str]:
        """The documents of some rows."""
        return _texts(self.doc, rows)

    def with_score(self, score: FloatArray) -> FrameRows:
        """The same rows with other scores."""
        return replace(self, score=score)

    def part(self, first: int, last: int) -> FrameRows:
        """The groups from ``first`` up to ``last``."""
        begin = int(self.starts[first])
        end = int(self.starts[last]) if last < len(self.starts) else len(self)
        return FrameRows(
            self.query[begin:end],
            self.doc[begin:end],
            self.score[begin:end],
            self.starts[first:last] - begin,
            self.names[first:last],
            self.name_hash[first:last],
            None if self.origin is None else self.origin[begin:end],
        )

    def gathered(self) -> FrameRows:
        """The same rows, grouped by query, in their original order within each."""
        order = np.argsort(series_hashes(self.query), kind="stable")
        columns = self.query.gather(order), self.doc.gather(order), self.score[order]
        return replace(FrameRows.of(*columns), origin=order)


def pair_keys(query: HashArray, doc: HashArray) -> HashArray:
    """One hash of a pair; not symmetric, so that (a, a) differs from (b, b)."""
    keys: HashArray = query * SPREAD
    keys ^= doc
    keys *= SPREAD
    return keys


def place_of(rows: Rows, row: int) -> str:
    """Describe a row for an error message."""
    at = np.array([row])
    return f"query {rows.queries(at)[0]!r}, document {rows.docs(at)[0]!r}"


def series_hashes(column: pl.Series) -> HashArray:
    """A 64-bit hash of every string of a column."""
    result: HashArray = column.hash(seed=17).to_numpy()
    return result


def list_hashes(texts: Sequence[str]) -> HashArray:
    """The same for a list of strings."""
    import polars as pl

    return series_hashes(pl.Series(texts, dtype=pl.String))


def _texts(column: pl.Series, rows: IntArray) -> list[str]:
    """The strings of some rows; indexing by a list avoids polars importing ``numpy.ma``."""
    found: list[str] = column.gather(rows.tolist()).to_list()
    return found


def group_starts(query_hash: HashArray) -> IntArray:
    """The first row of each run of equal queries."""
    if not len(query_hash):
        return np.zeros(0, dtype=np.int64)
    return np.concatenate(([0], np.flatnonzero(query_hash[1:] != query_hash[:-1]) + 1))


def _groups(query: pl.Series) -> tuple[IntArray, HashArray]:
    """The first row of each run of equal queries, and the hash of its query; block by block."""
    starts, hashes = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.uint64)]
    last = None
    for begin in range(0, len(query), BLOCK_ROWS):
        block = series_hashes(query[begin : begin + BLOCK_ROWS])
        new = group_starts(block)
        if block[0] == last:
            new = new[1:]
        last = block[-1]
        starts.append(begin + new)
        hashes.append(block[new])
    return np.concatenate(starts), np.concatenate(hashes)
