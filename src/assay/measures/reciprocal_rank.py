"""How far down is the first relevant result?

``RR = 1 / rank of the first relevant result``, 0 where there is none (within the cutoff). Its mean
is the MRR; without a cutoff the whole ranking is looked at. Where a test set tells expected chunks
from expected documents, only chunks count (seed 001).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.measures.base import RELEVANCE, Column, Cutoff, Definition, Family, Measure

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits


def reciprocal_rank(hits: JudgedHits, measure: Measure) -> Column:
    """1 / first relevant rank of every query."""
    table = hits.chunks()
    rows = np.flatnonzero((table.grade >= measure.integer("rel")) & table.within(measure.cutoff))
    query, first = np.unique(table.query[rows], return_index=True)
    values = np.zeros(len(hits.queries))
    values[query] = 1.0 / table.rank[rows[first]]
    return Column.of_chunks(values, hits)


RR = Definition(
    name="RR",
    key="mrr",
    help="1 / rank of the first relevant result, 0 where there is none",
    family=Family.RANKING,
    cutoff=Cutoff.OPTIONAL,
    params={"rel": RELEVANCE},
    bare_name="MRR",
    aliases=("MRR",),
    rank=reciprocal_rank,
)
