"""What can be done with evaluations?"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay import limits
from assay.app.evaluation_request import REQUEST_OPTIONS
from assay.cli.connection import connected, refuse_remote
from assay.cli.console import emit_columns, emit_data, emit_json, emit_text, note
from assay.cli.lazy import group
from assay.cli.options import (
    DEGRADED,
    SAMPLING,
    JsonFlag,
    MatchingAnew,
    Measures,
    PerComponent,
    PerQuery,
    Waterfall,
    configuration,
    takes_options,
    takes_search_options,
    takes_settings,
)
from assay.durable import write_atomically
from assay.errors import UsageError
from assay.plural import counted, share_of
from assay.search.request import EVALUATION_NAMES, RUN_FILTERS

if TYPE_CHECKING:
    from assay.app.comparison import Side
    from assay.app.evaluation import Evaluated
    from assay.app.evaluation_request import EvaluationRequest
    from assay.app.interface import Assay
    from assay.app.run_view import RunQuery
    from assay.evaluation.gate import GateReport
    from assay.settings import Settings

app = group("Run test sets, keep the runs, look at them and compare them.")

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
FORMS: Mapping[str, Form] = {
    ".md": "md", ".markdown": "md", ".html": "html", ".htm": "html", ".json": "json", ".csv": "csv"
}  # fmt: skip
_KEPT_FROM = list(REQUEST_OPTIONS).index("keep")
_ABOUT_SCORING = [one for one in [*REQUEST_OPTIONS.values()][:_KEPT_FROM] if one.name != "measures"]
_ABOUT_KEEPING = [*REQUEST_OPTIONS.values()][_KEPT_FROM:]


@app.command("run")
@takes_options(_ABOUT_SCORING, "scoring")
@takes_search_options(EVALUATION_NAMES, "search")
@takes_options(_ABOUT_KEEPING, "keeping")
def run(
    ctx: typer.Context,
    *,
    testset: Annotated[
        list[str] | None,
        typer.Option("--testset", "-t", help="Name of a test set, or a path; several are one run."),
    ] = None,
    measures: Measures = None,
    holdout: Annotated[
        bool, typer.Option("--holdout", help="Run the held-out part only; its use is logged.")
    ] = False,
    scoring: Mapping[str, Any],
    answerer: Annotated[
        str | None, typer.Option(help="extractive, module:function or http://...")
    ] = None,
    answer_model: Annotated[
        str | None, typer.Option("--answer-model", help="Model of such a service.")
    ] = None,
    search: Mapping[str, Any],
    retriever: Annotated[
        str | None,
        typer.Option(
            "--system",
            "--retriever",
            help="Evaluate module:function, or a service at http://..., with its answers if any.",
        ),
    ] = None,
    judge_model: Annotated[
        str | None, typer.Option("--judge-model", help="Model of a judge at http://...")
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(help="YAML file that maps the requests and answers of that service."),
    ] = None,
    run_file: Annotated[
        str | None, typer.Option("--run", help="Evaluate a run file: TREC, JSON, parquet.")
    ] = None,
    keeping: Mapping[str, Any],
    resume: Annotated[str | None, typer.Option(help="Resume this run.")] = None,
    per_component: PerComponent = False,
    waterfall: Waterfall = False,
    publish: Annotated[
        bool,
        typer.Option(
            "--publish", help="Publish the figures to Prometheus, as assay eval publish does."
        ),
    ] = False,
    json_output: JsonFlag = False,
) -> int:
    """Run a test set against our search, another engine or a run file, and keep the run."""
    from assay.app import prometheus
    from assay.app.evaluation import commit_hash
    from assay.app.evaluation_request import EvaluationRequest, request_fields
    from assay.app.workspace import Workspace
    from assay.cli.progress import evaluation_progress
    from assay.options import read_options
    from assay.search.request import read_changes

    values = request_fields(read_options(REQUEST_OPTIONS, {**scoring, **keeping}))
    if holdout:
        values["part"] = "holdout"
    if answerer is not None:
        values["answers"] = True
    request = EvaluationRequest(
        test_sets=tuple(testset or ()),
        options=read_changes(search),
        measures=" ".join(measures) if measures else None,
        retriever=retriever,
        mapping=mapping,
        run_file=run_file,
        resume=resume,
        commit_hash=commit_hash(),
        **values,
    )
    if per_component or waterfall:
        request.require_our_engine()
    given = {"answerer": answerer, "answer_model": answer_model, "judge_model": judge_model}
    with connected(ctx, **given) as assay:
        refuse_remote(
            assay.settings,
            "assay eval run",
            retriever=retriever,
            mapping=mapping,
            run=run_file,
            resume=resume,
            publish=publish,
            **given,
        )
        if publish and not prometheus.destinations(assay.settings):
            raise UsageError(
                "--publish needs a destination",
                hint="set metrics_textfile, or pushgateway, or both",
            )
        with evaluation_progress(assay.settings.color) as progress:
            try:
                made = assay.carry_out(request, progress)
            except KeyboardInterrupt as stop:
                for line in getattr(stop, "__notes__", ()):
                    note(f"note: {line}")
                raise
        _note_runs(made, request)
        if made.modes:
            _show_modes(
                made, assay.settings.color, as_json=json_output, per_query=request.per_query
            )
        else:
            views = {"per_component": per_component, "waterfall": waterfall}
            _show_run(assay, request, made, views, as_json=json_output)
        if publish and isinstance(assay, Workspace):
            for line in prometheus.objections(assay, [one.info for one in made.runs]):
                note(f"warning: {line}")
            prometheus.publish(assay.settings, assay.figures())
    return DEGRADED if made.degraded else 0


def _note_runs(made: "Evaluated", request: "EvaluationRequest") -> None:
    """What to know of the runs, beside their figures."""
    for recorded in made.runs:
        if recorded.note is not None:
            note(f"note: {recorded.note}")
    for line in (*made.unindexed, *made.unseen):
        note(f"warning: {line}")
    if made.absent is not None:
        name = request.test_sets[0] if len(request.test_sets) == 1 else "NAME"
        note(f"warning: {made.absent} (assay testset validate {name} --index lists them)")


def _show_run(
    assay: "Assay",
    request: "EvaluationRequest",
    made: "Evaluated",
    views: dict[str, bool],
    *,
    as_json: bool,
) -> None:
    from assay.app.run_view import view_of
    from assay.cli.tables import show_tables

    info, result = made.runs[0].info, made.runs[0].result
    view = view_of(assay, info, result, result.scoring, **views)
    if as_json:
        plain = view.scores(per_query=request.per_query)
        emit_json({**plain, "warnings": [*plain["warnings"], *made.warnings]})
    else:
        show_tables(view.tables(per_query=request.per_query), assay.settings.color)


def _show_modes(made: "Evaluated", color: str, *, as_json: bool, per_query: bool) -> None:
    from assay.cli.tables import show_tables
    from assay.render import evaluation as report

    if as_json:
        emit_json(made.to_dict(per_query=per_query))
    elif made.difference is not None:
        results = {name: recorded.result for name, recorded in made.modes.items()}
        show_tables(report.modes_tables(results, made.difference, per_query=per_query), color)


@app.command("list")
def list_runs(
    ctx: typer.Context,
    suite: Annotated[str | None, typer.Option("--suite", help="Runs of this test set.")] = None,
    status: Annotated[
        str | None, typer.Option("--status", help="complete, running, interrupted or failed.")
    ] = None,
    tag: Annotated[str | None, typer.Option("--tag", help="The run with this tag.")] = None,
    text: Annotated[
        str | None, typer.Option("--text", help="Part of an id, name, test set, tag or commit.")
    ] = None,
    newest_only: Annotated[
        bool,
        typer.Option("--newest-only", help="The newest run of each test set and configuration."),
    ] = False,
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort",
            help="A measure, or created, name, suite, status, queries or "
            "latency; - in front for the largest first, as in --sort=-nDCG@10.",
        ),
    ] = None,
    deleted: Annotated[
        bool, typer.Option("--deleted", help="Deleted runs, which eval restore brings back.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="How many.")] = 20,
    offset: Annotated[int, typer.Option("--offset", min=0, help="How many to skip.")] = 0,
    json_output: JsonFlag = False,
) -> None:
    """List runs, newest first unless --sort says otherwise."""
    from assay.app import runs
    from assay.cli.tables import show_tables
    from assay.render.runs import runs_table

    if deleted:
        _list_deleted(ctx, as_json=json_output)
        return
    chosen = runs.run_filter(suite, status, tag, text=text, newest_only=newest_only)
    with connected(ctx) as assay:
        page = runs.list_runs(assay, chosen, limit=limit, offset=offset, order=runs.run_order(sort))
    if json_output:
        emit_json(page)
        return
    if not page.runs and not page.damaged:
        note("note: there is no run yet: assay eval run --testset NAME makes one")
        return
    show_tables([runs_table(page.runs, page.notes)], assay.settings.color)
    if page.total > len(page.runs):
        note(
            f"note: {share_of(len(page.runs), page.total, 'run')}; --limit and --offset show others"
        )


@app.command("tag")
def tag_run(
    ctx: typer.Context,
    ref: Ref,
    tag: Annotated[str, typer.Argument(help="The tag, for example baseline.")],
    remove: Annotated[bool, typer.Option("--remove", help="Remove the tag.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Give a run a tag, such as baseline; a tag names one run only."""
    from assay.app import runs

    with connected(ctx) as assay:
        info = runs.untag(assay, tag, ref) if remove else runs.tag(assay, ref, tag)
    if json_output:
        emit_json({"run_id": info.run_id, "tags": list(info.tags)})
    else:
        emit_text(f"{info.run_id}  {', '.join(info.tags) or 'no tags'}")


def _list_deleted(ctx: typer.Context, *, as_json: bool) -> None:
    from assay.app import runs

    with connected(ctx) as assay:
        found = runs.deleted(assay)
    if as_json:
        emit_json({"deleted": found})
        return
    if not found:
        note("note: no run was deleted")
        return
    header = ("run", "name", "test set", "made", "deleted")
    shown = [
        (one.run_id, one.name, one.suite, one.created_at[:16], one.deleted_at[:16]) for one in found
    ]
    emit_columns([header, *shown])


@app.command("delete")
def delete_run(
    ctx: typer.Context,
    ref: Ref,
    for_good: Annotated[
        bool, typer.Option("--for-good", help="Keep no copy that eval restore could bring back.")
    ] = False,
    json_output: JsonFlag = False,
) -> None:
    """Delete a run; assay eval restore brings it back."""
    from assay.app import runs

    with connected(ctx) as assay:
        info = runs.delete(assay, ref, for_good=for_good)
    if json_output:
        emit_json({"deleted": info.run_id})
    else:
        emit_text(f"deleted {info.run_id}")
        if not for_good:
            note(f"note: assay eval restore {info.run_id} brings it back")


@app.command("restore")
def restore_run(
    ctx: typer.Context,
    run_id: Annotated[str, typer.Argument(help="The id; see assay eval list --deleted.")],
    json_output: JsonFlag = False,
) -> None:
    """Restore a deleted run, with those of its tags that no other run has taken."""
    from assay.app import runs

    with connected(ctx) as assay:
        info = runs.restore(assay, run_id)
    if json_output:
        emit_json({"run_id": info.run_id, "tags": list(info.tags)})
    else:
        emit_text(f"restored {info.run_id}  {', '.join(info.tags) or 'no tags'}")


@app.command("show")
@takes_settings(SAMPLING, "sampling")
def show(
    ctx: typer.Context,
    *,
    ref: Ref,
    measures: Measures = None,
    match: MatchingAnew = None,
    query: Annotated[str | None, typer.Option("--query", help="Show this query's ranking.")] = None,
    per_component: PerComponent = False,
    waterfall: Waterfall = False,
    per_query: PerQuery = False,
    sampling: Mapping[str, Any],
    json_output: JsonFlag = False,
) -> None:
    """Show a run: its scores, its configuration, or one query."""
    from assay.app import run_view
    from assay.app.statistics import read_statistics
    from assay.cli.tables import show_tables
    from assay.model.runs import RunStatus

    statistics = read_statistics(sampling)
    with connected(ctx) as assay:
        if query is not None:
            found = run_view.query(assay, ref, query, match=match)
            _show_query(found, assay.settings.color, as_json=json_output)
            return
        view = run_view.show(
            assay,
            ref,
            measures=measures or (),
            match=match,
            per_component=per_component,
            waterfall=waterfall,
            statistics=statistics,
        )
    info = view.info
    if info.status is not RunStatus.COMPLETE and view.result is not None:
        note(f"note: the run is {info.status}: {view.result.scope.progress}")
    if json_output:
        emit_json(view.to_dict(per_query=per_query))
    else:
        show_tables(view.tables(per_query=per_query), assay.settings.color)


def _show_query(found: "RunQuery", color: str, *, as_json: bool) -> None:
    from assay.cli.tables import show_tables
    from assay.render.runs import query_table

    if as_json:
        emit_json(found.to_dict())
        return
    emit_text(f"{found.query.query_id}  {found.query.query_text}")
    missed = [judgment.id for judgment in found.relevant if judgment.rank is None]
    show_tables([query_table(found.outcome, found.grades, missed)], color)


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
    match: MatchingAnew = None,
    testset: Annotated[
        str | None,
        typer.Option("--testset", "-t", help="Judge by this version instead; nothing is stored."),
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Rescore stored runs, under other measures or newer formulas; nothing is searched."""
    from assay.app import runs
    from assay.app.workspace import Workspace
    from assay.cli.tables import show_tables
    from assay.render.evaluation import rescored_table

    settings = configuration(ctx)
    with Workspace(settings) as workspace:
        rows = runs.rescore(
            workspace, ref, suite=suite, measures=measures or (), match=match, test_set=testset
        )
    if json_output:
        emit_json({"runs": [row.to_dict() for row in rows]})
    else:
        show_tables([rescored_table([(row.info, row.result) for row in rows])], settings.color)
        if not all(row.kept for row in rows):
            note("note: not stored: a run keeps the figures of its own test set and match rule")


@app.command("history")
def history(
    ctx: typer.Context,
    suite: Annotated[str, typer.Argument(help="Name of the test set.")],
    measures: Measures = None,
    part: Annotated[str, typer.Option("--part", help="Runs of this part only.")] = "",
    engine: Annotated[
        str, typer.Option("--engine", help="Runs of this engine only, as in embedded or http.")
    ] = "",
    configuration: Annotated[
        str, typer.Option("--configuration", help="Runs whose config_hash begins like this.")
    ] = "",
    by_configuration: Annotated[
        bool, typer.Option("--by-configuration", help="A series for each configuration.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many runs.")] = 20,
    json_output: JsonFlag = False,
) -> None:
    """Show how the measures of one test set changed from run to run."""
    from assay.app import runs
    from assay.cli.tables import show_tables
    from assay.evaluation.history import HistoryOptions
    from assay.render.runs import history_tables

    chosen = HistoryOptions(part, engine, configuration, by_configuration)
    with connected(ctx) as assay:
        past = runs.history(assay, suite, measures=measures or (), options=chosen, limit=limit)
    if json_output:
        emit_json(past.to_dict())
    elif past.runs:
        show_tables(history_tables(past), assay.settings.color)
    else:
        note(f"note: there is no such complete run of {suite}: assay eval list shows all of them")
        for line in past.left_out:
            note(f"note: {line}")


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
    from assay.app import run_view
    from assay.render.run_file import json_run, trec_run

    if trec == json_output:
        raise UsageError("choose a format", hint="--trec or --json")
    with connected(ctx) as assay:
        rankings = run_view.export(assay, ref, component=component)
    text = (
        trec_run(rankings.outcomes, rankings.tag, documents=documents)
        if trec
        else json_run(rankings.outcomes)
    )
    if output is None:
        emit_data(text)
    else:
        write_atomically(output.absolute(), (text + "\n").encode())


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


@app.command("report")
@takes_settings(SAMPLING, "sampling")
def report(
    ctx: typer.Context,
    *,
    run: Ref = "latest",
    form: Annotated[
        Form | None,
        typer.Option(
            "--format", "-f", help="Output format; by default from the extension of --out."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file.")] = None,
    measures: Measures = None,
    workflow: Annotated[
        bool, typer.Option("--workflow", help="P and R at 1, 3, 5, 10, MAP and nDCG@10.")
    ] = False,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", help='A target: "P@5>0.65" (above) or "P@5>=65%".'),
    ] = None,
    sampling: Mapping[str, Any],
    json_output: JsonFlag = False,
) -> None:
    """Write a report on one run: tables, breakdowns, insights, worst queries."""
    import json

    from assay.app import reports
    from assay.app.statistics import read_statistics
    from assay.cli.tables import show_tables
    from assay.render.report_page import run_page
    from assay.render.report_text import run_csv, run_markdown, run_tables

    chosen = "json" if json_output else form or _form_of(out)
    if chosen == "table" and out is not None:
        raise UsageError("a table is for the terminal", hint="--format md, html, csv or json")
    statistics = read_statistics(sampling)
    with connected(ctx) as assay:
        found = reports.report(
            assay,
            run,
            measures=measures or (),
            workflow=workflow,
            targets=target or (),
            statistics=statistics,
        )
    for line in found.warnings:
        note(f"warning: {line}")
    if chosen == "table":
        show_tables(run_tables(found), assay.settings.color)
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


def _form_of(out: Path | None) -> Form:
    """The form that the name of a file asks for; a table in the terminal."""
    if out is None:
        return "table"
    if (form := FORMS.get(out.suffix.lower())) is None:
        raise UsageError(
            f"{out}: its ending is not a report format",
            hint="end it with .md, .html, .csv or .json, or give --format",
        )
    return form


@app.command("bundle")
@takes_settings(SAMPLING, "sampling")
def bundle(
    ctx: typer.Context,
    *,
    runs: Annotated[list[str], typer.Argument(help="The runs whose numbers are reported.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    measures: Measures = None,
    sampling: Mapping[str, Any],
    json_output: JsonFlag = False,
) -> None:
    """Write metrics_master.json, the one source of reported numbers, with checksums."""
    from assay.app.reports import bundle as write_bundle
    from assay.app.statistics import read_statistics

    statistics = read_statistics(sampling)
    with connected(ctx) as assay:
        files = write_bundle(assay, runs, out, measures=measures or (), statistics=statistics)
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
    """Recompute a bundle's numbers from the stored runs; any difference fails."""
    from assay.app import reports

    with connected(ctx) as assay:
        checked = reports.verify_bundle(assay, folder)
    for file in checked.unchecked:
        note(f"warning: {file}")
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
    """Send a run to the service named by --server; sending it again changes nothing."""
    from assay.app import run_exchange
    from assay.app.workspace import Workspace
    from assay.client import connect

    settings = configuration(ctx, service=True)
    if settings.server is None:
        raise UsageError("push needs a service", hint="assay --server ADDRESS eval push")
    with Workspace(settings) as workspace:
        content = run_exchange.packed(workspace, ref)
    with connect(settings) as service:
        answer = service.push_run(content)
        if tag is not None:
            service.runs.tag(answer["run_id"], tag)
    if json_output:
        emit_json({**answer, "server": settings.server})
    else:
        emit_text(f"{answer['run_id']} {'pushed' if answer['new'] else 'was there already'}")


@app.command("publish")
def publish(
    ctx: typer.Context,
    textfile: Annotated[
        str | None, typer.Option("--textfile", help="Write them to this file (*.prom).")
    ] = None,
    pushgateway: Annotated[
        str | None, typer.Option("--pushgateway", help="Push them to this address.")
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Publish the newest run's metrics to Prometheus: to a file, or a Pushgateway."""
    from assay.app import prometheus

    with connected(ctx, metrics_textfile=textfile, pushgateway=pushgateway) as assay:
        assay.require()
        text = assay.figures()
    done = prometheus.publish(assay.settings, text)
    if json_output:
        emit_json({"published": done})
    elif done:
        emit_text("\n".join(f"{name}: {place}" for name, place in done.items()))
    else:
        emit_text(text.decode().rstrip())


def _write_reports(settings: "Settings", name: str, pages: Mapping[str, str]) -> None:
    """Write the same report in several forms."""
    from assay.app.layout import Layout

    for ending, text in pages.items():
        place = Layout(settings.home).report(f"{name}{ending}")
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
