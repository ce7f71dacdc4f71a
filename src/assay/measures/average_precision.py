"""How early do the relevant documents come, taken together?

``AP = Σ precision at each relevant rank / number of relevant documents``; its mean is MAP. With a
cutoff the sum stops there and the divisor is ``min(relevant, k)``, so that a perfect top k scores
1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.measures.base import NO_RELEVANT, RELEVANCE, Column, Cutoff, Definition, Family, Measure

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits


def average_precision(hits: JudgedHits, measure: Measure) -> Column:
    """AP of every query."""
    level = measure.integer("rel")
    relevant_row = hits.grade >= level
    rows = relevant_row & hits.placed(measure.cutoff)
    found = hits.before(relevant_row) + 1  # what is relevant down to this row's place
    precision = found[rows] / hits.place[rows]
    divisor = hits.relevant(level)
    if measure.cutoff is not None:
        divisor = np.minimum(divisor, measure.cutoff)
    return Column.ratio(hits.total(rows, precision), divisor.astype(float), NO_RELEVANT)


AP = Definition(
    name="AP",
    key="map",
    help="precision at each relevant rank, summed, over all relevant (at k: over min(relevant, k))",
    family=Family.RANKING,
    cutoff=Cutoff.OPTIONAL,
    params={"rel": RELEVANCE},
    bare_name="MAP",
    bare_key="mean_average_precision",
    aliases=("MAP",),
    rank=average_precision,
)
