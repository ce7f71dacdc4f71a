"""Which system is better, and is this one good enough?"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay import limits
from assay.cli.connection import connected
from assay.cli.console import emit_json, emit_text, note
from assay.cli.eval.shared import Ref, app
from assay.cli.options import (
    DEGRADED,
    SAMPLING,
    JsonFlag,
    Measures,
    configuration,
    takes_search_options,
    takes_settings,
)
from assay.durable import write_atomically
from assay.search.request import RUN_FILTERS

if TYPE_CHECKING:
    from assay.app.comparison import Side
    from assay.app.interface import Assay
    from assay.evaluation.gate import GateReport
    from assay.settings import Settings

Strict = Annotated[
    bool,
    typer.Option("--strict-chunker-version", help="Refuse runs that used different chunkers."),
]
WriteReport = Annotated[
    bool,
    typer.Option("--write-report", help="Also write Markdown and HTML to the reports folder."),
]


@app.command("tune")
@takes_search_options(("components", "depth", *RUN_FILTERS), "search")
def tune(
    ctx: typer.Context,
    *,
    testset: Annotated[str, typer.Option("--testset", "-t", help="Name of a test set, or a path.")],
    measure: Annotated[str, typer.Option("--measure", "-m", help="What to maximise.")] = "nDCG@10",
    fusion_method: Annotated[
        Literal["rrf", "weighted", "both"],
        typer.Option("--fusion-method", help="Which methods to try."),
    ] = "both",
    step: Annotated[
        float, typer.Option("--step", min=0.01, max=0.5, help="Step between weights.")
    ] = 0.1,
    by_type: Annotated[
        bool, typer.Option("--by-type", help="Also try weights for each type of query.")
    ] = False,
    search: Mapping[str, Any],
    holdout: Annotated[
        bool,
        typer.Option("--holdout/--no-holdout", help="Report on the held-out part; that is logged."),
    ] = True,
    show: Annotated[int, typer.Option("--show", min=1, help="How many settings to list.")] = 10,
    json_output: JsonFlag = False,
) -> None:
    """Search for better fusion settings, and check the gain on unseen queries."""
    from assay.app import tuning
    from assay.app.workspace import Workspace
    from assay.cli.progress import evaluation_progress
    from assay.cli.tables import show_tables
    from assay.render.tuning import tuning_json, tuning_tables
    from assay.search.request import read_changes

    settings = configuration(ctx)
    with Workspace(settings) as workspace, evaluation_progress(settings.color) as progress:
        tuned = tuning.tune(
            workspace,
            testset,
            measure=measure,
            fusion_method=fusion_method,
            step=step,
            by_type=by_type,
            options=read_changes(search),
            holdout=holdout,
            progress=progress,
        )
    if json_output:
        emit_json(tuning_json(tuned.tuning, tuned.present, show))
        return
    show_tables(tuning_tables(tuned.tuning, tuned.present, show), settings.color)
    for warning in tuned.tuning.warnings:
        note(f"warning: {warning}")


@app.command("compare")
def compare(
    ctx: typer.Context,
    a: Ref,
    b: Ref,
    measures: Measures = None,
    strict: Strict = False,
    write_report: WriteReport = False,
    csv: Annotated[bool, typer.Option("--csv", help="Write a line for each query.")] = False,
    json_output: JsonFlag = False,
) -> int:
    """Show what changed between two runs, query by query."""
    from assay.app import comparison
    from assay.cli.tables import show_tables
    from assay.render.compare_text import (
        compare_csv,
        compare_tables,
        counts_line,
        render_report_md,
    )

    with connected(ctx) as assay:
        compared = comparison.compare(
            assay, comparison.CompareRequest(a, b, tuple(measures or ()), strict)
        )
    settings, report = assay.settings, compared.report
    if write_report:
        from assay.render.compare_page import compare_page

        page = compare_page(compared.a, compared.b, report)
        pages = {".md": render_report_md(report), ".html": page}
        _write_reports(settings, f"compare-{report.run_a}-{report.run_b}", pages)
    for line in report.warnings:
        note(f"warning: {line}")
    if json_output:
        emit_json(report.to_dict())
    elif csv:
        emit_text(compare_csv(report))
    else:
        show_tables(compare_tables(report), settings.color)
        emit_text(counts_line(report))
    return DEGRADED if report.degraded or report.incomplete else 0


@app.command("ab")
@takes_settings((*SAMPLING, "alpha", "margin"), "statistics")
def ab_test(
    ctx: typer.Context,
    *,
    config_a: Annotated[
        str,
        typer.Argument(
            help="A run, a YAML or JSON file of options, or fusion_method=rrf,rrf_k=60."
        ),
    ],
    config_b: Annotated[str, typer.Argument(help="The same for the other side.")],
    testset: Annotated[
        str | None, typer.Option("--testset", "-t", help="Test set for sides that are not runs.")
    ] = None,
    holdout: Annotated[
        bool, typer.Option("--holdout", help="Use the held-out part of the test set.")
    ] = False,
    measures: Measures = None,
    by_group: Annotated[
        bool, typer.Option("--by-group", help="Draw queries of one group together.")
    ] = False,
    latency_repeats: Annotated[
        int | None,
        typer.Option(
            "--latency-repeats",
            min=0,
            max=limits.MAX_LATENCY_REPEATS,
            help="How often to time both sides in turn; by default 3 times for configurations and "
            "not at all for stored runs.",
        ),
    ] = None,
    strict: Strict = False,
    write_report: WriteReport = False,
    statistics: Mapping[str, Any],
    json_output: JsonFlag = False,
) -> int:
    """Test two runs or configurations against each other."""
    from assay.app import comparison
    from assay.app.statistics import read_statistics
    from assay.cli.tables import show_tables
    from assay.render.compare_text import ab_markdown, ab_tables, counts_line

    with connected(ctx, **statistics) as assay:
        a, b = (_side(assay, text, testset, holdout) for text in (config_a, config_b))
        test = comparison.ab(
            assay,
            comparison.AbRequest(
                a.run_id,
                b.run_id,
                tuple(measures or ()),
                strict,
                by_group,
                latency_repeats,
                read_statistics(statistics),
            ),
            sides=(a, b),
        )
    settings, result = assay.settings, test.result
    if write_report:
        from assay.render.compare_page import compare_page

        page = compare_page(test.a, test.b, result.compared, result)
        pages = {".md": ab_markdown(result), ".html": page}
        _write_reports(settings, f"ab-{test.a.name}-{test.b.name}", pages)
    for line in result.compared.warnings:
        note(f"warning: {line}")
    if json_output:
        emit_json(result.to_dict())
    else:
        show_tables(ab_tables(result), settings.color)
        emit_text(counts_line(result.compared))
        emit_text(result.verdict)
    return DEGRADED if result.compared.degraded or result.compared.incomplete else 0


def _side(assay: "Assay", text: str, testset: str | None, holdout: bool) -> "Side":
    """The run that stands for one side."""
    from assay.app.comparison import side

    assay.require()
    chosen = side(assay, text, testset, holdout=holdout)
    if chosen.made is not None:
        note(f"{'ran' if chosen.made else 'stored'}: {chosen.name} is {chosen.run_id}")
    return chosen


def _write_reports(settings: "Settings", name: str, pages: Mapping[str, str]) -> None:
    """Write the same report in several forms."""
    from assay.app.layout import Layout

    for ending, text in pages.items():
        place = Layout(settings.home).report(f"{name}{ending}")
        write_atomically(place, text.encode())
        note(f"wrote {place}")


@app.command("gate")
@takes_settings(("alpha", "ci_method", "resamples", "seed"), "statistics")
def gate_command(
    ctx: typer.Context,
    *,
    baseline: Annotated[
        str,
        typer.Option(
            "--baseline", help="A run, a bundle of one run, or a JSON file with the metrics of one."
        ),
    ],
    current: Annotated[
        str,
        typer.Option("--current", help="The run to check, or a file that --baseline would take."),
    ] = "latest",
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            help='"Recall@10=5%" (relative), "nDCG@10=0.02" (absolute), "latency_p95=20%" or '
            '"latency_p95<500ms"; replaces the default, Recall@10=5%.',
        ),
    ] = None,
    latency_repeats: Annotated[
        int,
        typer.Option(
            "--latency-repeats",
            min=0,
            max=limits.MAX_LATENCY_REPEATS,
            help="How often to time both configurations in turn, if a limit is on latency; 0 uses "
            "the times recorded in the runs.",
        ),
    ] = 0,
    non_inferiority: Annotated[
        bool,
        typer.Option("--non-inferiority", help="Decide by the confidence interval of the change."),
    ] = False,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write the Markdown report here.")
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML here.")] = None,
    step_summary: Annotated[
        bool,
        typer.Option("--step-summary", help="Add the report to $GITHUB_STEP_SUMMARY."),
    ] = False,
    statistics: Mapping[str, Any],
    json_output: JsonFlag = False,
) -> int:
    """Fail when a run is worse than its baseline by more than is allowed."""
    from assay.app.gate import GateRequest, gate, run_or_file
    from assay.app.statistics import read_statistics
    from assay.cli.tables import show_tables
    from assay.render.gate import gate_tables

    with connected(ctx, **statistics) as assay:
        ruling = gate(
            assay,
            GateRequest(
                baseline=run_or_file(assay, baseline),
                current=run_or_file(assay, current),
                limits=tuple(limit or ()),
                non_inferiority=non_inferiority,
                latency_repeats=latency_repeats,
                statistics=read_statistics(statistics),
            ),
        )
    _write_gate(ruling, report=report, junit=junit, step_summary=step_summary)
    if json_output:
        emit_json(ruling.to_dict())
    else:
        show_tables(gate_tables(ruling), assay.settings.color)
        for line in ruling.blockers:
            note(f"not compared: {line}")
        for line in ruling.warnings:
            note(f"warning: {line}")
        emit_text(f"gate: {ruling.outcome.value}")
    return ruling.outcome.exit_code


def _write_gate(
    ruling: "GateReport", *, report: Path | None, junit: Path | None, step_summary: bool
) -> None:
    """The files of a gate that were asked for."""
    from assay.render.gate import gate_junit, gate_markdown

    if report is not None:
        write_atomically(report, gate_markdown(ruling).encode())
    if junit is not None:
        write_atomically(junit, gate_junit(ruling).encode())
    summary = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if step_summary and summary:
        with open(summary, "a", encoding="utf-8") as file:
            file.write(gate_markdown(ruling))
