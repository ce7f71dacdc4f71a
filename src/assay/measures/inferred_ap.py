"""What would AP be if the whole pool had been judged?

Inferred AP (Yilmaz & Aslam 2006) estimates the precision above each relevant document from the
judged part of the pool. A negative grade marks a document that was pooled but not judged. At rank
r, with ``rel`` and ``non`` judged above and ``open`` pooled but unjudged above it, a relevant
document adds ``1/r + (r−1)/r · (rel + non + open)/(r−1) · (rel + ε)/(rel + non + 2ε)``, ε =
0.00001.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.measures.base import NO_RELEVANT, RELEVANCE, Column, Definition, Family, Measure

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits

EPSILON = 0.00001


def inferred_ap(hits: JudgedHits, measure: Measure) -> Column:
    """InfAP of every query."""
    level = measure.integer("rel")
    rows = hits.grade >= level
    relevant_above = hits.before(rows)[rows]
    nonrelevant_above = hits.before((hits.grade >= 0) & (hits.grade < level))[rows]
    open_above = hits.before(hits.grade < 0)[rows]
    judged_above = relevant_above + nonrelevant_above
    place = hits.place[rows]
    # (r−1)/r · pooled/(r−1) is pooled/r, which also holds for the first rank
    pooled_share = (judged_above + open_above) / place
    estimate = (relevant_above + EPSILON) / (judged_above + 2 * EPSILON)
    parts = 1.0 / place + pooled_share * estimate
    return Column.ratio(hits.total(rows, parts), hits.relevant(level).astype(float), NO_RELEVANT)


INFAP = Definition(
    name="infAP",
    key="inferred_ap",
    help="AP estimated from a sampled pool; negative grades are pooled but unjudged",
    family=Family.RANKING,
    params={"rel": RELEVANCE},
    aliases=("infap",),
    rank=inferred_ap,
)
