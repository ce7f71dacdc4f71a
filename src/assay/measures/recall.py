"""Which share of all relevant documents was found?

``Recall@k = relevant in the top k / all relevant``, retrieved or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.measures.base import NO_RELEVANT, RELEVANCE, Column, Cutoff, Definition, Family, Measure

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits


def recall(hits: JudgedHits, measure: Measure) -> Column:
    """Recall of every query, at a cutoff or over the whole ranking."""
    level = measure.integer("rel")
    found = hits.count((hits.grade >= level) & hits.within(measure.cutoff))
    return Column.ratio(found.astype(float), hits.relevant(level).astype(float), NO_RELEVANT)


RECALL = Definition(
    name="Recall",
    key="recall",
    help="share of all relevant documents that is in the top k",
    family=Family.RANKING,
    cutoff=Cutoff.OPTIONAL,
    params={"rel": RELEVANCE},
    aliases=("R",),
    rank=recall,
)
