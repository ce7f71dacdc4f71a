"""How are questions and passages gathered, judged and made into a test set on the command line?"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.options import JsonFlag
from assay.cli.testset.shared import (
    DryRun,
    Name,
    Output,
    app,
    load_set,
    print_written,
    workspace_of,
)
from assay.plural import counted, share_of

if TYPE_CHECKING:
    from assay.app.pool import PassagePool
    from assay.app.refresh import Proposal

NO_AGREEMENT, UNFINISHED = 3, 4
RoundOption = Annotated[str, typer.Option("--round", help="Id of the round.")]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]


@app.command("new")
def new(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the new set, and of its round.")],
    questions: Annotated[
        Path | None,
        typer.Argument(
            help="Questions: a text file with one on each line, CSV, JSON lines, or YAML without "
            "judgments. Without it: the query log."
        ),
    ] = None,
    annotators: Annotated[
        str, typer.Option(help="Who judges: one name, or two as in ann,bob.")
    ] = "me",
    depth: Annotated[int, typer.Option(help="Results to take from each list.")] = 20,
    budget: Annotated[
        int | None, typer.Option(min=1, help="How many passages may be judged at most.")
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(help="Width of the interval of nDCG@10 at which judging may stop, as in 0.2."),
    ] = None,
    order: Annotated[
        str, typer.Option(help="queries: one after the other; active: where lists differ most.")
    ] = "queries",
    run: Annotated[
        list[Path] | None,
        typer.Option("--run", help="Run of another engine on the same questions; may be repeated."),
    ] = None,
    runs: Annotated[int, typer.Option(min=0, max=100, help="Stored runs to add to the pool.")] = 10,
    count: Annotated[int, typer.Option(min=1, help="Questions to draw from the log.")] = 20,
    since: Annotated[str, typer.Option(help="Searches from this day on, as in 2026-01-31.")] = "",
    seed: Seed = 13,
    json_output: JsonFlag = False,
) -> None:
    """Begin a first test set: pool passages for questions, for one person or two to judge."""
    from assay.app import first_set

    with workspace_of(ctx) as workspace:
        asked = first_set.NewSet(
            name=name,
            annotators=_names(annotators),
            questions=(
                first_set.logged_questions(workspace, count=count, seed=seed, since=since)
                if questions is None
                else first_set.questions_of(questions)
            ),
            depth=depth,
            budget=budget,
            until=until,
            order=order,
            runs=runs,
            others=first_set.runs_of_files(run or []),
            seed=seed,
            source="query log" if questions is None else questions.name,
        )
        made = first_set.new(workspace, asked)
    if json_output:
        emit_json(made.to_dict())
    else:
        _print_pool(made, new=True)
        note(f"note: assay testset finish --round {name} writes what is judged, at any time")


@app.command("suggest")
def suggest(
    ctx: typer.Context,
    count: Annotated[int, typer.Option(min=1, max=10_000, help="How many questions.")] = 20,
    kinds: Annotated[
        str, typer.Option("--from", help="What they are made from: section,table,mesh,title.")
    ] = "section,table,mesh,title",
    by_model: Annotated[
        bool,
        typer.Option("--model", help="Have the language model in the judge setting write them."),
    ] = False,
    seed: Seed = 13,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File of JSON lines to write.")
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Generate questions from the corpus if there are no real ones; they stay marked synthetic."""
    from assay.app import suggestions
    from assay.render.annotation import suggested_text

    with workspace_of(ctx) as workspace:
        found = suggestions.suggest(
            workspace,
            count=count,
            kinds=_names(kinds),
            seed=seed,
            by_model=by_model,
            output=output,
        )
    if json_output:
        emit_json(found.to_dict())
        return
    emit_text(suggested_text(found.rows()))
    for reason, times in found.left_out.items():
        note(f"note: {times} of {found.tried} left out, {reason}")
    note("note: synthetic, and marked so in every set and figure: read them before use")
    if output is not None:
        emit_text(f"wrote {output}; look through it, then: assay testset new NAME {output}")


@app.command("second")
def second(
    ctx: typer.Context,
    person: Annotated[str, typer.Argument(help="Who judges the sample.")],
    share: Annotated[float, typer.Option(help="Share of the judged passages to check.")] = 0.25,
    round_id: RoundOption = "latest",
    json_output: JsonFlag = False,
) -> None:
    """Have a second person judge a sample of a round, to measure agreement (kappa)."""
    from assay.app.first_set import add_judge
    from assay.model.codec import encode

    with workspace_of(ctx) as workspace:
        desk = add_judge(workspace, person, round_id, share=share)
        status, progress = desk.status(), desk.progress(person)
    if json_output:
        emit_json(encode(status))
    else:
        emit_text(f"{person} checks {counted(progress.total, 'passage')} of {status.round_id}")
        emit_text(f"  assay annotate --as {person} --round {status.round_id}")


@app.command("finish")
def finish(
    ctx: typer.Context,
    round_id: RoundOption = "latest",
    close: Annotated[
        bool, typer.Option("--close", help="End the round: nothing more can be judged in it.")
    ] = False,
    dry_run: DryRun = False,
    output: Output = None,
    json_output: JsonFlag = False,
) -> None:
    """Write the judgments so far as a test set; judging can continue."""
    from assay.app import first_set
    from assay.render.testsets import size

    with workspace_of(ctx) as workspace:
        done = first_set.finish(workspace, round_id, close=close, dry_run=dry_run, output=output)
    if json_output:
        emit_json(done.to_dict())
        return
    emit_text(f"{done.test_set.name}: {size(done.test_set)}; {done.standing}")
    best = ", ".join(f"{name} {value:.2f}" for name, value in done.lists.items())
    note(f"note: nDCG@10 of the pooled lists, unjudged passages by their ranks: {best}")
    for line in done.test_set.cautions:
        note(f"note: {line}")
    for query_id, reason in done.left_out.items():
        note(f"note: {query_id} does not come in: {reason}")
    print_written(done.written)


@app.command("sample")
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
    """Sample real user queries, in the proportions of a test set."""
    from assay.app import pool
    from assay.render.annotation import sample_json, sample_notes, sample_text

    with workspace_of(ctx) as workspace:
        drawn = pool.sample(
            workspace,
            load_set(workspace, name),
            source=source,
            strategy=strategy,
            count=count,
            seed=seed,
            since=since,
            dense=dense,
            output=output,
        )
    if json_output:
        emit_json(sample_json(drawn))
    else:
        emit_text(sample_text(drawn))
        for line in sample_notes(drawn):
            note(line)
        if output is not None:
            emit_text(f"wrote {output}; look through it, then: assay testset pool {name} {output}")
    return UNFINISHED if drawn.missing else 0


@app.command("pool")
def pool(
    ctx: typer.Context,
    name: Name,
    queries: Annotated[
        Path | None,
        typer.Argument(
            help="File that assay testset sample wrote; without it, what is unjudged in the set."
        ),
    ] = None,
    annotators: Annotated[
        str | None,
        typer.Option(help="Two names, as in ann,bob: opens a round for them to judge."),
    ] = None,
    round_id: Annotated[str | None, typer.Option("--round", help="Name of the new round.")] = None,
    depth: Annotated[int, typer.Option(help="Results to take from each list.")] = 20,
    runs: Annotated[int, typer.Option(min=0, max=100, help="Stored runs to add to the pool.")] = 10,
    seed: Seed = 13,
    json_output: JsonFlag = False,
) -> None:
    """Gather the passages to judge from every component and stored runs."""
    from assay.app.pool import pool as gather

    with workspace_of(ctx) as workspace:
        made = gather(
            workspace,
            load_set(workspace, name),
            queries,
            annotators=None if annotators is None else _pair(annotators),
            round_id=round_id,
            depth=depth,
            runs=runs,
            seed=seed,
        )
    if json_output:
        emit_json(made.to_dict())
    else:
        _print_pool(made, new=queries is not None)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in re.split(r"[,\s]+", text.strip()) if name)


def _pair(text: str) -> tuple[str, str]:
    from assay.errors import UsageError

    names = _names(text)
    if len(names) != 2:
        raise UsageError(
            f"--annotators names {len(names)} people", hint="exactly two judge, as in ann,bob"
        )
    return names[0], names[1]


def _print_pool(made: "PassagePool", *, new: bool) -> None:
    from assay.render.annotation import judged_text

    queries = len({item.query_id for item in made.items})
    what = "to judge" if new else "that nobody has judged"
    passages = counted(len(made.items), "passage")
    emit_text(f"{passages} {what}, for {counted(queries, 'query')}, {made.depth} deep")
    if not new:
        emit_text(judged_text(made.judged))
    for name, count in made.absent.items():
        note(f"note: {counted(count, 'result')} of {name} left out: not in the corpus, or twice")
    if made.round is None:
        note("note: --annotators ANN,BOB opens a round for two people to judge them")
        return
    emit_text(f"opened the round {made.round.round_id}")
    for person in made.round.annotators:
        emit_text(f"  assay annotate --as {person} --round {made.round.round_id}")


@app.command("rounds")
def rounds(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """List the rounds of judging, newest first."""
    from assay.app.annotation import open_desks
    from assay.model.codec import encode
    from assay.render.annotation import rounds_text

    with workspace_of(ctx) as workspace:
        rows = [encode(desk.status()) for desk in open_desks(workspace)]
    if json_output:
        emit_json({"rounds": rows})
    elif rows:
        emit_text(rounds_text(rows))
    else:
        note("note: no round yet: assay testset pool NAME FILE --annotators ANN,BOB opens one")


@app.command("agreement")
def agreement(
    ctx: typer.Context, round_id: RoundOption = "latest", json_output: JsonFlag = False
) -> int:
    """Show how far two annotators agree: kappa, confusion, differences."""
    from assay.app.annotation import open_desk
    from assay.render.annotation import agreement_text

    with workspace_of(ctx) as workspace:
        desk = open_desk(workspace, round_id)
        found, waiting = desk.agreement(), desk.open_items()
    if json_output:
        emit_json({**found.to_dict(), "open": waiting})
        return 0 if found.enough else NO_AGREEMENT
    emit_text(agreement_text(found))
    if waiting:
        note(
            f"note: {counted(waiting, 'passage', 'waits')} for a grade or a decision: "
            "assay annotate --as THIRD --adjudicate, "
            "or assay testset adjudicate --rule mean-down --as NAME"
        )
    return 0 if found.enough else NO_AGREEMENT


@app.command("adjudicate")
def adjudicate(
    ctx: typer.Context,
    rule: Annotated[str, typer.Option(help="mean-down, higher or lower.")],
    person: Annotated[str, typer.Option("--as", help="Who chooses the rule.")],
    round_id: RoundOption = "latest",
    json_output: JsonFlag = False,
) -> None:
    """Resolve disagreements by a rule; assay annotate --adjudicate resolves them by hand."""
    from assay.app.annotation import open_desk

    with workspace_of(ctx) as workspace:
        desk = open_desk(workspace, round_id)
        decided, waiting = len(desk.decide_by_rule(rule, person)), desk.open_items()
    name = desk.round.round_id
    if json_output:
        emit_json({"round_id": name, "decided": decided, "open": waiting})
    else:
        emit_text(f"{name}: {rule} decided {counted(decided, 'passage')}; open: {waiting}")


@app.command("refresh")
def refresh(
    ctx: typer.Context,
    name: Name,
    replace: Annotated[int, typer.Option(help="How many queries are replaced.")] = 20,
    round_id: RoundOption = "latest",
    seed: Seed = 13,
    dry_run: DryRun = False,
    output: Output = None,
    json_output: JsonFlag = False,
) -> None:
    """Write the next version of a set, from a round whose annotators agree."""
    from assay.app.refresh import carry_out, propose

    with workspace_of(ctx) as workspace:
        workspace.require()
        parent = load_set(workspace, name)
        proposal = propose(workspace, parent, round_id=round_id, count=replace, seed=seed)
        target = None if dry_run else carry_out(workspace, proposal, output)
    if json_output:
        emit_json({"written": target and str(target), **proposal.to_dict()})
    else:
        _print_proposal(proposal)
        print_written(target)


def _print_proposal(proposal: "Proposal") -> None:
    """Which queries go, which come, and what that does to stored runs."""
    from assay.render.annotation import effect_text, swap_text

    made, effect = proposal.test_set, proposal.effect
    emit_text(f"{proposal.parent.name} -> {made.name}; {proposal.agreement.verdict}")
    if proposal.retired or proposal.added:
        emit_text(swap_text(made, proposal.retired, proposal.added))
    for name, reason in proposal.left_out.items():
        note(f"note: {name} does not come in: {reason}")
    if not effect.runs:
        note("note: no stored run of the old version to compare with")
        return
    emit_text(effect_text(effect))
    if any(run.values["after"] is None for run in effect.runs):
        note("note: no run has the new queries yet: assay eval run makes one")
    elif effect.pairs:
        emit_text(f"{effect.swapped} of {effect.pairs} pairs of runs change places")


@app.command("export-tasks")
def export_tasks(
    ctx: typer.Context,
    annotator: Annotated[str, typer.Option("--as", help="Whose tasks.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")],
    form: Annotated[str, typer.Option("--form", "-f", help="csv or label-studio.")] = "csv",
    round_id: RoundOption = "latest",
    json_output: JsonFlag = False,
) -> None:
    """Write an annotator's tasks for a spreadsheet or for Label Studio."""
    from assay.app.annotation import open_desk

    with workspace_of(ctx) as workspace:
        desk = open_desk(workspace, round_id)
        written, tasks = desk.export_tasks(annotator, form, output), len(desk.items)
    if json_output:
        emit_json({"written": [str(path) for path in written], "tasks": tasks})
    else:
        for path in written:
            emit_text(f"wrote {path}")


@app.command("import-grades")
def import_grades(
    ctx: typer.Context,
    path: Annotated[Path, typer.Argument(help="Our CSV, or a JSON export of Label Studio.")],
    annotator: Annotated[str, typer.Option("--as", help="Whose grades.")],
    round_id: RoundOption = "latest",
    json_output: JsonFlag = False,
) -> None:
    """Import an annotator's grades from a file, all of them or none."""
    from assay.app.annotation import open_desk

    with workspace_of(ctx) as workspace:
        desk = open_desk(workspace, round_id)
        count = desk.import_grades(annotator, path)
        progress = desk.progress(annotator)
    if json_output:
        emit_json({"grades": count, "done": progress.done, "total": progress.total})
    else:
        emit_text(
            f"{counted(count, 'grade')} of {annotator}; "
            f"{share_of(progress.done, progress.total, 'passage', 'is')} judged"
        )
