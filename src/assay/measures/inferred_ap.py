"""What would AP be if the whole pool had been judged?

Inferred AP (Yilmaz & Aslam 2006) estimates the precision above each relevant document from the
judged part of the pool. A negative grade marks a document that was pooled but not judged. At rank
r, with ``rel`` and ``non`` judged above and ``open`` pooled but unjudged above it, a relevant
document adds ``1/r + (r−1)/r · (rel + non + open)/(r−1) · (rel + ε)/(rel + non + 2ε)``, ε =
0.00001.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.measures.base import NO_RELEVANT, RELEVANCE, Column, Definition, Family, Measure

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits
    from assay.model.arrays import BoolArray, IntArray

EPSILON = 0.00001


def inferred_ap(hits: JudgedHits, measure: Measure) -> Column:
    """InfAP of every query."""
    level = measure.integer("rel")
    rows = hits.grade >= level
    relevant_above = _results_above(hits, rows)[rows]
    nonrelevant_above = _results_above(hits, (hits.grade >= 0) & (hits.grade < level))[rows]
    open_above = _results_above(hits, hits.grade < 0)[rows]
    judged_above = relevant_above + nonrelevant_above
    rank = hits.rank[rows]
    # (r−1)/r · pooled/(r−1) is pooled/r, which also holds for the first rank
    pooled_share = (judged_above + open_above) / rank
    estimate = (relevant_above + EPSILON) / (judged_above + 2 * EPSILON)
    parts = 1.0 / rank + pooled_share * estimate
    return Column.ratio(hits.total(rows, parts), hits.relevant(level).astype(float), NO_RELEVANT)


def _results_above(hits: JudgedHits, rows: BoolArray) -> IntArray:
    """For each row: how many results at earlier ranks are such; each counts once, by its best."""
    leads = np.flatnonzero(hits.lead)
    above: IntArray = hits.before(rows & hits.lead)[leads[np.cumsum(hits.lead) - 1]]
    return above


INFAP = Definition(
    name="infAP",
    key="inferred_ap",
    help="AP estimated from a sampled pool; negative grades are pooled but unjudged",
    family=Family.RANKING,
    params={"rel": RELEVANCE},
    aliases=("infap",),
    rank=inferred_ap,
)
