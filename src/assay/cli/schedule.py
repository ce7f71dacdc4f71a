"""Which evaluations does the clock start?"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.app.evaluation_request import REQUEST_OPTIONS
from assay.cli.connection import connected
from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.lazy import group
from assay.cli.options import JsonFlag, Measures, takes_options, takes_search_options
from assay.render.escape import visible
from assay.search.request import EVALUATION_NAMES

if TYPE_CHECKING:
    from assay.app.schedule import ScheduleEntry

app = group("List, add and remove scheduled evaluations.")

OF_ONE_COMMAND = ("measures", "per_query", "rank_by", "retries")
"""Options of an evaluation that are another flag here, or mean nothing to the clock."""


@app.command("list")
def list_entries(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """List every scheduled evaluation, and when it runs next."""
    with connected(ctx) as assay:
        found = assay.schedules()
    if json_output:
        emit_json(found)
        return
    for line in found.problems:
        note(f"warning: {line}")
    if not found.entries:
        note("note: nothing is scheduled: assay schedule add '0 3 * * *' --testset NAME does it")
        return
    rows = [(one.entry_id, *_shown(one), "") for one in found.own]
    rows += [("", *_shown(one), "the settings") for one in found.fixed]
    emit_columns([("id", "evaluation", "test set", "when (UTC)", "next", "set in"), *rows])


def _shown(entry: "ScheduleEntry") -> tuple[str, str, str, str]:
    following = entry.clock.following(datetime.now(UTC))
    due = f"{following:%Y-%m-%d %H:%M}" if following else "never"
    return visible(entry.title), entry.test_set, entry.when, due


@app.command("add")
@takes_options([one for one in REQUEST_OPTIONS.values() if one.name not in OF_ONE_COMMAND], "given")
@takes_search_options(EVALUATION_NAMES, "search")
def add(
    ctx: typer.Context,
    *,
    when: Annotated[
        str,
        typer.Argument(help="Minute, hour, day, month and weekday, as in cron: '0 3 * * 1'."),
    ],
    testset: Annotated[str, typer.Option("--testset", "-t", help="Name of a test set.")],
    measures: Measures = None,
    given: Mapping[str, Any],
    search: Mapping[str, Any],
    instead_of: Annotated[
        str, typer.Option("--instead-of", help="Replace the entry with this id.")
    ] = "",
    json_output: JsonFlag = False,
) -> None:
    """Schedule an evaluation, which runs while a service is up; times are UTC."""
    from assay.app.evaluation_request import EvaluationRequest, request_fields
    from assay.options import read_options
    from assay.search.request import read_changes

    request = EvaluationRequest(
        test_sets=(testset,),
        options=read_changes(search),
        measures=" ".join(measures) if measures else None,
        **request_fields(read_options(REQUEST_OPTIONS, given)),
    )
    with connected(ctx) as assay:
        entry = assay.schedule(when, request, entry_id=instead_of)
    if json_output:
        emit_json(entry)
        return
    title, test_set, _, following = _shown(entry)
    emit_text(f"{entry.entry_id}  {title} on {test_set}, next at {following} UTC")


@app.command("remove")
def remove(
    ctx: typer.Context,
    entry_id: Annotated[str, typer.Argument(help="Id of the entry; see assay schedule list.")],
    json_output: JsonFlag = False,
) -> None:
    """Remove a scheduled evaluation; its runs stay."""
    with connected(ctx) as assay:
        entry = assay.unschedule(entry_id)
    if json_output:
        emit_json(entry)
    else:
        emit_text(f"{entry.entry_id} is removed")
