"""Where does a reader stop who is the more likely to be satisfied the better a result is?

``ERR = Σ R_i / i · Π_{j<i} (1 − R_j)`` with ``R = (2^grade − 1) / 2^max_grade`` (Chapelle et al.
2009). The scale's top is 4 unless told otherwise, as in the TREC Web track's gdeval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.errors import UsageError
from assay.measures.base import Column, Cutoff, Definition, Family, Measure, Param
from assay.measures.table import ordinal

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits


def expected_reciprocal_rank(hits: JudgedHits, measure: Measure) -> Column:
    """ERR of every query."""
    top = measure.integer("max_grade")
    if len(hits.ideal_grade) and int(hits.ideal_grade.max()) > top:
        raise UsageError(
            f"{measure}: grade {int(hits.ideal_grade.max())} is above the scale's top, {top}",
            hint=f"use ERR(max_grade={int(hits.ideal_grade.max())})",
        )
    rows = (hits.grade > 0) & hits.placed(measure.cutoff)
    query, place = hits.query[rows], hits.place[rows]
    satisfied = (np.exp2(hits.grade[rows]) - 1.0) / 2.0**top
    values = np.zeros(len(hits.queries))
    reading_on = np.ones(len(hits.queries))
    step = ordinal(query)
    for number in range(1, int(step.max(initial=0)) + 1):
        now = step == number  # at most one row a query
        values[query[now]] += reading_on[query[now]] * satisfied[now] / place[now]
        reading_on[query[now]] *= 1.0 - satisfied[now]
    return Column.full(values)


ERR = Definition(
    name="ERR",
    key="err",
    help="expected reciprocal rank at which a reader is satisfied, by grade",
    family=Family.RANKING,
    cutoff=Cutoff.OPTIONAL,
    params={"max_grade": Param(4, "the best grade of the scale", low=1, high=60)},
    rank=expected_reciprocal_rank,
)
