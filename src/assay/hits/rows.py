"""Which rows stand together?

Rows are (query, document, score) columns, parallel, in which those of a query follow each other.
``starts`` tells where each query begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

    from assay.model.arrays import FloatArray, IntArray

ROW_BYTES = 56  # two views of text, a score and two hashes
HashArray: TypeAlias = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a run; ``origin`` tells where each stood, when they had to be gathered."""

    query: pl.Series
    doc: pl.Series
    score: FloatArray
    starts: IntArray
    origin: IntArray | None = None

    @classmethod
    def of(cls, query: pl.Series, doc: pl.Series, score: FloatArray) -> Rows:
        """The columns as they are; a query that comes back later begins once more."""
        return cls(query, doc, score, group_starts(hashes(query)))

    def __len__(self) -> int:
        return len(self.score)

    def names(self) -> list[str]:
        """The query of each group."""
        names: list[str] = self.query.gather(self.starts).to_list()
        return names

    def split_last(self) -> tuple[Rows | None, Rows]:
        """All groups but the last, and the last."""
        cut = int(self.starts[-1])
        first = np.zeros(1, dtype=np.int64)
        last = Rows(self.query[cut:], self.doc[cut:], self.score[cut:], first)
        if not cut:
            return None, last
        return Rows(self.query[:cut], self.doc[:cut], self.score[:cut], self.starts[:-1]), last

    def size(self) -> int:
        """About how many bytes do the rows take?"""
        ids = sum(int(column.str.len_bytes().sum()) for column in (self.query, self.doc))
        return ids + ROW_BYTES * len(self)

    def place(self, row: int) -> str:
        """The row in words."""
        return f"query {self.query[row]!r}, document {self.doc[row]!r}"


def joined(parts: list[Rows]) -> Rows:
    """The rows of all parts; where one ends with the query that the next begins with, as one."""
    import polars as pl

    if len(parts) == 1:
        return parts[0]
    starts, count = [np.zeros(0, dtype=np.int64)], 0
    for before, part in zip([None, *parts[:-1]], parts, strict=True):
        goes_on = before is not None and before.query[-1] == part.query[0]
        starts.append((part.starts[1:] if goes_on else part.starts) + count)
        count += len(part)
    return Rows(
        pl.concat([part.query for part in parts]),
        pl.concat([part.doc for part in parts]),
        np.concatenate([part.score for part in parts]),
        np.concatenate(starts),
    )


def gathered(rows: Rows) -> Rows:
    """The same rows with those of a query together, in the order they came."""
    key = hashes(rows.query)
    order = np.argsort(key, kind="stable")
    return Rows(
        rows.query.gather(order),
        rows.doc.gather(order),
        rows.score[order],
        group_starts(key[order]),
        order,
    )


def hashes(column: pl.Series) -> HashArray:
    """A 64-bit hash of every string."""
    result: HashArray = column.hash(seed=17).to_numpy()
    return result


def group_starts(query_hash: HashArray) -> IntArray:
    """The first row of each run of equal queries."""
    if not len(query_hash):
        return np.zeros(0, dtype=np.int64)
    return np.concatenate(([0], np.flatnonzero(query_hash[1:] != query_hash[:-1]) + 1))
