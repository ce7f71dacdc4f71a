"""How does a test set get from real searches to its next version?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration
from assay.plural import counted, share_of

verbs = typer.Typer()

Name = Annotated[str, typer.Argument(help="Name or path of the present test set.")]
RoundOption = Annotated[str, typer.Option("--round", help="The round; the newest by default.")]
Seed = Annotated[int, typer.Option(min=0, help="Decides every draw.")]
NO_AGREEMENT, UNFINISHED = 3, 4


@verbs.command("sample")
def sample(
    ctx: typer.Context,
    name: Name,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="CSV or JSON lines of queries, not the query log."),
    ] = None,
    strategy: Annotated[
        str, typer.Option(help="random, frequency, top, zero-result or low-confidence.")
    ] = "random",
    count: Annotated[int, typer.Option(min=1, max=10_000, help="How many queries.")] = 30,
    since: Annotated[str, typer.Option(help="Searches from this day on, as in 2026-01-31.")] = "",
    seed: Seed = 13,
    dense: Annotated[
        bool, typer.Option("--dense/--words", help="Compare meanings too, or words only.")
    ] = True,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File of JSON lines to write.")
    ] = None,
    json_output: JsonFlag = False,
) -> int:
    """Draw queries that people really asked, in the proportions of a set."""
    from assay.annotation.draw import Strategy
    from assay.annotation.sample_file import sample_lines
    from assay.app.samples import sample as draw
    from assay.app.workspace import Workspace
    from assay.cli import cycle_text
    from assay.cli.testset_job import load_here
    from assay.errors import UsageError
    from assay.testsets.save import write_text

    if strategy not in list(Strategy):
        raise UsageError(f"there is no strategy {strategy!r:.40}", hint=", ".join(Strategy))
    config = configuration(ctx)
    with Workspace(config) as workspace:
        found = draw(
            workspace,
            load_here(config, name),
            path=source,
            strategy=Strategy(strategy),
            count=count,
            seed=seed,
            since=since,
            dense=dense,
        )
    if output is not None:
        write_text(output, sample_lines(found))
    if json_output:
        emit_json(cycle_text.sample_json(found))
    else:
        cycle_text.print_sample(found)
        if output is not None:
            emit_text(f"wrote {output}; look through it, then: assay testset pool {name} {output}")
    return UNFINISHED if found.missing else 0


@verbs.command("pool")
def pool(
    ctx: typer.Context,
    name: Name,
    queries: Annotated[
        Path | None,
        typer.Argument(help="The file of a sample. Without it: what is unjudged in the set."),
    ] = None,
    annotators: Annotated[
        str | None,
        typer.Option(help="Two names, as in ann,bob: opens a round for them to judge."),
    ] = None,
    round_id: Annotated[str | None, typer.Option("--round", help="Name of the new round.")] = None,
    depth: Annotated[int, typer.Option(help="Results of each list.")] = 20,
    runs: Annotated[int, typer.Option(min=0, max=100, help="Stored runs to pool, too.")] = 10,
    seed: Seed = 13,
    json_output: JsonFlag = False,
) -> None:
    """Gather the passages to judge from every component and stored runs."""
    from assay.app.workspace import Workspace
    from assay.cli import cycle_text
    from assay.cli.cycle_job import pool_and_open

    with Workspace(configuration(ctx)) as workspace:
        found, held = pool_and_open(
            workspace,
            name,
            queries,
            annotators=annotators,
            round_id=round_id,
            depth=depth,
            runs=runs,
            seed=seed,
        )
    if json_output:
        emit_json(cycle_text.pool_json(found, held))
    else:
        cycle_text.print_pool(found, held, new=queries is not None)


@verbs.command("rounds")
def rounds(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """List the rounds of judging, newest first."""
    from assay.app.desk import Desk
    from assay.app.workspace import Workspace
    from assay.cli import cycle_text

    with Workspace(configuration(ctx)) as workspace:
        workspace.require()
        store = workspace.annotations
        rows = [cycle_text.round_json(Desk(store, held)) for held in store.rounds()]
    if json_output:
        emit_json({"rounds": rows})
    elif rows:
        cycle_text.print_rounds(rows)
    else:
        note("note: there is none yet: assay testset pool NAME FILE --annotators ANN,BOB")


@verbs.command("agreement")
def agreement(
    ctx: typer.Context, round_id: RoundOption = "latest", json_output: JsonFlag = False
) -> int:
    """Show how far two annotators agree: kappa, confusion, differences."""
    from assay.app.desk import desk
    from assay.app.workspace import Workspace
    from assay.cli import cycle_text

    with Workspace(configuration(ctx)) as workspace:
        workspace.require()
        at = desk(workspace.annotations, round_id)
        found, waiting = at.agreement(), at.open_items()
    if json_output:
        emit_json({**found.to_dict(), "open": waiting})
    else:
        cycle_text.print_agreement(found, waiting)
    return 0 if found.enough else NO_AGREEMENT


@verbs.command("adjudicate")
def adjudicate(
    ctx: typer.Context,
    rule: Annotated[str, typer.Option(help="mean-down, higher or lower.")],
    person: Annotated[str, typer.Option("--as", help="Who chooses the rule.")],
    round_id: RoundOption = "latest",
    json_output: JsonFlag = False,
) -> None:
    """Let a rule decide where annotators differ; a person decides in assay annotate."""
    from assay.app.desk import desk
    from assay.app.workspace import Workspace

    with Workspace(configuration(ctx)) as workspace:
        workspace.require()
        at = desk(workspace.annotations, round_id)
        made, waiting = at.decide_by_rule(rule, person), at.open_items()
    if json_output:
        emit_json({"round_id": at.held.round_id, "decided": len(made), "open": waiting})
    else:
        emit_text(
            f"{at.held.round_id}: {rule} decided {counted(len(made), 'passage')}; open: {waiting}"
        )


@verbs.command("refresh")
def refresh(
    ctx: typer.Context,
    name: Name,
    replace: Annotated[int, typer.Option(help="How many queries are replaced.")] = 20,
    round_id: RoundOption = "latest",
    seed: Seed = 13,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change and write nothing.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write, not the workspace's.")
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Write the next version of a set, from a round whose annotators agree."""
    from assay.app.refresh import carry_out, propose
    from assay.app.workspace import Workspace
    from assay.cli import cycle_text
    from assay.cli.testset_job import load_here

    config = configuration(ctx)
    with Workspace(config) as workspace:
        workspace.require()
        proposal = propose(
            workspace, load_here(config, name), round_id=round_id, replace=replace, seed=seed
        )
        target = None if dry_run else carry_out(workspace, proposal, output)
    if json_output:
        emit_json(cycle_text.proposal_json(proposal, target))
    else:
        cycle_text.print_proposal(proposal, target)


@verbs.command("export-tasks")
def export_tasks(
    ctx: typer.Context,
    annotator: Annotated[str, typer.Option("--as", help="Whose tasks.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")],
    form: Annotated[str, typer.Option("--form", "-f", help="csv or label-studio.")] = "csv",
    round_id: RoundOption = "latest",
    json_output: JsonFlag = False,
) -> None:
    """Write an annotator's tasks for a spreadsheet or for Label Studio."""
    from assay.cli.cycle_job import export_to

    files, count = export_to(configuration(ctx), round_id, annotator, form, output)
    if json_output:
        emit_json({"written": [str(path) for path in files], "tasks": count})
    else:
        for path in files:
            emit_text(f"wrote {path}")


@verbs.command("import-grades")
def import_grades(
    ctx: typer.Context,
    path: Annotated[Path, typer.Argument(help="Our CSV, or a JSON export of Label Studio.")],
    annotator: Annotated[str, typer.Option("--as", help="Whose grades.")],
    round_id: RoundOption = "latest",
    json_output: JsonFlag = False,
) -> None:
    """Read an annotator's grades from a file, all or none of them."""
    from assay.cli.cycle_job import import_from

    count, done, total = import_from(configuration(ctx), round_id, annotator, path)
    if json_output:
        emit_json({"grades": count, "done": done, "total": total})
    else:
        emit_text(
            f"{counted(count, 'grade')} of {annotator}; "
            f"{share_of(done, total, 'passage', 'is')} judged"
        )
