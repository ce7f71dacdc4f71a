"""Do commands take the options of a search from one table, and does their help stay light?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.main

from assay.cli.lazy import load
from assay.cli.main import COMMANDS
from assay.cli.options import takes_search_options, takes_settings
from assay.errors import UsageError
from assay.search.request import (
    ANSWER_NAMES,
    SEARCH_NAMES,
    SEARCH_OPTIONS,
    SearchOptions,
    changed,
    read_changes,
)
from assay.settings import SETTINGS, configure

HEAVY = ("numpy", "lxml", "polars", "scipy", "sqlalchemy", "fastapi", "onnxruntime", "httpx2")
OLDER_FLAGS = (
    ("--fusion", "weighted", {"fusion_method": "weighted"}),
    ("--intent", "tabular", {"query_intent": "tabular"}),
    ("--interview", "i1", {"interview_id": ("i1",)}),
    ("--mode", "LIVE", {"ingestion_mode": ("LIVE",)}),
    ("--doc", "d1", {"doc_id": ("d1",)}),
    ("--tables", "", {"is_table": True}),
    ("--no-tables", "", {"is_table": False}),
    ("--one-weight", "", {"per_type_weights": False}),
)
OLDER_SETTINGS = (("fusion", "fusion_method", "weighted"),)


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


@pytest.mark.parametrize(("flag", "value", "expected"), OLDER_FLAGS, ids=str)
def test_an_older_flag_still_works(flag: str, value: str, expected: dict[str, Any]) -> None:
    assert read_changes(given(flag, *filter(None, [value]))) == expected


def test_the_table_has_every_older_name() -> None:
    flags = {flag for flag, _, _ in OLDER_FLAGS}
    aliases = {f"--{alias}" for one in SEARCH_OPTIONS.values() for alias in one.aliases}
    assert aliases <= flags
    settings = {(alias, row.name) for row in SETTINGS.values() for alias in row.aliases}
    assert settings == {(older, name) for older, name, _ in OLDER_SETTINGS}


def test_an_older_name_still_works_in_python() -> None:
    for name, one in SEARCH_OPTIONS.items():
        for alias in one.aliases:
            text = next(value for flag, value, _ in OLDER_FLAGS if flag == f"--{alias}") or "on"
            value = one.read(text)
            options = SearchOptions()
            assert changed(options, **{alias: value}) == changed(options, **{name: value})


@pytest.mark.parametrize(("older", "name", "value"), OLDER_SETTINGS)
def test_an_older_setting_still_works(older: str, name: str, value: str, tmp_path: Path) -> None:
    variable = {f"ASSAY_{older.upper()}": value}
    assert configure(environ=variable, folder=tmp_path).value(name) == value
    assert configure({older: value}, environ={}, folder=tmp_path).value(name) == value
    (tmp_path / "assay.yaml").write_text(f"{older}: {value}\n", encoding="utf-8")
    assert configure(environ={}, folder=tmp_path).value(name) == value


def test_names_may_be_mixed_where_an_option_may_be_repeated() -> None:
    assert given("--doc", "d1", "--doc-id", "d2") == {"doc_id": ["d2", "d1"]}
    with pytest.raises(UsageError, match="fusion_method: given twice"):
        given("--fusion", "rrf", "--fusion-method", "rrf")
    with pytest.raises(UsageError, match="per_type_weights: given twice"):
        given("--per-type-weights", "--one-weight")


@pytest.mark.parametrize(("verb", "names"), [("search", SEARCH_NAMES), ("answer", ANSWER_NAMES)])
def test_every_option_is_a_flag_under_every_name(verb: str, names: tuple[str, ...]) -> None:
    command = load(next(entry for entry in COMMANDS if entry.name == verb))
    flags = {
        flag: one.hidden
        for one in command.params
        for flag in (*one.opts, *one.secondary_opts)
        if one.param_type_name == "option"
    }
    for name in names:
        assert not flags[f"--{name.replace('_', '-')}"]
        assert all(flags[f"--{alias}"] for alias in SEARCH_OPTIONS[name].aliases)
    assert {"-k", "--one-weight", "--no-tables", "--no-is-table"} <= flags.keys()


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
