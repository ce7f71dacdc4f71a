"""How often does a judged non-relevant document stand above a relevant one?

``bpref = 1/R Σ_r (1 − min(n_r, R) / min(N, R))``, n_r being the judged non-relevant documents above
the relevant document r (Buckley & Voorhees 2004). Unjudged documents do not count at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.measures.base import NO_RELEVANT, RELEVANCE, Column, Definition, Family, Measure

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits


def bpref(hits: JudgedHits, measure: Measure) -> Column:
    """Bpref of every query."""
    level = measure.integer("rel")
    relevant = hits.relevant(level)
    ceiling = np.minimum(hits.nonrelevant(level), relevant)
    rows = hits.grade >= level
    above = hits.before((hits.grade >= 0) & (hits.grade < level))[rows]
    query = hits.query[rows]
    # a relevant document with a judged non-relevant one above it has a ceiling of at least one
    lost = np.minimum(above, relevant[query]) / np.maximum(ceiling[query], 1)
    return Column.ratio(hits.total(rows, 1.0 - lost), relevant.astype(float), NO_RELEVANT)


BPREF = Definition(
    name="bpref",
    key="bpref",
    help="share of judged non-relevant documents that stand below the relevant ones",
    family=Family.RANKING,
    params={"rel": RELEVANCE},
    aliases=("Bpref",),
    rank=bpref,
)
