"""Does a judge of answers agree with people? Claims are drawn, graded and compared here."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.app.engine import GRADED_ANSWERS
from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.lazy import group
from assay.cli.options import JsonFlag, configuration
from assay.plural import counted

if TYPE_CHECKING:
    from assay.app.judges import ClaimDesk, ClaimTask
    from assay.cli.annotate import Keyboard
    from assay.evaluation.judge_quality import JudgeQuality

app = group("Check automatic judges of answers against people.")
Run = Annotated[str, typer.Argument(help="A run with judged answers: its id, name or tag.")]
Answers = Annotated[int, typer.Option(min=1, help="Answers to draw.")]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]
KEYS = {"s": "supported", "n": "unsupported", "c": "contradicted"}
PROMPT = "s supported, n not supported, c contradicted, u undo, q leave > "


@app.command("claims")
def claims(
    ctx: typer.Context,
    run: Run = "latest",
    person: Annotated[str, typer.Option("--as", help="Who grades.")] = "",
    answers: Answers = GRADED_ANSWERS,
    seed: Seed = 0,
    json_output: JsonFlag = False,
) -> int:
    """Grade claims beside the passages that they cite, by keyboard; stop and resume at any time."""
    from assay.app.judges import open_claims
    from assay.app.workspace import Workspace
    from assay.cli.annotate import keyboard
    from assay.errors import UsageError

    with Workspace(configuration(ctx)) as workspace:
        if not person:
            raise UsageError("name the person who grades", hint="--as NAME")
        desk = open_claims(workspace, run, answers=answers, seed=seed)
        if json_output:
            emit_json(desk.turn(person))
            return 0
        return _grade_all(desk, person, keyboard(), run)


def _grade_all(desk: "ClaimDesk", person: str, keys: "Keyboard", run: str) -> int:
    """Work through the claims that were drawn, until they are done or the person leaves."""
    from assay.cli.annotate import write
    from assay.model.judges import Support

    shown = ""
    while (task := desk.turn(person).task) is not None:
        if shown != task.claim_id:
            write(_claim_text(task))
            shown = task.claim_id
        write(PROMPT)
        key = keys.key()
        if key in KEYS:
            desk.grade(person, task.claim_id, Support(KEYS[key]))
            write(f"{KEYS[key]}, saved")
        elif key == "u":
            undone = desk.undo(person).claim_id
            write("there is nothing to undo" if undone is None else "took back the last grade")
        elif key in ("q", ""):
            break
    progress = desk.progress(person)
    write(f"\n{progress.done} of {counted(progress.total, 'claim')} graded")
    write(f"assay judge check {run} compares the judge with people")
    return 0


def _claim_text(task: "ClaimTask") -> str:
    from assay.cli.annotate import wrapped

    passages = "\n".join(
        f"\n{one.chunk_id}{' (cited by this sentence)' if one.here else ''}\n{wrapped(one.text)}"
        for one in task.passages
    )
    return (
        f"\n=== {task.question}\n\nanswer\n{wrapped(task.answer)}\n{passages}\n\n"
        f"[{task.number} of {task.total}] claim\n{wrapped(task.claim)}\n"
    )


@app.command("sheet")
def sheet(
    ctx: typer.Context,
    run: Run = "latest",
    out: Annotated[Path | None, typer.Option(help="CSV file to write.")] = None,
    answers: Answers = GRADED_ANSWERS,
    seed: Seed = 0,
    json_output: JsonFlag = False,
) -> None:
    """Draw answers at random and write a sheet of their claims to grade."""
    from assay.app import judges
    from assay.app.workspace import Workspace

    with Workspace(configuration(ctx)) as workspace:
        found = judges.sheet(workspace, run, answers=answers, seed=seed, out=out)
    if json_output:
        emit_json(found.to_dict())
    elif out is None:
        emit_text(found.to_csv().rstrip("\n"))
    else:
        note(f"{len(found.rows)} claims are in {out}: fill in the column label, then")
        note(f"assay judge grade {run} {out} --by NAME")


@app.command("grade")
def grade(
    ctx: typer.Context,
    run: Run,
    file: Annotated[Path, typer.Argument(help="The sheet with its labels.")],
    by: Annotated[str, typer.Option("--by", help="Who graded.")],
    json_output: JsonFlag = False,
) -> None:
    """Import graded claims, and compare them with the judge."""
    from assay.app import judges
    from assay.app.workspace import Workspace

    with Workspace(configuration(ctx)) as workspace:
        _show(judges.grade(workspace, run, file, by), as_json=json_output)


@app.command("check")
def check(ctx: typer.Context, run: Run = "latest", json_output: JsonFlag = False) -> None:
    """Compare the judge of a run with the people who graded its claims."""
    from assay.app import judges
    from assay.app.workspace import Workspace

    with Workspace(configuration(ctx)) as workspace:
        _show(judges.check(workspace, run), as_json=json_output)


def _show(found: "JudgeQuality", *, as_json: bool) -> None:
    if as_json:
        emit_json(found.to_dict())
        return
    table = found.records()
    emit_text(table.title)
    emit_columns([table.names, *([_cell(value) for value in row] for row in table.rows)])
    for line in table.notes:
        emit_text(line)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return "—" if value is None else str(value)
