"""Does output go where it should, in strict JSON and under the color setting?"""

from __future__ import annotations

import json

import pytest

from assay.cli import console

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    console._console.cache_clear()


def test_json_is_one_line(capsys: Captured) -> None:
    console.emit_json({"a": [1, None], "b": "é\n"})
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out) == {"a": [1, None], "b": "é\n"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_json_has_no_undefined_numbers(value: float, capsys: Captured) -> None:
    with pytest.raises(ValueError):
        console.emit_json({"a": value})
    assert capsys.readouterr().out == ""


def test_columns_are_aligned(capsys: Captured) -> None:
    console.emit_columns([("a", "1", "x"), ("long", "22", "")])
    assert capsys.readouterr().out == "a     1   x\nlong  22\n"


def test_no_rows_give_no_output(capsys: Captured) -> None:
    console.emit_columns([])
    assert capsys.readouterr().out == ""


def test_notes_go_to_stderr(capsys: Captured) -> None:
    console.note("look")
    assert capsys.readouterr() == ("", "look\n")


@pytest.mark.parametrize(
    ("color", "no_color", "colored"),
    [
        ("auto", None, False),
        ("always", None, True),
        ("always", "1", True),
        ("never", None, False),
    ],
)
def test_color(
    color: str,
    no_color: str | None,
    colored: bool,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pipe gets color only on demand; a demand outweighs NO_COLOR."""
    if no_color:
        monkeypatch.setenv("NO_COLOR", no_color)
    console.stdout_console(color).print("[red]hot[/red]")
    out = capsys.readouterr().out
    assert "hot" in out
    assert ("\x1b[" in out) is colored


def test_no_color_on_a_terminal(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    console.stdout_console("auto").print("[red]hot[/red]")
    assert "\x1b[31m" not in capsys.readouterr().out


def test_a_pipe_is_wide_enough_for_tables(capsys: Captured) -> None:
    console.stderr_console().print("x" * 100)
    assert capsys.readouterr().err == "x" * 100 + "\n"
