"""How does a run read as a report, and do reported numbers hold?"""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.eval_compare import RunRef
from assay.cli.eval_options import Measures, Resamples, Seed
from assay.cli.options import JsonFlag, configuration
from assay.plural import counted

verbs = typer.Typer()

MOST_PROBLEMS = 20

Form = Literal["table", "md", "html", "json", "csv"]


@verbs.command("report")
def report(
    ctx: typer.Context,
    run: RunRef = "latest",
    form: Annotated[Form, typer.Option("--format", "-f", help="How to write it.")] = "table",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file.")] = None,
    measures: Measures = None,
    workflow: Annotated[
        bool, typer.Option("--workflow", help="P and R at 1, 3, 5, 10, MAP and nDCG@10.")
    ] = False,
    target: Annotated[
        list[str] | None, typer.Option("--target", help='What to reach, as in "P@5=0.65".')
    ] = None,
    json_output: JsonFlag = False,
    resamples: Resamples = None,
    seed: Seed = None,
) -> None:
    """Write a report on one run: tables, breakdowns, insights, worst queries."""
    import json

    from assay.cli.connection import connected
    from assay.cli.reports import write_file
    from assay.evaluation.defaults import REPORT_MEASURES, WORKFLOW_MEASURES, WORKFLOW_TARGETS
    from assay.evaluation.report import parse_targets, run_report
    from assay.render.report_page import run_page
    from assay.render.report_text import run_csv, run_markdown, run_tables

    config = configuration(ctx, resamples=resamples, seed=seed)
    usual = WORKFLOW_MEASURES if workflow else REPORT_MEASURES
    with connected(config) as workspace:
        workspace.require()
        found = run_report(
            workspace.stored_run(run),
            " ".join(measures) if measures else usual,
            targets=parse_targets((*WORKFLOW_TARGETS, *(target or ()))),
            sampling=config.sampling,
        )
    for line in found.warnings:
        note(f"warning: {line}")
    chosen = "json" if json_output else form
    if chosen == "table":
        from assay.cli.show import show_tables

        show_tables(run_tables(found), config.color)
        for insight in found.insights:
            emit_text(f"- {insight.text}")
        return
    text = {
        "md": lambda: run_markdown(found),
        "html": lambda: run_page(found),
        "csv": lambda: run_csv(found) + "\n",
        "json": lambda: json.dumps(found.to_dict(), allow_nan=False, indent=1) + "\n",
    }[chosen]()
    if out is None:
        emit_text(text.rstrip("\n"))
    else:
        write_file(out, text)
        note(f"wrote {out}")


@verbs.command("bundle")
def bundle(
    ctx: typer.Context,
    runs: Annotated[list[str], typer.Argument(help="The runs whose numbers are reported.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    measures: Measures = None,
    json_output: JsonFlag = False,
    resamples: Resamples = None,
    seed: Seed = None,
) -> None:
    """Write metrics_master.json, the one source of reported numbers, with checksums."""
    from assay.cli.bundle_job import write_bundle
    from assay.cli.connection import connected

    config = configuration(ctx, resamples=resamples, seed=seed)
    asked = " ".join(measures) if measures else None
    with connected(config) as workspace:
        workspace.require()
        files = write_bundle(workspace, runs, asked, config.sampling, out)
    if json_output:
        emit_json({"folder": str(out), "files": files})
    else:
        emit_text(f"wrote {', '.join(files)} to {out}")


@verbs.command("verify-bundle")
def verify_bundle(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(help="The folder that assay eval bundle wrote.")],
    json_output: JsonFlag = False,
) -> int:
    """Compute a bundle's numbers again from the stored runs; any difference fails."""
    from assay.cli.bundle_job import check_bundle
    from assay.cli.connection import connected

    config = configuration(ctx)
    with connected(config) as workspace:
        workspace.require()
        checked = check_bundle(workspace, folder)
    if json_output:
        emit_json(
            {"ok": not checked.problems, "metrics": checked.metrics, "problems": checked.problems}
        )
    else:
        for problem in checked.problems[:MOST_PROBLEMS]:
            emit_text(problem)
        if len(checked.problems) > MOST_PROBLEMS:
            emit_text(f"... and {len(checked.problems) - MOST_PROBLEMS} more (--json has all)")
        state = counted(len(checked.problems), "difference") if checked.problems else "all equal"
        emit_text(f"{counted(checked.metrics, 'number')} computed again: {state}")
    return 3 if checked.problems else 0
