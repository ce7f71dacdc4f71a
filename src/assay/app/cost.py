"""About how many seconds would a core compute on this?

Estimated before the work begins, from what is known then: how many queries, measures, comparisons
and resamples. By what was measured; see ``tests/unit/app/test_cost.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.app.statistics import USUAL, Measures, Statistics, as_text
from assay.evaluation.defaults import (
    AB_MEASURES,
    EVALUATION_MEASURES,
    GATE_MEASURES,
    REPORT_MEASURES,
    WORKFLOW_MEASURES,
)
from assay.measures.parse import parse_measures

if TYPE_CHECKING:
    from assay.app.comparison import AbRequest
    from assay.app.gate import GateRequest
    from assay.app.interface import Assay
    from assay.model.runs import RunInfo

VALUE_S = 5e-9
"""Of one value in one resample."""
OVERHEAD = 240
"""What a resample of a column costs besides, in values."""
OUTCOME_S = 0.0004
"""Of reading one query of a run, its judgments and its results, and of scoring it."""
STAGES = 5
"""How much more that is where the lists of components are looked at."""
PAIR = 2
"""How much more it is where runs are compared query by query."""
BYTE_S = 4e-7
"""Of reading one byte of a test set into values."""
TESTS = 3
"""A test of a difference costs as much as so many intervals."""


def drawn(columns: int, rows: int, resamples: int) -> float:
    """Intervals of so many columns over so many rows."""
    return VALUE_S * columns * resamples * (OVERHEAD + rows)


def read(size: int) -> float:
    """A test set of so many bytes."""
    return BYTE_S * size


def counted(measures: Measures) -> int:
    """How many measures these are."""
    return len(parse_measures(as_text(measures))) if measures else 0


def scored(
    assay: Assay,
    run: str,
    measures: Measures = (),
    statistics: Statistics = USUAL,
    *,
    stages: bool = False,
) -> float:
    """Scores of a stored run, with those of its components where ``stages`` says so."""
    info = assay.runs.run(run)
    columns = counted(measures or info.scoring.measures or EVALUATION_MEASURES)
    return (STAGES if stages else 1) * _scored(info, columns, statistics)


def rescored(assay: Assay, run: str, measures: Measures = ()) -> float:
    """A run scored again, by the measures that it has and by others."""
    info = assay.runs.run(run)
    return _scored(info, len(info.aggregate.get("aggregates", ())) + counted(measures))


def reported(
    assay: Assay,
    run: str,
    measures: Measures = (),
    statistics: Statistics = USUAL,
    *,
    workflow: bool = False,
    targets: Sequence[str] = (),
) -> float:
    """A report on a stored run."""
    usual = WORKFLOW_MEASURES if workflow else REPORT_MEASURES
    return _scored(assay.runs.run(run), counted(measures or usual) + len(targets), statistics)


def compared(assay: Assay, a: str, b: str) -> float:
    """Two stored runs side by side."""
    return PAIR * OUTCOME_S * sum(assay.runs.run(run).queries for run in (a, b))


def tested(assay: Assay, request: AbRequest) -> float:
    """The differences of two runs, tested."""
    info = assay.runs.run(request.b)
    columns = TESTS * counted(request.measures or AB_MEASURES)
    read = compared(assay, request.a, request.b)
    return read + drawn(columns, info.queries, _resamples(info, request.statistics))


def gated(assay: Assay, request: GateRequest) -> float:
    """A run held against another; files that stand for runs count as nothing."""
    named = [str(one) for one in (request.baseline, request.current) if not isinstance(one, Path)]
    infos = [assay.runs.run(run) for run in named]
    columns = TESTS * (counted(GATE_MEASURES) + len(request.limits))
    return sum(
        PAIR * OUTCOME_S * info.queries
        + drawn(columns, info.queries, _resamples(info, request.statistics)) / len(infos)
        for info in infos
    )


def _scored(info: RunInfo, columns: int, statistics: Statistics = USUAL) -> float:
    resamples = _resamples(info, statistics)
    return OUTCOME_S * info.queries + drawn(columns, info.queries, resamples)


def _resamples(info: RunInfo, statistics: Statistics) -> int:
    return statistics.drawn_as(info.scoring.sampling).resamples
