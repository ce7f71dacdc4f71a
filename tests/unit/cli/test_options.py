"""Do commands take the options of a search from one table, and does their help stay light?"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import typer
import typer.main

from assay.cli.lazy import load
from assay.cli.main import COMMANDS
from assay.cli.options import takes_search_options, takes_settings
from assay.search.request import (
    ANSWER_NAMES,
    SEARCH_NAMES,
)

HEAVY = ("numpy", "lxml", "polars", "scipy", "sqlalchemy", "fastapi", "onnxruntime", "httpx2")


def given(*arguments: str) -> dict[str, Any]:
    """What a command that takes every option of a search gets from a command line."""

    @takes_search_options(SEARCH_NAMES, "given")
    def command(*, given: dict[str, Any]) -> Any:
        return given

    app = typer.Typer(add_completion=False)
    app.command()(command)
    values = typer.main.get_command(app).main(list(arguments), standalone_mode=False)
    assert isinstance(values, dict)
    return values


@pytest.mark.parametrize(("verb", "names"), [("search", SEARCH_NAMES), ("answer", ANSWER_NAMES)])
def test_every_option_is_a_flag_under_its_one_name(verb: str, names: tuple[str, ...]) -> None:
    command = load(next(entry for entry in COMMANDS if entry.name == verb))
    flags = {
        flag: one.hidden
        for one in command.params
        for flag in (*one.opts, *one.secondary_opts)
        if one.param_type_name == "option"
    }
    for name in names:
        assert not flags[f"--{name.replace('_', '-')}"]
    assert {"-k", "--no-is-table"} <= flags.keys()
    assert not {"--fusion", "--intent", "--doc", "--tables"} & flags.keys()


def test_settings_are_flags_with_their_own_help() -> None:
    @takes_settings(("confidence", "ci_method"), "drawn")
    def command(*, drawn: dict[str, Any]) -> Any:
        return drawn

    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(command)
    built = typer.main.get_command(app)
    assert built.main(["--confidence", "0.9"], standalone_mode=False) == {"confidence": "0.9"}
    shown = built.get_help(typer.Context(built))
    assert "--ci-method <bca|percentile>" in shown
    assert "Confidence level of every interval." in shown


@pytest.mark.parametrize("arguments", [["--help"], ["search", "--help"], ["config", "show"]])
def test_nothing_heavy_is_imported_for_help(arguments: list[str]) -> None:
    code = (
        "import sys; from assay.cli.main import run; "
        f"run({arguments!r}); "
        f"print('heavy:', sorted(set(sys.modules) & set({HEAVY!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "heavy: []"
