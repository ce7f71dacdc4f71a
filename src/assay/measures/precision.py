"""Which share of the first results is relevant?

``P@k = relevant results in the top k / k``: the divisor stays k where fewer results came back. A
result counts once, whatever number of judged passages it brings.
``Rprec`` is the precision at rank R, R being the number of relevant judgments of the query. Since R
counts judgments, so does ``Rprec``: the best ranking scores 1 (design/041).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.measures.base import NO_RELEVANT, RELEVANCE, Column, Cutoff, Definition, Family, Measure

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits


def precision(hits: JudgedHits, measure: Measure) -> Column:
    """P@k of every query."""
    assert measure.cutoff is not None
    relevant = hits.grade >= measure.integer("rel")
    found = relevant & hits.lead & hits.within(measure.cutoff)  # the best grade leads
    return Column.full(hits.count(found) / measure.cutoff)


def r_precision(hits: JudgedHits, measure: Measure) -> Column:
    """Precision at the number of relevant documents."""
    level = measure.integer("rel")
    relevant = hits.relevant(level)
    found = (hits.grade >= level) & (hits.place <= relevant[hits.query])
    return Column.ratio(hits.count(found).astype(float), relevant.astype(float), NO_RELEVANT)


P = Definition(
    name="P",
    key="precision",
    help="share of the top k that is relevant; divides by k even where fewer came back",
    family=Family.RANKING,
    cutoff=Cutoff.REQUIRED,
    params={"rel": RELEVANCE},
    aliases=("Precision",),
    rank=precision,
)

RPREC = Definition(
    name="Rprec",
    key="r_precision",
    help="precision at R, the number of relevant documents of the query",
    family=Family.RANKING,
    params={"rel": RELEVANCE},
    aliases=("RPrec", "R-precision"),
    rank=r_precision,
)
