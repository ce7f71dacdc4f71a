"""How are test sets checked, split, compared and converted on the command line?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.connection import connected
from assay.cli.console import emit_columns, emit_data, emit_json, emit_text, note
from assay.cli.options import JsonFlag, refuse_server
from assay.cli.testset.shared import (
    DryRun,
    Name,
    Output,
    app,
    load_set,
    print_written,
    workspace_of,
)
from assay.model.testset import GRADES
from assay.plural import counted

INVALID = 2
OVERLAPPING = 3
FIT_CODES = {"likely_overfitting": 3, "possible_overfitting": 4}
SHOWN = 20
MASK = "(held out: --held-out shows it, and the look is logged)"
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

    with workspace_of(ctx) as workspace:
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

    with workspace_of(ctx) as workspace:
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
        workspace_of(ctx).layout,
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

    graded = drafts.grade(workspace_of(ctx), name, query, dict(map(_read_grade, grades)))
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

    forked = drafts.fork(workspace_of(ctx).layout, name, new_name)
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

    found = testsets.overlap(workspace_of(ctx).layout, names, paths=True)
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

    with workspace_of(ctx) as workspace:
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
        workspace_of(ctx).layout,
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

    with workspace_of(ctx) as workspace:
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
    with workspace_of(ctx) as workspace:
        test_set = load_set(workspace, name)
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

    with workspace_of(ctx) as workspace:
        carried = refresh.reanchor(workspace, load_set(workspace, name))
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
    print_written(target)
    return 0
