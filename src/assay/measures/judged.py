"""How much of what came back has anyone judged?

``Judged@k = judged results in the top k / results in the top k``. Low values mean holes: other
measures then speak about the judgments more than about the ranking. A negative grade counts as
unjudged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.measures.base import Column, Cutoff, Definition, Family, Measure

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits

NOTHING_RETRIEVED = "nothing was retrieved"


def judged(hits: JudgedHits, measure: Measure) -> Column:
    """Judged share of every query's results."""
    rows = (hits.grade >= 0) & hits.within(measure.cutoff) & hits.lead
    shown = hits.retrieved
    if measure.cutoff is not None:
        shown = np.minimum(shown, measure.cutoff)
    return Column.ratio(hits.count(rows).astype(float), shown.astype(float), NOTHING_RETRIEVED)


JUDGED = Definition(
    name="Judged",
    key="judged",
    help="share of the results in the top k that has a judgment",
    family=Family.RANKING,
    cutoff=Cutoff.OPTIONAL,
    about_relevance=False,
    rank=judged,
)
