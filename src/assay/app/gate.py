"""May this run replace its baseline?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.app.statistics import USUAL, Statistics
from assay.errors import UnknownRunError
from assay.evaluation.baseline import Baseline, side_of_file, side_of_run, sides_of_runs
from assay.evaluation.defaults import GATE_MEASURES
from assay.evaluation.gate import GateReport, chunkers_differ, lacking, parse_limits, slack
from assay.evaluation.gate import gate as rule_on
from assay.evaluation.stored_run import StoredRun
from assay.measures.base import Measure
from assay.measures.parse import parse_measures
from assay.model.codec import flat
from assay.model.run_store import BASELINE, RunFilter
from assay.model.runs import RunStatus

if TYPE_CHECKING:
    from assay.app.interface import Assay


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRequest:
    """A run held against another, or against a file with the numbers of one.

    ``limits`` such as ``Recall@10=5%`` stand beside or instead of the usual one. With
    ``non_inferiority`` the interval of the change decides instead of the means. Of the statistics,
    a gate uses alpha, resamples, seed and ci_method; what is not given is as the run has it.
    """

    baseline: str | Path
    current: str = "latest"
    limits: tuple[str, ...] = ()
    non_inferiority: bool = False
    statistics: Statistics = field(default=USUAL, metadata=flat)


def gate(assay: Assay, request: GateRequest) -> GateReport:
    """Say whether a run may replace its baseline.

    Runs of different chunkers are matched by what was archived of their chunks.
    """
    assay.require()
    settings = request.statistics.applied_to(assay.settings)
    limits = parse_limits(request.limits)
    shown = parse_measures(GATE_MEASURES)
    measures = tuple(dict.fromkeys([*shown, *(limit.measure for limit in limits)]))
    run = assay.stored_run(request.current)
    if isinstance(request.baseline, Path):
        before, now = side_of_file(request.baseline, measures), side_of_run(run, measures)
        unclear = chunkers_differ(before, now) or lacking(before, now)
        if unclear and (made := _made_from(assay, before, measures)):
            sides = sides_of_runs(made, run, measures, assay.archived)
            before, now = replace(sides[0], name=before.name), sides[1]
    else:
        other = assay.stored_run(request.baseline)
        before, now = sides_of_runs(other, run, measures, assay.archived)
    before, now = (
        replace(side, sampling=side.sampling and request.statistics.drawn_as(side.sampling))
        for side in (before, now)
    )
    return rule_on(
        before,
        now,
        limits,
        non_inferiority=request.non_inferiority,
        alpha=settings.alpha,
        sampling=request.statistics.drawn_as(run.info.scoring.sampling),
        warnings=["the run is its own baseline"] if before.name == now.name else [],
    )


def _made_from(assay: Assay, file: Baseline, measures: Sequence[Measure]) -> StoredRun | None:
    """The stored run that a file was made from, if it is here and still has the file's values.

    Its results can be matched where those of a file cannot.
    """
    if not file.run_id:
        return None
    try:
        info = assay.runs.run(file.run_id)
    except UnknownRunError:
        return None
    if info.run_id != file.run_id:
        return None
    made = assay.stored_run(info.run_id)
    values = side_of_run(made, measures).means
    pairs = [(value, values.get(name)) for name, value in file.means.items()]
    same = all(a == b or _close(a, b) for a, b in pairs)
    return made if same else None


def _close(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and abs(a - b) <= slack(rounded=True)


def run_or_file(assay: Assay, text: str) -> str | Path:
    """What a person meant: a stored run wins over a file of the same name."""
    if text.endswith(".json") or os.sep in text:
        return Path(text)
    assay.require()
    try:
        assay.runs.run(text)
    except UnknownRunError:
        if Path(text).exists():
            return Path(text)
        raise
    return text


def usual_baseline(assay: Assay, current: str = "latest") -> str:
    """What a run is held against where nobody says: the tag baseline, else the newest other run.

    Only a complete run of the same test set will do; empty where there is none.
    """
    try:
        now = assay.runs.run(current or "latest")
    except UnknownRunError:
        return ""
    fitting = RunFilter(suite=now.suite, status=RunStatus.COMPLETE)
    tagged = assay.runs.runs(replace(fitting, tag=BASELINE), limit=1).runs
    if any(info.run_id != now.run_id for info in tagged):
        return BASELINE
    others = (info.run_id for info in assay.runs.runs(fitting, limit=2).runs)
    return next((run_id for run_id in others if run_id != now.run_id), "")
