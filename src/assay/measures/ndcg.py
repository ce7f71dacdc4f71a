"""How close is the ranking to the best possible one, grades considered?

``DCG@k = Σ gain(grade) / log2(rank + 1)`` over the first k results and ``nDCG@k = DCG@k / IDCG@k``,
the ideal running over every judged document of the query, retrieved or not. ``rank`` is the place
of ``table.py``, which differs from it where one result brings several judged passages.

Gains: ``exponential`` 2^grade − 1 (Burges et al. 2005, the default), ``linear`` the grade itself
(Järvelin & Kekäläinen 2002, what trec_eval's ndcg computes), ``binary`` 1 from grade ``rel`` on.
A negative grade gains nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.errors import UsageError
from assay.measures.base import RELEVANCE, Column, Cutoff, Definition, Family, Measure, Param
from assay.measures.table import sum_by

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits
    from assay.model.arrays import FloatArray, IntArray

NO_IDEAL = "no judged document has a gain"
EXPONENTIAL_CEILING = 60  # 2^60 is far beyond any scale of grades and still exact in a float


def gain(grade: IntArray, measure: Measure) -> FloatArray:
    """What finding a document of this grade is worth."""
    kind = measure.param("gain")
    if kind == "linear":
        return np.maximum(grade, 0).astype(float)
    if kind == "binary":
        return (grade >= measure.integer("rel")).astype(float)
    if len(grade) and int(grade.max()) > EXPONENTIAL_CEILING:
        raise UsageError(
            f"grade {int(grade.max())} is too large for an exponential gain",
            hint="use nDCG(gain=linear), or grades on a small scale such as 0-3",
        )
    return np.exp2(np.maximum(grade, 0)) - 1.0


def ndcg(hits: JudgedHits, measure: Measure) -> Column:
    """NDCG of every query."""
    rows = hits.placed(measure.cutoff)
    dcg = hits.total(rows, gain(hits.grade[rows], measure) / np.log2(hits.place[rows] + 1.0))
    rank = hits.ideal_rank()
    best = slice(None) if measure.cutoff is None else rank <= measure.cutoff
    ideal = gain(hits.ideal_grade[best], measure) / np.log2(rank[best] + 1.0)
    idcg = sum_by(hits.ideal_query[best], ideal, len(hits.queries))
    return Column.ratio(dcg, idcg, NO_IDEAL)


NDCG = Definition(
    name="nDCG",
    key="ndcg",
    help="discounted gain of the top k over that of the best possible ranking",
    family=Family.RANKING,
    cutoff=Cutoff.OPTIONAL,
    params={
        "gain": Param(
            "exponential", "what a grade is worth", choices=("exponential", "linear", "binary")
        ),
        "rel": RELEVANCE,
    },
    aliases=("NDCG", "ndcg"),
    rank=ndcg,
)
