"""What changed between two runs, is it real, and may it be merged?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.eval_options import Margin, Measures, Resamples, Seed
from assay.cli.options import DEGRADED, JsonFlag, configuration

verbs = typer.Typer()

Strict = Annotated[
    bool,
    typer.Option("--strict-chunker-version", help="Refuse runs that used different chunkers."),
]
WriteReport = Annotated[
    bool,
    typer.Option("--write-report", help="Also write Markdown and HTML to the reports folder."),
]
RunRef = Annotated[
    str,
    typer.Argument(help="A run: its id or the beginning of it, a tag, a name, latest, latest~1."),
]


@verbs.command("compare")
def compare(
    ctx: typer.Context,
    a: RunRef,
    b: RunRef,
    measures: Measures = None,
    strict: Strict = False,
    write_report: WriteReport = False,
    csv: Annotated[bool, typer.Option("--csv", help="Write a line for each query.")] = False,
    json_output: JsonFlag = False,
) -> int:
    """Show what changed between two runs, query by query."""
    from assay.cli.connection import connected
    from assay.cli.reports import write_reports
    from assay.cli.show import show_tables
    from assay.evaluation.compare import compare_runs, depth_for
    from assay.render.compare_text import (
        compare_csv,
        compare_tables,
        counts_line,
        render_report_md,
    )

    config = configuration(ctx)
    with connected(config) as workspace:
        workspace.require()
        asked = " ".join(measures or ())
        one, other = (workspace.stored_run(ref, depth=depth_for(asked)) for ref in (a, b))
        report = compare_runs(
            one,
            other,
            measures=asked,
            archive=workspace.archived,
            strict_chunker_version=strict,
        )
        if write_report:
            from assay.render.compare_page import compare_page

            name = f"compare-{report.run_a}-{report.run_b}"
            pages = {".md": render_report_md(report), ".html": compare_page(one, other, report)}
            write_reports(workspace.home / "reports", name, pages)
    for line in report.warnings:
        note(f"warning: {line}")
    if json_output:
        emit_json(report.to_dict())
    elif csv:
        emit_text(compare_csv(report))
    else:
        show_tables(compare_tables(report), config.color)
        emit_text(counts_line(report))
    return DEGRADED if report.degraded else 0


@verbs.command("ab")
def ab_test(
    ctx: typer.Context,
    config_a: Annotated[
        str,
        typer.Argument(help="A run, a YAML file of search options, or fusion_method=rrf,rrf_k=60."),
    ],
    config_b: Annotated[str, typer.Argument(help="The same for the other side.")],
    testset: Annotated[
        str | None, typer.Option("--testset", "-t", help="Test set for sides that are not runs.")
    ] = None,
    holdout: Annotated[
        bool, typer.Option("--holdout", help="Use the held-out part of the test set.")
    ] = False,
    measures: Measures = None,
    cluster: Annotated[
        bool, typer.Option("--by-group", help="Draw queries of one group together.")
    ] = False,
    strict: Strict = False,
    write_report: WriteReport = False,
    json_output: JsonFlag = False,
    resamples: Resamples = None,
    seed: Seed = None,
    alpha: Annotated[float | None, typer.Option("--alpha", help="Significance level.")] = None,
    margin: Margin = None,
) -> int:
    """Test two runs or configurations against each other."""
    from assay.cli.ab_sides import side
    from assay.cli.connection import connected
    from assay.cli.reports import write_reports
    from assay.cli.show import show_tables
    from assay.evaluation.ab import ab
    from assay.evaluation.defaults import AB_MEASURES
    from assay.render.compare_page import compare_page
    from assay.render.compare_text import ab_markdown, ab_tables, counts_line

    config = configuration(ctx, resamples=resamples, seed=seed, alpha=alpha, margin=margin)
    with connected(config) as workspace:
        workspace.require()
        one = side(workspace, config_a, testset, holdout=holdout)
        other = side(workspace, config_b, testset, holdout=holdout)
        result = ab(
            one,
            other,
            " ".join(measures) if measures else AB_MEASURES,
            alpha=config.alpha,
            margin=config.margin,
            sampling=config.sampling,
            clustered=cluster,
            archive=workspace.archived,
            strict_chunker_version=strict,
        )
        if write_report:
            name = f"ab-{one.name}-{other.name}"
            page = compare_page(one, other, result.compared, result)
            pages = {".md": ab_markdown(result), ".html": page}
            write_reports(workspace.home / "reports", name, pages)
    for line in result.compared.warnings:
        note(f"warning: {line}")
    if json_output:
        emit_json(result.to_dict())
    else:
        show_tables(ab_tables(result), config.color)
        emit_text(counts_line(result.compared))
        emit_text(result.verdict)
    return DEGRADED if result.compared.degraded else 0


@verbs.command("gate")
def gate_command(
    ctx: typer.Context,
    baseline: Annotated[
        str, typer.Option("--baseline", help="A run, or a JSON file with the metrics of one.")
    ],
    current: Annotated[str, typer.Option("--current", help="The run to judge.")] = "latest",
    limit: Annotated[
        list[str] | None,
        typer.Option("--limit", help='"Recall@10=5%" (relative) or "nDCG@10=0.02" (absolute).'),
    ] = None,
    non_inferiority: Annotated[
        bool,
        typer.Option("--non-inferiority", help="Let the interval of the change decide."),
    ] = False,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write the Markdown report here.")
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML here.")] = None,
    step_summary: Annotated[
        bool,
        typer.Option("--step-summary", help="Add the report to $GITHUB_STEP_SUMMARY."),
    ] = False,
    json_output: JsonFlag = False,
    seed: Seed = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="Level of the one-sided tests.")
    ] = None,
) -> int:
    """Fail when a run is worse than its baseline by more than is allowed."""
    from assay.app.gate import gate_runs, run_or_file
    from assay.cli.connection import connected
    from assay.cli.reports import write_gate

    config = configuration(ctx, seed=seed, alpha=alpha)
    with connected(config) as workspace:
        workspace.require()
        ruling = gate_runs(
            workspace,
            run_or_file(workspace, baseline),
            current,
            limit or (),
            non_inferiority=non_inferiority,
        )
    write_gate(ruling, report=report, junit=junit, step_summary=step_summary)
    if json_output:
        emit_json(ruling.to_dict())
    else:
        from assay.cli.show import show_tables
        from assay.render.gate import gate_tables

        show_tables(gate_tables(ruling), config.color)
        for line in ruling.blockers:
            note(f"not compared: {line}")
        for line in ruling.warnings:
            note(f"warning: {line}")
        emit_text(f"gate: {ruling.outcome.value}")
    return ruling.outcome.exit_code
