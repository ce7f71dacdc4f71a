"""What can be done with stored runs?"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.connection import connected
from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.eval.shared import Ref, app
from assay.cli.options import (
    SAMPLING,
    JsonFlag,
    MatchingAnew,
    Measures,
    PerComponent,
    PerQuery,
    Waterfall,
    configuration,
    takes_settings,
)
from assay.plural import share_of

if TYPE_CHECKING:
    from assay.app.run_view import RunQuery


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
