"""Does a judge of answers agree with people? Claims are drawn, graded and compared here."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.lazy import group
from assay.cli.options import JsonFlag, configuration

if TYPE_CHECKING:
    from assay.evaluation.judge_quality import JudgeQuality

app = group("Compare judges of answers with people.")
Run = Annotated[str, typer.Argument(help="A run with judged answers: its id, name or tag.")]


@app.command("sheet")
def sheet(
    ctx: typer.Context,
    run: Run = "latest",
    out: Annotated[Path | None, typer.Option(help="CSV file to write.")] = None,
    answers: Annotated[int, typer.Option(min=1, help="Answers to draw.")] = 30,
    seed: Annotated[int, typer.Option(help="Which draw.")] = 0,
    json_output: JsonFlag = False,
) -> None:
    """Draw answers at random and list their claims, for somebody to grade."""
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
    """Keep what somebody said of claims, and compare it with the judge."""
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
