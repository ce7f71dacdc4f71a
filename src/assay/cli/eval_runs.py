"""Which evaluations are there, and what came out of them?"""

from typing import Annotated, Any

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration
from assay.plural import share_of

verbs = typer.Typer()

Ref = Annotated[
    str,
    typer.Argument(help="A run: its id or the beginning of it, a tag, a name, latest, latest~1."),
]


@verbs.command("list")
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
    from assay.cli.connection import connected
    from assay.cli.show import show_tables
    from assay.errors import UsageError
    from assay.model.run_store import RunFilter
    from assay.model.runs import RunStatus
    from assay.render.runs import run_json, runs_table

    known = [str(one) for one in RunStatus]
    if status is not None and status not in known:
        raise UsageError(f"there is no status {status!r:.40}", hint=", ".join(known))
    config = configuration(ctx)
    chosen = RunFilter(suite=suite, status=RunStatus(status) if status else None, tag=tag)
    with connected(config) as workspace:
        workspace.require()
        page = workspace.runs.runs(chosen, limit=limit, offset=offset)
    if json_output:
        emit_json({"total": page.total, "runs": [run_json(info) for info in page.runs]})
        return
    if not page.runs:
        note("note: no run here yet: assay eval run --testset NAME makes one")
        return
    show_tables([runs_table(page.runs)], config.color)
    if page.total > len(page.runs):
        note(
            f"note: {share_of(len(page.runs), page.total, 'run')}; --limit and --offset show others"
        )


@verbs.command("tag")
def tag_run(
    ctx: typer.Context,
    ref: Ref,
    tag: Annotated[str, typer.Argument(help="The tag, for example baseline.")],
    remove: Annotated[bool, typer.Option("--remove", help="Take the tag away.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Give a run a name of its own, such as baseline."""
    info = _with_runs(ctx, lambda runs: _tag(runs, ref, tag, remove))
    if json_output:
        emit_json({"run_id": info.run_id, "tags": list(info.tags)})
    else:
        emit_text(f"{info.run_id}  {', '.join(info.tags) or 'no tags'}")


@verbs.command("delete")
def delete_run(ctx: typer.Context, ref: Ref, json_output: JsonFlag = False) -> None:
    """Delete a run and everything that is stored of it."""
    info = _with_runs(ctx, lambda runs: runs.delete(ref))
    if json_output:
        emit_json({"deleted": info.run_id})
    else:
        emit_text(f"deleted {info.run_id}")


def _with_runs(ctx: typer.Context, act: Any) -> Any:
    from assay.cli.connection import connected

    with connected(configuration(ctx)) as workspace:
        workspace.require()
        return act(workspace.runs)


def _tag(runs: Any, ref: str, tag: str, remove: bool) -> Any:
    from assay.errors import UnknownRunError

    if not remove:
        return runs.tag(ref, tag)
    if tag not in runs.run(ref).tags:
        raise UnknownRunError(f"{ref} has no tag {tag!r:.80}", hint="assay eval list shows tags")
    runs.untag(tag)
    return runs.run(runs.run(ref).run_id)
