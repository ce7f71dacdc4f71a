"""How do blocks of a run become one table?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.measures.table import JudgedHits, build_table

if TYPE_CHECKING:
    from assay.hits.frame_reduce import Block
    from assay.model.judgments import Qrels


class ScatteredRowsError(Exception):
    """The rows of one query do not stand together; the reader must gather them first."""


class TableBuilder:
    """Collects blocks; each query may come in one block only."""

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
        """Take in a block, or raise ``ScatteredRowsError`` when it brings a query back."""
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
            (self._qrels.query, self._qrels.grade),
            retrieved=self._retrieved,
            top_score=self._top,
            tied=np.bincount(tied, minlength=len(self._qrels.queries)),
            missing=self._missing,
            extra_queries=self._extra,
        )
