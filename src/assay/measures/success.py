"""Is there anything relevant among the first results?

``Success@k`` is 1 where the top k holds a relevant document and 0 otherwise; also called hit@k.
Where a test set tells expected chunks from expected documents, only chunks count (seed 001).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.measures.base import RELEVANCE, Column, Cutoff, Definition, Family, Measure

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits


def success(hits: JudgedHits, measure: Measure) -> Column:
    """1.0 or 0.0 for every query."""
    table = hits.chunks()
    found = table.count((table.grade >= measure.integer("rel")) & table.within(measure.cutoff))
    return Column.of_chunks((found > 0).astype(float), hits)


SUCCESS = Definition(
    name="Success",
    key="hit",
    help="1 where the top k holds a relevant document, else 0 (hit@k)",
    family=Family.RANKING,
    cutoff=Cutoff.REQUIRED,
    params={"rel": RELEVANCE},
    aliases=("hit", "Hit", "HitRate"),
    rank=success,
)
