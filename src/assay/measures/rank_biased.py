"""What does a reader with a given patience gain?

``RBP = (1 − p) Σ p^(rank − 1)`` over relevant ranks (Moffat & Zobel 2008): after each result the
reader goes on with probability p.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.measures.base import RELEVANCE, Column, Cutoff, Definition, Family, Measure, Param

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits


def rank_biased_precision(hits: JudgedHits, measure: Measure) -> Column:
    """RBP of every query."""
    patience = measure.number("p")
    rows = (hits.grade >= measure.integer("rel")) & hits.placed(measure.cutoff)
    weight = (1.0 - patience) * np.power(patience, hits.place[rows] - 1.0)
    return Column.full(hits.total(rows, weight))


RBP = Definition(
    name="RBP",
    key="rbp",
    help="expected gain of a reader who goes on to the next result with probability p",
    family=Family.RANKING,
    cutoff=Cutoff.OPTIONAL,
    params={
        "p": Param(0.8, "probability of reading on", low=0.0, high=0.999999),
        "rel": RELEVANCE,
    },
    rank=rank_biased_precision,
)
