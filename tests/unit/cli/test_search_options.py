"""Do commands take the options of a search from one table, and does their help stay light?"""

from __future__ import annotations

import subprocess
import sys

import pytest

from assay.cli.lazy import Entry, load
from assay.cli.main import COMMANDS
from assay.search.request import ANSWER_NAMES, SEARCH_NAMES, SEARCH_OPTIONS

HEAVY = ("numpy", "lxml", "polars", "scipy", "sqlalchemy", "fastapi", "onnxruntime", "httpx2")


def _entry(verb: str) -> Entry:
    return next(entry for entry in COMMANDS if entry.name == verb)


@pytest.mark.parametrize(("verb", "names"), [("search", SEARCH_NAMES), ("answer", ANSWER_NAMES)])
def test_every_option_is_a_flag_under_every_name(verb: str, names: tuple[str, ...]) -> None:
    command = load(_entry(verb))
    flags = {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)}
    for name in names:
        for word in (name, *SEARCH_OPTIONS[name].aliases):
            assert f"--{word.replace('_', '-')}" in flags
    assert {"-k", "--one-weight", "--no-tables", "--no-is-table"} <= flags


def test_help_says_what_a_flag_takes_and_what_it_is_without() -> None:
    params = {one.name: one for one in load(_entry("search")).params}
    assert params["k"].metavar == "<int>"
    assert params["k"].help.endswith("[default: 10]")
    assert params["normalization"].metavar == "<min-max|z-score|dbsf>"
    assert "default" not in params["depth"].help, "a setting decides that one"


@pytest.mark.parametrize("arguments", [["--help"], ["search", "--help"], ["config", "show"]])
def test_nothing_heavy_is_imported_for_help(arguments: list[str]) -> None:
    code = (
        "import sys; from assay.cli.main import run; "
        f"run({arguments!r}); "
        f"print('heavy:', sorted(set(sys.modules) & set({HEAVY!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "heavy: []"
