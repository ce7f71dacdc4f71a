"""Commands that end in every way a command can end."""

import sys

import typer

from assay.cli.lazy import group
from assay.errors import FormatError, LimitError

app = group("Ends in many ways.")


@app.command("fine")
def fine() -> None:
    sys.stdout.write("fine\n")


@app.command("gate")
def gate() -> int:
    return 3


@app.command("leave")
def leave() -> None:
    raise typer.Exit(4)


@app.command("refuse")
def refuse(json_output: bool = typer.Option(False, "--json")) -> None:
    raise FormatError("7 columns", source="a.run", line=3, hint="six are expected")


@app.command("bare")
def bare() -> None:
    raise LimitError("too large")


@app.command("hostile")
def hostile() -> None:
    raise FormatError("bad id 'a\x1b]0;owned\x07\x9b31m'", source="a.run", line=1)


@app.command("break")
def break_down(json_output: bool = typer.Option(False, "--json")) -> None:
    raise ZeroDivisionError("division by zero")


@app.command("stop")
def stop() -> None:
    raise KeyboardInterrupt


@app.command("abort")
def abort() -> None:
    raise typer.Abort


@app.command("pipe")
def pipe() -> None:
    raise BrokenPipeError(32, "Broken pipe")


@app.command("locked")
def locked() -> None:
    raise PermissionError(13, "Permission denied", "/data/locked")


@app.command("memory")
def memory() -> None:
    raise MemoryError


@app.command("number")
def number(k: int) -> None:
    sys.stdout.write(f"{k}\n")
