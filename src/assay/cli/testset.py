"""How are test sets checked, split, compared, converted and refreshed on the command line?"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.connection import connected
from assay.cli.console import emit_columns, emit_data, emit_json, emit_text, note
from assay.cli.lazy import group
from assay.cli.options import JsonFlag, configuration, refuse_server
from assay.model.testset import GRADES
from assay.plural import counted, share_of

if TYPE_CHECKING:
    from assay.app.pool import PassagePool
    from assay.app.refresh import Proposal
    from assay.app.workspace import Workspace
    from assay.model.testset import TestSet

app = group("Check, split, compare, convert and refresh test sets.")

INVALID = 2
NO_AGREEMENT, UNFINISHED = 3, 4
OVERLAPPING = 3
FIT_CODES = {"likely_overfitting": 3, "possible_overfitting": 4}
SHOWN = 20
MASK = "(held out: --held-out shows it, and the look is logged)"

Name = Annotated[str, typer.Argument(help="Name of a test set, or path of a file or BEIR folder.")]
Lenient = Annotated[
    bool | None,
    typer.Option(
        "--lenient/--strict",
        help="Skip queries without ground truth, or refuse them; the default is the format's.",
    ),
]
HeldOutFlag = Annotated[
    bool, typer.Option("--held-out", help="Show held-out queries; this is logged.")
]
RoundOption = Annotated[str, typer.Option("--round", help="Id of the round.")]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="File to write, instead of the workspace's.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change and write nothing.")
]


def _workspace(ctx: typer.Context) -> "Workspace":
    from assay.app.workspace import Workspace

    return Workspace(configuration(ctx))


def _load(workspace: "Workspace", name: str) -> "TestSet":
    from assay.app.testsets import load

    return load(workspace.layout, name, paths=True)


@app.command("list")
def list_sets(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """List the test sets that load by name."""
    from assay.model.codec import encode

    with connected(ctx) as assay:
        entries = assay.test_sets()
    rows = [{**encode(entry), "path": str(entry.path or "the service")} for entry in entries]
    if json_output:
        emit_json({"test_sets": rows})
        return
    if not rows:
        note("note: there is no test set yet: assay testset import PATH adds one")
        return
    cells = [
        (row["name"], row["version"], str(row["queries"]), row["path"])
        if row["sound"]
        else (row["name"], "—", "unsound", row["path"])
        for row in rows
    ]
    emit_columns([("name", "version", "queries", "path"), *cells])


@app.command("validate")
def validate(
    ctx: typer.Context,
    name: Name,
    index: Annotated[
        bool, typer.Option("--index", help="Require judged ids to be in the workspace.")
    ] = False,
    lenient: Lenient = None,
    json_output: JsonFlag = False,
) -> int:
    """Check a test set and list every problem with its line."""
    from assay.app import testsets
    from assay.render.testsets import problem_json, size, summary

    with _workspace(ctx) as workspace:
        reading = testsets.validate(workspace, name, index=index, lenient=lenient, paths=True)
    test_set = reading.test_set
    if json_output:
        emit_json(
            {
                "path": reading.path,
                "form": reading.form,
                "valid": test_set is not None,
                "problems": [problem_json(problem) for problem in reading.problems],
                "warnings": [problem_json(problem) for problem in reading.warnings],
                "summary": summary(test_set) if test_set else None,
            }
        )
        return 0 if test_set else INVALID
    for warning in reading.warnings:
        note(f"warning: {warning}")
    for problem in reading.problems:
        emit_text(str(problem))
    if test_set is None:
        note(f"{reading.path}: {counted(len(reading.problems), 'problem')}")
        return INVALID
    emit_text(f"{reading.path}: sound; {size(test_set)}")
    return 0


@app.command("show")
def show(
    ctx: typer.Context,
    name: Name,
    query_id: Annotated[str | None, typer.Argument(help="Show this query only.")] = None,
    lenient: Lenient = None,
    held_out: HeldOutFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Show what a test set holds, or one of its queries; held-out ones are masked."""
    from assay.app import testsets
    from assay.render.testsets import query_json, query_text, set_json, set_text

    with _workspace(ctx) as workspace:
        shown = testsets.show(
            workspace, name, query_id, held_out=held_out, words=MASK, lenient=lenient, paths=True
        )
    test_set, whole = shown.test_set, shown.whole
    due = testsets.due(whole)
    if due.overdue:
        note(f"note: {due}")
    if query_id is None:
        if json_output:
            emit_json(set_json(whole, test_set))
        else:
            emit_text(set_text(whole, test_set.queries))
        return
    query, hidden = test_set.by_id[query_id], query_id in test_set.held_out_ids
    if json_output:
        emit_json(query_json(query, held_out=hidden))
    else:
        emit_text(query_text(query, held_out=hidden))


@app.command("split")
def split(
    ctx: typer.Context,
    name: Name,
    share: Annotated[float, typer.Option(help="Share of queries to hold out.")] = 0.2,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 13,
    by_group: Annotated[
        bool,
        typer.Option(
            "--by-group", help="Write three sets, 80/10/10, that have no group in common."
        ),
    ] = False,
    redraw: Annotated[
        bool, typer.Option("--redraw", help="Draw again even if some queries are held out already.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File (folder with --by-group) to write."),
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Hold out some of the queries, stratified by type, in whole groups, and record that."""
    from assay.app import testsets

    done = testsets.split(
        _workspace(ctx).layout,
        name,
        share=share,
        seed=seed,
        by_group=by_group,
        redraw=redraw,
        output=output,
        paths=True,
    )
    if json_output:
        parts = {part: list(ids) for part, ids in done.parts.items()}
        written = [str(path) for path in done.written]
        emit_json({"written": written, "seed": seed, **parts, "notes": list(done.notes)})
        return
    sizes = ", ".join(f"{part} {len(ids)}" for part, ids in done.parts.items())
    emit_text(f"{sizes} (seed {seed})")
    for path in done.written:
        emit_text(f"wrote {path}")
    for line in done.notes:
        note(f"note: {line}")


@app.command("grade")
def grade(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="A draft; a new name starts one.")],
    query: Annotated[str, typer.Argument(help="The question.")],
    grades: Annotated[
        list[str],
        typer.Argument(metavar="ID=GRADE...", help="As in NCT1:chunk_2=3; ID= removes a grade."),
    ],
    json_output: JsonFlag = False,
) -> None:
    """Grade the results of a question in a draft test set."""
    from assay.app import drafts

    graded = drafts.grade(_workspace(ctx), name, query, dict(map(_read_grade, grades)))
    if json_output:
        emit_json(graded)
        return
    emit_columns([("grade", "id"), *((str(value), one) for one, value in graded.grades.items())])
    note(f"note: {graded.query_id} in {graded.name} ({counted(graded.queries, 'query')})")


def _read_grade(text: str) -> tuple[str, int | None]:
    from assay.errors import UsageError

    name, equals, value = text.rpartition("=")
    if not equals or not (value == "" or value.isdecimal()):
        raise UsageError(f"{text!r:.80} is not a grade", hint="as in NCT1:chunk_2=3")
    return name, int(value) if value else None


@app.command("fork")
def fork(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="The test set to copy.")],
    new_name: Annotated[str, typer.Argument(help="What the draft is called.")],
    json_output: JsonFlag = False,
) -> None:
    """Copy a test set to a draft that can be graded; the original stays as it is."""
    from assay.app import drafts

    forked = drafts.fork(_workspace(ctx).layout, name, new_name)
    if json_output:
        emit_json(forked)
        return
    queries = counted(forked.queries, "query")
    emit_text(f"{forked.name} is a draft of {forked.draft_of} with {queries}")


@app.command("overlap")
def overlap(
    ctx: typer.Context,
    names: Annotated[list[str], typer.Argument(help="Test sets: names, files or BEIR folders.")],
    json_output: JsonFlag = False,
) -> int:
    """Check that test sets share no query, text or group; exit code 3 where they do."""
    from assay.app import testsets

    found = testsets.overlap(_workspace(ctx).layout, names, paths=True)
    disjoint = all(one.disjoint for one in found)
    if json_output:
        emit_json({"disjoint": disjoint, "overlaps": [one.to_dict() for one in found]})
    else:
        for one in found:
            for line in one.sentences():
                emit_text(line)
        emit_text("no query, text or group is in two sets" if disjoint else "the sets overlap")
    return 0 if disjoint else OVERLAPPING


@app.command("diff")
def diff(
    ctx: typer.Context,
    before: Name,
    after: Annotated[str, typer.Argument(help="The other test set.")],
    held_out: HeldOutFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Show what changed between two test sets; words of held-out queries are masked."""
    from assay.app import testsets
    from assay.render.testsets import diff_text

    with _workspace(ctx) as workspace:
        found = testsets.diff(workspace, before, after, held_out=held_out, words=MASK, paths=True)
    if json_output:
        emit_json(found.to_dict())
    else:
        emit_text(diff_text(found.before, found.after, found.changes))


@app.command("import")
def import_set(
    ctx: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(
            help="File to read: our own form, TREC topics, CSV, JSON lines or parquet of queries "
            "and judgments; a folder of BEIR or MTEB; or irds:NAME of ir_datasets."
        ),
    ],
    qrels: Annotated[
        Path | None, typer.Option(help="Judgments of TREC topics; PATH holds the topics.")
    ] = None,
    beir_split: Annotated[
        str | None,
        typer.Option("--split", help="Judgments of a BEIR or MTEB folder: test, dev, train."),
    ] = None,
    field: Annotated[
        str, typer.Option(help="Element of a TREC topic that is the query.")
    ] = "title",
    name: Annotated[str | None, typer.Option(help="Name of the set.")] = None,
    version: Annotated[str | None, typer.Option(help="Version of the set.")] = None,
    grades: Annotated[str | None, typer.Option(help=GRADES)] = None,
    lenient: Lenient = None,
    output: Output = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a set of this name.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Import queries, in our own or another format, as a test set of the workspace."""
    from assay.app import testsets
    from assay.render.testsets import size, summary

    target, reading = testsets.import_file(
        _workspace(ctx).layout,
        path,
        qrels=qrels,
        field=field,
        split=beir_split,
        name=name,
        version=version,
        grades=grades,
        lenient=lenient,
        output=output,
        force=force,
    )
    for warning in reading.warnings:
        note(f"warning: {warning}")
    test_set = reading.sound()
    if json_output:
        emit_json({"written": str(target), "form": reading.form, **summary(test_set)})
        return
    emit_text(f"{test_set.name}: {size(test_set)} ({reading.form})")
    emit_text(f"wrote {target}")


@app.command("export")
def export(
    ctx: typer.Context,
    name: Name,
    form: Annotated[
        str, typer.Option("--form", "-f", help="yaml, json, trec, beir, golden-list, workflow.")
    ] = "yaml",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder to write into.")
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Export a test set in the format of another tool; a look at held-out queries is logged."""
    from assay.app import testsets
    from assay.errors import UsageError

    with _workspace(ctx) as workspace:
        exported = testsets.export(workspace, name, form, paths=True)
    if exported.lost:
        note(f"note: {form} has no place for {', '.join(exported.lost)}")
    if output is None and (len(exported.files) > 1 or json_output):
        raise UsageError(
            f"{form} makes {counted(len(exported.files), 'file')}", hint="name a folder: --output"
        )
    if output is None:
        emit_data(next(iter(exported.files.values())).rstrip("\n"))
        return
    written = exported.write(output)
    if json_output:
        emit_json({"written": [str(path) for path in written], "lost": list(exported.lost)})
    else:
        for path in written:
            emit_text(f"wrote {path}")


@app.command("schema")
def schema(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """Print the JSON schema of test sets, for editors."""
    import json

    from assay.app.testsets import schema as build

    refuse_server(ctx)
    if json_output:
        emit_json(build())
    else:
        emit_text(json.dumps(build(), indent=2))


# A first set, from nothing


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

    with _workspace(ctx) as workspace:
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

    with _workspace(ctx) as workspace:
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

    with _workspace(ctx) as workspace:
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

    with _workspace(ctx) as workspace:
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
    _print_written(done.written)


# From real searches to the next version


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

    with _workspace(ctx) as workspace:
        drawn = pool.sample(
            workspace,
            _load(workspace, name),
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

    with _workspace(ctx) as workspace:
        made = gather(
            workspace,
            _load(workspace, name),
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

    with _workspace(ctx) as workspace:
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

    with _workspace(ctx) as workspace:
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

    with _workspace(ctx) as workspace:
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

    with _workspace(ctx) as workspace:
        workspace.require()
        parent = _load(workspace, name)
        proposal = propose(workspace, parent, round_id=round_id, count=replace, seed=seed)
        target = None if dry_run else carry_out(workspace, proposal, output)
    if json_output:
        emit_json({"written": target and str(target), **proposal.to_dict()})
    else:
        _print_proposal(proposal)
        _print_written(target)


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


def _print_written(target: Path | None) -> None:
    if target is None:
        note("note: nothing was written")
    else:
        emit_text(f"wrote {target}")


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

    with _workspace(ctx) as workspace:
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

    with _workspace(ctx) as workspace:
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


# Keeping a set honest


@app.command("heldout")
def heldout(
    ctx: typer.Context,
    name: Name,
    before: Annotated[str | None, typer.Option(help="The run before a change.")] = None,
    after: Annotated[str | None, typer.Option(help="The run after it.")] = None,
    measure: Annotated[str, typer.Option("-m", help="Measure to check.")] = "nDCG@10",
    json_output: JsonFlag = False,
) -> int:
    """Count looks at held-out queries; with two runs, check for overfitting."""
    from assay.app.held_out import check_overfitting
    from assay.app.testsets import looks
    from assay.errors import UsageError
    from assay.render.testsets import looks_text, overfitting_text

    if (before is None) != (after is None):
        raise UsageError("an overfitting check needs two runs", hint="--before RUN --after RUN")
    with _workspace(ctx) as workspace:
        test_set = _load(workspace, name)
        if before is None or after is None:
            looked = looks(workspace, test_set)
            if json_output:
                emit_json(looked.to_dict())
            else:
                emit_text(looks_text(test_set, looked.uses))
            return 0
        workspace.require()
        found = check_overfitting(workspace, test_set, before, after, measure=measure)
        times = len(looks(workspace, test_set).uses)
    if json_output:
        emit_json({**found.to_dict(), "looks": times})
    else:
        emit_text(overfitting_text(found))
        for line in found.notes:
            note(f"note: {line}")
        note(f"note: this was look {times} at the held-out part of {test_set.name}")
    return FIT_CODES.get(found.fit, 0)


@app.command("reanchor")
def reanchor(
    ctx: typer.Context,
    name: Name,
    output: Output = None,
    dry_run: DryRun = False,
    json_output: JsonFlag = False,
) -> int:
    """Carry judgments over to today's chunks, and list what moved or was lost."""
    from assay.app import refresh
    from assay.render.testsets import anchor_text

    with _workspace(ctx) as workspace:
        carried = refresh.reanchor(workspace, _load(workspace, name))
        target = None if dry_run else refresh.save_reanchored(workspace, carried, output)
    if json_output:
        emit_json({"written": target and str(target), **carried.to_dict()})
        return 0
    emit_columns([(fate, str(count)) for fate, count in carried.counts.items() if count])
    review = carried.anchors.review
    for anchor in review[:SHOWN]:
        emit_text(anchor_text(anchor))
    if len(review) > SHOWN:
        note(f"note: {len(review) - SHOWN} more to review; --json lists all")
    _print_written(target)
    return 0
