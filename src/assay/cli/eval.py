"""What can be done with evaluations?

``run``, ``tune`` and ``publish`` stand in modules of their own.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli import eval_publish, eval_run, eval_tune
from assay.cli.connection import connected
from assay.cli.console import emit_json, emit_text, note
from assay.cli.eval_options import (
    Alpha,
    CiMethod,
    Confidence,
    Margin,
    Matching,
    Measures,
    PerComponent,
    PerQuery,
    Resamples,
    Seed,
    Waterfall,
)
from assay.cli.options import DEGRADED, JsonFlag, configuration, group
from assay.durable import write_atomically
from assay.errors import UsageError
from assay.plural import counted, share_of

if TYPE_CHECKING:
    from assay.app.interface import Assay
    from assay.app.runs import QueryRequest
    from assay.evaluation.gate import GateReport
    from assay.settings import Settings

app = group("Run test sets, keep the runs, look at them and compare them.")
app.registered_commands += eval_run.verbs.registered_commands

MOST_PROBLEMS = 20
DIFFERENT = 3
"""The exit code of a bundle that says something else than its runs."""

Ref = Annotated[
    str,
    typer.Argument(help="A run: its id or the beginning of it, a tag, a name, latest, latest~1."),
]
Strict = Annotated[
    bool,
    typer.Option("--strict-chunker-version", help="Refuse runs that used different chunkers."),
]
WriteReport = Annotated[
    bool,
    typer.Option("--write-report", help="Also write Markdown and HTML to the reports folder."),
]
Form = Literal["table", "md", "html", "json", "csv"]


@app.command("list")
def list_runs(
    ctx: typer.Context,
    suite: Annotated[str | None, typer.Option("--suite", help="Runs of this test set.")] = None,
    status: Annotated[
        str | None, typer.Option("--status", help="complete, running, interrupted or failed.")
    ] = None,
    tag: Annotated[str | None, typer.Option("--tag", help="The run with this tag.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="How many.")] = 20,
    offset: Annotated[int, typer.Option("--offset", min=0, help="How many to pass over.")] = 0,
    json_output: JsonFlag = False,
) -> None:
    """List runs, newest first."""
    from assay.app import runs
    from assay.cli.tables import show_tables
    from assay.model.codec import encode
    from assay.render.runs import runs_table

    settings = configuration(ctx)
    chosen = runs.run_filter(suite, status, tag)
    with connected(settings) as assay:
        page = runs.list_runs(assay, chosen, limit=limit, offset=offset)
    if json_output:
        emit_json(encode(page))
        return
    if not page.runs:
        note("note: no run here yet: assay eval run --testset NAME makes one")
        return
    show_tables([runs_table(page.runs)], settings.color)
    if page.total > len(page.runs):
        note(
            f"note: {share_of(len(page.runs), page.total, 'run')}; --limit and --offset show others"
        )


@app.command("tag")
def tag_run(
    ctx: typer.Context,
    ref: Ref,
    tag: Annotated[str, typer.Argument(help="The tag, for example baseline.")],
    remove: Annotated[bool, typer.Option("--remove", help="Take the tag away.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Give a run a name of its own, such as baseline."""
    from assay.app import runs

    with connected(configuration(ctx)) as assay:
        info = runs.untag(assay, tag, ref) if remove else runs.tag(assay, ref, tag)
    if json_output:
        emit_json({"run_id": info.run_id, "tags": list(info.tags)})
    else:
        emit_text(f"{info.run_id}  {', '.join(info.tags) or 'no tags'}")


@app.command("delete")
def delete_run(ctx: typer.Context, ref: Ref, json_output: JsonFlag = False) -> None:
    """Delete a run and everything that is stored of it."""
    from assay.app import runs

    with connected(configuration(ctx)) as assay:
        info = runs.delete(assay, ref)
    if json_output:
        emit_json({"deleted": info.run_id})
    else:
        emit_text(f"deleted {info.run_id}")


@app.command("show")
def show(
    ctx: typer.Context,
    ref: Ref,
    measures: Measures = None,
    match: Matching = "exact",
    query: Annotated[str | None, typer.Option("--query", help="Show this query's ranking.")] = None,
    per_component: PerComponent = False,
    waterfall: Waterfall = False,
    per_query: PerQuery = False,
    json_output: JsonFlag = False,
    confidence: Confidence = None,
    ci_method: CiMethod = None,
    resamples: Resamples = None,
    seed: Seed = None,
) -> None:
    """Show a run: its scores, its configuration, or one query."""
    from assay.app import runs
    from assay.cli.tables import show_tables
    from assay.model.runs import RunStatus

    settings = configuration(
        ctx, confidence=confidence, ci_method=ci_method, resamples=resamples, seed=seed
    )
    with connected(settings) as assay:
        if query is not None:
            _show_query(assay, runs.QueryRequest(run=ref, query_id=query, match=match), json_output)
            return
        view = runs.show(
            assay,
            runs.ShowRequest(
                run=ref,
                measures=measures or (),
                match=match,
                per_component=per_component,
                waterfall=waterfall,
            ),
        )
    info = view.info
    if info.status is not RunStatus.COMPLETE:
        done = share_of(len(view.result.outcomes), info.queries, "query")
        note(f"note: the run is {info.status}: {done}")
    if json_output:
        emit_json(view.to_dict(per_query=per_query))
    else:
        show_tables(view.tables(per_query=per_query), settings.color)


def _show_query(assay: "Assay", request: "QueryRequest", as_json: bool) -> None:
    from assay.app import runs
    from assay.cli.tables import show_tables
    from assay.render.runs import query_table

    found = runs.query(assay, request)
    if as_json:
        emit_json(found.to_dict())
        return
    emit_text(f"{found.query.query_id}  {found.query.query_text}")
    missed = [one.id for one in found.relevant if one.rank is None]
    show_tables([query_table(found.outcome, found.grades, missed)], assay.settings.color)


@app.command("rescore")
def rescore(
    ctx: typer.Context,
    ref: Annotated[
        str | None, typer.Argument(help="A run; without one, --suite is needed.")
    ] = None,
    suite: Annotated[
        str | None, typer.Option("--suite", help="Every run of this test set.")
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", help="Measures to add to those that the run has."),
    ] = None,
    match: Matching = "exact",
    testset: Annotated[
        str | None, typer.Option("--testset", "-t", help="Judgments of another version, unsaved.")
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Score old runs again, under other measures or newer formulas; nothing is searched."""
    from assay.app import runs
    from assay.app.workspace import Workspace
    from assay.cli.tables import show_tables
    from assay.render.evaluation import rescored_table

    settings = configuration(ctx)
    request = runs.RescoreRequest(
        run=ref, suite=suite, measures=tuple(measures or ()), match=match, test_set=testset
    )
    with Workspace(settings) as workspace:
        rows = runs.rescore(workspace, request)
    if json_output:
        emit_json({"runs": [row.to_dict() for row in rows]})
    else:
        show_tables([rescored_table([(row.info, row.result) for row in rows])], settings.color)


@app.command("history")
def history(
    ctx: typer.Context,
    suite: Annotated[str, typer.Argument(help="Name of the test set.")],
    measures: Measures = None,
    part: Annotated[str, typer.Option("--part", help="Runs of this part only.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many runs.")] = 20,
    json_output: JsonFlag = False,
) -> None:
    """Show how the measures of one test set went from run to run."""
    from assay.app import runs
    from assay.cli.tables import show_tables
    from assay.render.runs import history_json, history_table

    settings = configuration(ctx)
    request = runs.HistoryRequest(suite=suite, measures=measures or (), part=part, limit=limit)
    with connected(settings) as assay:
        found = runs.history(assay, request)
    if json_output:
        emit_json(history_json(suite, found.runs, found.measures))
    elif found.runs:
        show_tables([history_table(suite, found.runs, found.measures)], settings.color)
    else:
        note(f"note: there is no complete run of {suite}: assay eval list shows what there is")


@app.command("export")
def export(
    ctx: typer.Context,
    ref: Ref,
    trec: Annotated[bool, typer.Option("--trec", help="As a TREC run file.")] = False,
    documents: Annotated[
        bool, typer.Option("--documents", help="Name documents, for judgments of documents.")
    ] = False,
    component: Annotated[
        str | None, typer.Option("--component", help="The list of this component instead.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")] = None,
    json_output: JsonFlag = False,
) -> None:
    """Write the rankings of a run as a TREC run file or as JSON."""
    from assay.app import runs
    from assay.render.run_file import json_run, trec_run

    if trec == json_output:
        raise UsageError("choose a form", hint="--trec or --json")
    with connected(configuration(ctx)) as assay:
        found = runs.export(assay, runs.ExportRequest(run=ref, component=component))
    text = (
        trec_run(found.outcomes, found.tag, documents=documents)
        if trec
        else json_run(found.outcomes)
    )
    if output is None:
        emit_text(text)
    else:
        write_atomically(output.absolute(), (text + "\n").encode())


app.registered_commands += eval_tune.verbs.registered_commands


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
    from assay.render.compare_page import compare_page
    from assay.render.compare_text import (
        compare_csv,
        compare_tables,
        counts_line,
        render_report_md,
    )

    settings = configuration(ctx)
    with connected(settings) as assay:
        found = comparison.compare(
            assay, comparison.CompareRequest(a, b, tuple(measures or ()), strict)
        )
    report = found.report
    if write_report:
        page = compare_page(found.a, found.b, report)
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
    return DEGRADED if report.degraded else 0


@app.command("ab")
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
    by_group: Annotated[
        bool, typer.Option("--by-group", help="Draw queries of one group together.")
    ] = False,
    strict: Strict = False,
    write_report: WriteReport = False,
    json_output: JsonFlag = False,
    confidence: Confidence = None,
    ci_method: CiMethod = None,
    resamples: Resamples = None,
    seed: Seed = None,
    alpha: Alpha = None,
    margin: Margin = None,
) -> int:
    """Test two runs or configurations against each other."""
    from assay.app import comparison
    from assay.cli.tables import show_tables
    from assay.render.compare_page import compare_page
    from assay.render.compare_text import ab_markdown, ab_tables, counts_line

    settings = configuration(
        ctx,
        confidence=confidence,
        ci_method=ci_method,
        resamples=resamples,
        seed=seed,
        alpha=alpha,
        margin=margin,
    )
    with connected(settings) as assay:
        a, b = (_side(assay, text, testset, holdout) for text in (config_a, config_b))
        test = comparison.ab(
            assay,
            comparison.AbRequest(a, b, tuple(measures or ()), strict, by_group),
        )
    result = test.result
    if write_report:
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
    return DEGRADED if result.compared.degraded else 0


def _side(assay: "Assay", text: str, testset: str | None, holdout: bool) -> str:
    """The id of the run that stands for one side."""
    from assay.app.comparison import side

    assay.require()
    found = side(assay, text, testset, holdout=holdout)
    if found.made is not None:
        note(f"{'ran' if found.made else 'stored'}: {found.name} is {found.run_id}")
    return found.run_id


@app.command("gate")
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
    ci_method: CiMethod = None,
    resamples: Resamples = None,
    seed: Seed = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="Level of the one-sided tests.")
    ] = None,
) -> int:
    """Fail when a run is worse than its baseline by more than is allowed."""
    from assay.app.gate import GateRequest, gate, run_or_file
    from assay.cli.tables import show_tables
    from assay.render.gate import gate_tables

    settings = configuration(ctx, ci_method=ci_method, resamples=resamples, seed=seed, alpha=alpha)
    with connected(settings) as assay:
        ruling = gate(
            assay,
            GateRequest(
                baseline=run_or_file(assay, baseline),
                current=current,
                limits=tuple(limit or ()),
                non_inferiority=non_inferiority,
            ),
        )
    _write_gate(ruling, report=report, junit=junit, step_summary=step_summary)
    if json_output:
        emit_json(ruling.to_dict())
    else:
        show_tables(gate_tables(ruling), settings.color)
        for line in ruling.blockers:
            note(f"not compared: {line}")
        for line in ruling.warnings:
            note(f"warning: {line}")
        emit_text(f"gate: {ruling.outcome.value}")
    return ruling.outcome.exit_code


@app.command("report")
def report(
    ctx: typer.Context,
    run: Ref = "latest",
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
    confidence: Confidence = None,
    ci_method: CiMethod = None,
    resamples: Resamples = None,
    seed: Seed = None,
) -> None:
    """Write a report on one run: tables, breakdowns, insights, worst queries."""
    import json

    from assay.app import runs
    from assay.cli.tables import show_tables
    from assay.render.report_page import run_page
    from assay.render.report_text import run_csv, run_markdown, run_tables

    settings = configuration(
        ctx, confidence=confidence, ci_method=ci_method, resamples=resamples, seed=seed
    )
    request = runs.ReportRequest(
        run=run,
        measures=tuple(measures or ()),
        workflow=workflow,
        targets=tuple(target or ()),
    )
    with connected(settings) as assay:
        found = runs.report(assay, request)
    for line in found.warnings:
        note(f"warning: {line}")
    chosen = "json" if json_output else form
    if chosen == "table":
        show_tables(run_tables(found), settings.color)
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
        write_atomically(out, text.encode())
        note(f"wrote {out}")


@app.command("bundle")
def bundle(
    ctx: typer.Context,
    runs: Annotated[list[str], typer.Argument(help="The runs whose numbers are reported.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    measures: Measures = None,
    json_output: JsonFlag = False,
    confidence: Confidence = None,
    ci_method: CiMethod = None,
    resamples: Resamples = None,
    seed: Seed = None,
) -> None:
    """Write metrics_master.json, the one source of reported numbers, with checksums."""
    from assay.app.runs import BundleRequest
    from assay.app.runs import bundle as write_bundle

    settings = configuration(
        ctx, confidence=confidence, ci_method=ci_method, resamples=resamples, seed=seed
    )
    request = BundleRequest(runs=tuple(runs), folder=out, measures=tuple(measures or ()))
    with connected(settings) as assay:
        files = write_bundle(assay, request)
    if json_output:
        emit_json({"folder": str(out), "files": list(files)})
    else:
        emit_text(f"wrote {', '.join(files)} to {out}")


@app.command("verify-bundle")
def verify_bundle(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(help="The folder that assay eval bundle wrote.")],
    json_output: JsonFlag = False,
) -> int:
    """Compute a bundle's numbers again from the stored runs; any difference fails."""
    from assay.app import runs

    with connected(configuration(ctx)) as assay:
        checked = runs.verify_bundle(assay, folder)
    if json_output:
        emit_json(checked.to_dict())
    else:
        for problem in checked.problems[:MOST_PROBLEMS]:
            emit_text(problem)
        if len(checked.problems) > MOST_PROBLEMS:
            emit_text(f"... and {len(checked.problems) - MOST_PROBLEMS} more (--json has all)")
        state = "all equal" if checked.ok else counted(len(checked.problems), "difference")
        emit_text(f"{counted(checked.metrics, 'number')} computed again: {state}")
    return 0 if checked.ok else DIFFERENT


@app.command("push")
def push_run(
    ctx: typer.Context,
    ref: Ref = "latest",
    tag: Annotated[
        str | None, typer.Option("--tag", help="Give it this tag at the service.")
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Send a run to the service of --server; the same one again changes nothing."""
    from assay.app import runs
    from assay.app.workspace import Workspace
    from assay.client import connect

    settings = configuration(ctx)
    if settings.server is None:
        raise UsageError("push needs a service", hint="assay --server ADDRESS eval push")
    with Workspace(settings) as workspace:
        content = runs.packed(workspace, ref)
    with connect(settings) as service:
        answer = service.push_run(content)
        if tag is not None:
            service.runs.tag(answer["run_id"], tag)
    if json_output:
        emit_json({**answer, "server": settings.server})
    else:
        emit_text(f"{answer['run_id']} {'pushed' if answer['new'] else 'was there already'}")


app.registered_commands += eval_publish.verbs.registered_commands


def _write_reports(settings: "Settings", name: str, pages: Mapping[str, str]) -> None:
    """Write the same report in several forms; run ids are ours, so they may be file names."""
    from assay.app.layout import Layout

    for ending, text in pages.items():
        place = Layout(settings.home).reports / f"{name}{ending}"
        write_atomically(place, text.encode())
        note(f"wrote {place}")


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
