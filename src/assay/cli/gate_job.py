"""What does ``assay eval gate`` do, once its options are read?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.reports import write_file
from assay.errors import UnknownRunError
from assay.evaluation.baseline import side_of_file, side_of_run, sides_of_runs
from assay.evaluation.gate import SHOWN_MEASURES, GateReport, gate
from assay.evaluation.gate_limits import parse_limits
from assay.evaluation.sampling import sampling_of
from assay.measures.parse import parse_measures
from assay.report.gate import gate_junit, gate_markdown

if TYPE_CHECKING:
    from assay.evaluation.stored_run import StoredRun
    from assay.workspace import Workspace


def gate_job(
    workspace: Workspace,
    baseline: str,
    current: str,
    limits: tuple[str, ...],
    *,
    non_inferiority: bool,
) -> GateReport:
    """Read both sides and hold them against each other."""
    chosen = parse_limits(limits)
    shown = parse_measures(SHOWN_MEASURES)
    measures = tuple(dict.fromkeys([*shown, *(limit.measure for limit in chosen)]))
    run = workspace.stored_run(current)
    other = _stored(workspace, baseline)
    if other is None:
        before, now = side_of_file(Path(baseline), measures), side_of_run(run, measures)
    else:
        before, now = sides_of_runs(other, run, measures, workspace.archived)
    warnings = ["the run is its own baseline"] if before.name == now.name else []
    return gate(
        before,
        now,
        chosen,
        non_inferiority=non_inferiority,
        alpha=workspace.config.alpha,
        sampling=sampling_of(workspace.config),
        warnings=warnings,
    )


def write_gate(
    ruling: GateReport, *, report: Path | None, junit: Path | None, step_summary: bool
) -> None:
    """The files that were asked for."""
    if report is not None:
        write_file(report, gate_markdown(ruling))
    if junit is not None:
        write_file(junit, gate_junit(ruling))
    summary = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if step_summary and summary:
        with open(summary, "a", encoding="utf-8") as file:
            file.write(gate_markdown(ruling))


def _stored(workspace: Workspace, text: str) -> StoredRun | None:
    """The run of that reference; None where the text names a file."""
    if text.endswith(".json") or os.sep in text:
        return None
    try:
        return workspace.stored_run(text)
    except UnknownRunError:
        if Path(text).exists():
            return None
        raise
