"""Is this test set sound, what is in it, and how does it become another form?"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration, group
from assay.plural import counted

if TYPE_CHECKING:
    from assay.model.testset import TestSet

app = group("Check, split, compare, convert and refresh test sets.")

MODULES = ("testset_cycle", "testset_upkeep")  # verbs that stand in modules of their own

INVALID = 2
MASK = "(held out: --held-out shows it, and the look is logged)"

Name = Annotated[str, typer.Argument(help="Name of a test set, or path of a file or BEIR folder.")]
Lenient = Annotated[
    bool | None,
    typer.Option(
        "--lenient/--strict",
        help="Skip queries without ground truth, or refuse them; by default as the form does.",
    ),
]
HeldOutFlag = Annotated[
    bool, typer.Option("--held-out", help="Show held-out queries; the look is logged.")
]


def _folder(ctx: typer.Context) -> Path:
    return configuration(ctx).home / "testsets"


@app.command("list")
def list_sets(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """List the test sets that load by name."""
    config = configuration(ctx)
    if config.server is not None:
        from assay.cli.remote import client

        with client(config) as service:
            rows = [{**row, "path": "the service"} for row in service.test_sets()["test_sets"]]
    else:
        from assay.app import testsets as datasets

        paths = datasets.names(config.home)
        rows = [{**row, "path": str(paths[row["name"]])} for row in datasets.listing(config.home)]
    if json_output:
        emit_json({"test_sets": rows})
        return
    if not rows:
        note("note: there is none yet: assay testset import PATH")
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
        bool, typer.Option("--index", help="Judged ids must exist in the workspace.")
    ] = False,
    lenient: Lenient = None,
    json_output: JsonFlag = False,
) -> int:
    """Check a test set and list every problem with its line."""
    from assay.cli.testset_text import problem_json, summary
    from assay.testsets.load import ReadOptions, find_test_set, read_test_set

    path = find_test_set(name, _folder(ctx))
    if index:
        from assay.app.workspace import Workspace

        with Workspace(configuration(ctx)) as workspace:
            workspace.require()
            options = ReadOptions(lenient=lenient, known_ids=workspace.store.has_id)
            reading = read_test_set(path, options)
    else:
        reading = read_test_set(path, ReadOptions(lenient=lenient))
    if json_output:
        emit_json(
            {
                "path": str(path),
                "form": reading.form,
                "valid": reading.test_set is not None,
                "problems": [problem_json(problem) for problem in reading.problems],
                "warnings": [problem_json(problem) for problem in reading.warnings],
                "summary": summary(reading.test_set) if reading.test_set else None,
            }
        )
        return 0 if reading.test_set else INVALID
    for warning in reading.warnings:
        note(f"warning: {warning}")
    for problem in reading.problems:
        emit_text(str(problem))
    if reading.test_set is None:
        note(f"{path}: {counted(len(reading.problems), 'problem')}")
        return INVALID
    emit_text(f"{path}: sound; {_size(reading.test_set)}")
    return 0


def _size(test_set: "TestSet") -> str:
    judged = sum(len(query.relevant_docs) for query in test_set.queries)
    return f"{counted(len(test_set.queries), 'query')}, {counted(judged, 'judgment')}"


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
    from assay.app.held_out import masked, noted
    from assay.app.workspace import Workspace
    from assay.cli.testset_job import remind
    from assay.cli.testset_text import print_query, print_set, summary
    from assay.errors import UsageError
    from assay.testsets.load import load_test_set
    from assay.testsets.write import as_plain, query_as_plain

    whole = load_test_set(name, folder=_folder(ctx), lenient=lenient)
    if held_out:
        with Workspace(configuration(ctx)) as workspace:
            noted(workspace, whole, query_id)
    found = whole if held_out else masked(whole, MASK)
    remind(whole)
    if query_id is None:
        if json_output:
            emit_json({**summary(whole), **as_plain(found)})
        else:
            print_set(whole, found.queries)
        return
    if query_id not in found.by_id:
        raise UsageError(f"{found.name} has no query {query_id!r:.80}")
    query = found.by_id[query_id]
    if json_output:
        emit_json({**query_as_plain(query), "held_out": query_id in found.held_out_ids})
    else:
        print_query(query, held_out=query_id in found.held_out_ids)


@app.command("split")
def split(
    ctx: typer.Context,
    name: Name,
    share: Annotated[float, typer.Option(help="Share of queries that is held out.")] = 0.2,
    seed: Annotated[int, typer.Option(min=0, help="Decides the draw.")] = 13,
    by_group: Annotated[
        bool,
        typer.Option(
            "--by-group", help="Write three sets, 80/10/10, that share no group of queries."
        ),
    ] = False,
    redraw: Annotated[
        bool, typer.Option("--redraw", help="Draw again where a part is held out already.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File (folder with --by-group) to write."),
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Hold out a part of the queries, stratified by type, and store that in the set."""
    from assay.app.splits import split_groups, split_held_out

    folder = _folder(ctx)
    if by_group:
        path, parts = split_groups(name, folder, seed=seed, output=output)
    else:
        path, parts = split_held_out(
            name, folder, share=share, seed=seed, output=output, redraw=redraw
        )
    if json_output:
        rows = {part: list(ids) for part, ids in parts.items()}
        emit_json({"written": [str(item) for item in path], "seed": seed, **rows})
        return
    emit_text(", ".join(f"{part} {len(ids)}" for part, ids in parts.items()) + f" (seed {seed})")
    for item in path:
        emit_text(f"wrote {item}")


@app.command("diff")
def diff(
    ctx: typer.Context,
    before: Name,
    after: Annotated[str, typer.Argument(help="The other test set.")],
    held_out: HeldOutFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Show what changed between two test sets; words of held-out queries are masked."""
    from dataclasses import asdict

    from assay.app.held_out import masked, masked_diff, noted
    from assay.app.workspace import Workspace
    from assay.cli.testset_text import print_diff
    from assay.testsets.diff import diff as compare
    from assay.testsets.load import load_test_set

    folder = _folder(ctx)
    one, other = (load_test_set(name, folder=folder) for name in (before, after))
    if held_out:
        with Workspace(configuration(ctx)) as workspace:
            for test_set in (one, other):
                noted(workspace, test_set)
        found = compare(one, other)
    else:
        found = masked_diff(one, other, MASK)
        one, other = masked(one, MASK), masked(other, MASK)
    if json_output:
        emit_json({"same": found.same, **asdict(found)})
    else:
        print_diff(one, other, found)


@app.command("import")
def import_set(
    ctx: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(help="File to read (also our own YAML or JSON), or a BEIR folder."),
    ],
    qrels: Annotated[
        Path | None, typer.Option(help="Judgments of TREC topics; PATH holds the topics.")
    ] = None,
    beir_split: Annotated[
        str | None, typer.Option("--split", help="Judgments of a BEIR folder: test, dev, train.")
    ] = None,
    field: Annotated[
        str, typer.Option(help="Element of a TREC topic that is the query.")
    ] = "title",
    name: Annotated[str | None, typer.Option(help="Name of the set.")] = None,
    version: Annotated[str | None, typer.Option(help="Version of the set.")] = None,
    lenient: Lenient = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write, not the workspace's.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a set of this name.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Read queries of our own or another form into the workspace, as a test set with a name."""
    from assay.cli.testset_job import import_into
    from assay.cli.testset_text import summary
    from assay.testsets.load import ReadOptions

    options = ReadOptions(
        lenient=lenient, qrels=qrels, field=field, split=beir_split, name=name, version=version
    )
    target, reading = import_into(path, options, _folder(ctx), output=output, force=force)
    found = reading.sound()
    for warning in reading.warnings:
        note(f"warning: {warning}")
    if json_output:
        emit_json({"written": str(target), "form": reading.form, **summary(found)})
        return
    emit_text(f"{found.name}: {_size(found)} ({reading.form})")
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
    """Write a test set in the form of another tool."""
    from assay.errors import UsageError
    from assay.testsets.export import files, lost
    from assay.testsets.load import load_test_set
    from assay.testsets.save import write_text

    found = load_test_set(name, folder=_folder(ctx))
    made = files(found, form)
    if missing := lost(found, form):
        note(f"note: {form} has no place for {', '.join(missing)}")
    if output is None and (len(made) > 1 or json_output):
        raise UsageError(
            f"{form} makes {counted(len(made), 'file')}", hint="name a folder: --output"
        )
    if output is None:
        emit_text(next(iter(made.values())).rstrip("\n"))
        return
    for relative, text in made.items():
        write_text(output / relative, text)
    if json_output:
        emit_json({"written": [str(output / relative) for relative in made], "lost": missing})
    else:
        for relative in made:
            emit_text(f"wrote {output / relative}")


@app.command("schema")
def schema(json_output: JsonFlag = False) -> None:
    """Print the JSON schema of test sets, for editors."""
    from assay.testsets.schema import schema as build
    from assay.testsets.schema import schema_text

    if json_output:
        emit_json(build())
    else:
        emit_text(schema_text().rstrip("\n"))


for _name in MODULES:
    app.registered_commands += import_module(f"assay.cli.{_name}").verbs.registered_commands
