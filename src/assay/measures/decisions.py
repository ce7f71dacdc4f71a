"""Which measures judge a yes/no decision per query?

The ``all_queries`` protocol: every query has a label (is there evidence?) and a score (how sure is
the system?). The formulas are in ``classification.py``; here they get names and parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from assay.measures import classification as kernel
from assay.measures.base import Definition, Family, Measure, Param

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.measures.classification import MeasureValue
    from assay.model.arrays import BoolArray, FloatArray

    Decide: TypeAlias = Callable[[BoolArray, FloatArray, Measure], MeasureValue]

THRESHOLD = {"t": Param(0.5, "a query counts as positive from this score on")}
FPR = {"fpr": Param(0.05, "largest false positive rate allowed", low=0.0, high=1.0)}
BINS = {"bins": Param(10, "number of equal-width bins", low=1, high=1000)}


def _at_threshold(formula: Callable[[BoolArray, FloatArray, float], MeasureValue]) -> Decide:
    return lambda labels, scores, measure: formula(labels, scores, measure.number("t"))


def _define(
    name: str,
    text: str,
    decide: Decide,
    params: dict[str, Param] | None = None,
    *aliases: str,
    lower_is_better: bool = False,
) -> Definition:
    return Definition(
        name=name,
        key=name.lower(),
        help=text,
        family=Family.DECISION,
        params=params or {},
        aliases=aliases,
        lower_is_better=lower_is_better,
        decide=decide,
    )


DECISION_DEFINITIONS: tuple[Definition, ...] = (
    _define(
        "AUROC",
        "chance that a positive query scores above a negative one, ties half",
        lambda labels, scores, _: kernel.auroc(labels, scores),
    ),
    _define(
        "AUPRC",
        "average precision over the score thresholds, step-wise",
        lambda labels, scores, _: kernel.auprc(labels, scores),
    ),
    _define(
        "Sensitivity",
        "share of positives with score >= t",
        _at_threshold(kernel.sensitivity),
        THRESHOLD,
    ),
    _define(
        "Specificity",
        "share of negatives with score < t",
        _at_threshold(kernel.specificity),
        THRESHOLD,
    ),
    _define(
        "PPV",
        "precision of the decision: share of queries with score >= t that are positive",
        _at_threshold(kernel.precision),
        THRESHOLD,
    ),
    _define(
        "NPV",
        "share of queries with score < t that are negative",
        _at_threshold(kernel.npv),
        THRESHOLD,
    ),
    _define("F1", "harmonic mean of PPV and Sensitivity at t", _at_threshold(kernel.f1), THRESHOLD),
    _define(
        "TPR",
        "largest sensitivity whose false positive rate is within fpr",
        lambda labels, scores, measure: kernel.tpr_at_fpr(labels, scores, measure.number("fpr")),
        FPR,
    ),
    _define(
        "Brier",
        "mean squared error of the scores as probabilities",
        lambda labels, scores, _: kernel.brier(labels, scores),
        lower_is_better=True,
    ),
    _define(
        "ECE",
        "gap between predicted and observed frequency over bins",
        lambda labels, scores, measure: kernel.ece(labels, scores, bins=measure.integer("bins")),
        BINS,
        lower_is_better=True,
    ),
)
