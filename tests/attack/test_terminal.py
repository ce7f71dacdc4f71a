"""Can a document, a run or a manifest steer the terminal of whoever looks at it?"""

from __future__ import annotations

import io
import json

import pytest

from assay.cli import console
from assay.cli.tables import show_tables
from assay.render.escape import visible
from assay.render.tables import Table

HOSTILE = (
    "\x1b]0;owned\x07", "\x1b[2J", "\x9b31m", "\x07", "\x08", "\r", "\x7f", "\u2028", "\u2029",
    "\u202e", "\u202a", "\u2066", "\u2069", "\u200f", "\u061c", "\ufeff", "\U000e0041",
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_every_way_out_escapes(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    console._console.cache_clear()
    console.emit_text(f"a{text}b")
    console.note(f"a{text}b")
    console.emit_columns([(f"a{text}b", "c")])
    console.emit_json({"a": f"a{text}b"})
    table = Table((f"a{text}b", "two"), ((f"a{text}b", f"{text}"),), f"t{text}", notes=(text,))
    show_tables([table], "never")
    said = capsys.readouterr()
    console._console.cache_clear()
    for one in set(text) - set("]0;owned[2J31m"):
        assert one not in said.out
        assert one not in said.err


def test_json_reads_back_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    value = "".join(HOSTILE)
    console.emit_json({"a": value})
    assert json.loads(capsys.readouterr().out) == {"a": value}


def test_words_of_other_scripts_are_left_as_they_are() -> None:
    text = "Ünïcödé, 日本語, עברית, हिन्दी\u200d, 👩\u200d⚕️\n\ttab"
    assert visible(text) == text


def test_colours_of_our_own_survive(monkeypatch: pytest.MonkeyPatch) -> None:
    console._console.cache_clear()
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    from rich.text import Text

    console.stdout_console("always").print(Text("a\x1b[2Jb", style="bold red"))
    console._console.cache_clear()
    assert "\\x1b[2J" in out.getvalue()
    assert out.getvalue().count("\x1b[") == 2
