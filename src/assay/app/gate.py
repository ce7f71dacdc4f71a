"""May this run replace its baseline?"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import UnknownRunError
from assay.evaluation.baseline import side_of_file, side_of_run, sides_of_runs
from assay.evaluation.defaults import GATE_MEASURES
from assay.evaluation.gate import GateReport, gate, parse_limits
from assay.measures.parse import parse_measures

if TYPE_CHECKING:
    from assay.app.workspace import Workspace


def gate_runs(
    workspace: Workspace,
    baseline: str | Path,
    current: str,
    limits: Iterable[str] = (),
    *,
    non_inferiority: bool = False,
    alpha: float | None = None,
    seed: int | None = None,
) -> GateReport:
    """Hold a run against another, or against a file with the numbers of one.

    Runs of different chunkers are matched by what was archived of their chunks.
    """
    chosen = parse_limits(limits)
    shown = parse_measures(GATE_MEASURES)
    measures = tuple(dict.fromkeys([*shown, *(limit.measure for limit in chosen)]))
    run = workspace.stored_run(current)
    if isinstance(baseline, Path):
        before, now = side_of_file(baseline, measures), side_of_run(run, measures)
    else:
        other = workspace.stored_run(baseline)
        before, now = sides_of_runs(other, run, measures, workspace.archived)
    sampling = workspace.settings.sampling
    return gate(
        before,
        now,
        chosen,
        non_inferiority=non_inferiority,
        alpha=workspace.settings.alpha if alpha is None else alpha,
        sampling=sampling if seed is None else replace(sampling, seed=seed),
        warnings=["the run is its own baseline"] if before.name == now.name else [],
    )


def run_or_file(workspace: Workspace, text: str) -> str | Path:
    """What a person meant: a stored run wins over a file of the same name."""
    if text.endswith(".json") or os.sep in text:
        return Path(text)
    try:
        workspace.runs.run(text)
    except UnknownRunError:
        if Path(text).exists():
            return Path(text)
        raise
    return text
