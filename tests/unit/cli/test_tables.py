"""Is a table readable however narrow the terminal is?"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from assay.cli import console
from assay.cli.main import run
from assay.cli.tables import fitted, show_tables
from assay.render.tables import Table

Captured = pytest.CaptureFixture[str]
Shown = Callable[[Table, int | None], tuple[str, str]]

CONTRASTS = Table(
    ("measure", "a", "b", "b − a", "95% CI", "verdict"),
    (
        ("nDCG@10", "0.4770", "0.7331", "+0.2561", "[+0.1889, +0.3201]", "better"),
        ("MRR", "0.8333", "0.8662", "+0.0329", "[-0.0601, +0.1201]", "inconclusive"),
    ),
    title="All queries",
    text_columns=frozenset({0, 5}),
    optional=(4,),
    below=(5,),
)
GROUPS = Table(
    ("group", *(f"Recall@{k}" for k in range(10, 18))),
    (("complex_clinical", *(f"0.{k}234" for k in range(8))),),
)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Shown:
    def shown(table: Table, columns: int | None) -> tuple[str, str]:
        monkeypatch.delenv("COLUMNS", raising=False)
        if columns is not None:
            monkeypatch.setenv("COLUMNS", str(columns))
        console._console.cache_clear()
        show_tables([table], "never")
        captured = capsys.readouterr()
        return captured.out, captured.err

    return shown


def _longest(text: str) -> int:
    return max(map(len, text.splitlines()))


@pytest.mark.parametrize("room", range(16, 120))
def test_no_block_is_wider_than_the_terminal(room: int) -> None:
    for block in fitted(CONTRASTS, room).blocks:
        assert block.width <= room or len(block.columns) <= 2


@pytest.mark.parametrize("columns", [40, 50, 60, 80, 100, None])
@pytest.mark.parametrize("table", [CONTRASTS, GROUPS])
def test_nothing_is_cut(shown: Shown, table: Table, columns: int | None) -> None:
    out, err = shown(table, columns)
    assert "…" not in out
    assert columns is None or _longest(out) <= columns
    for at, name in enumerate(table.columns):
        if at in table.optional and f"no room for {name}" in err:
            continue
        assert all(row[at] in out for row in table.rows)


def test_what_can_be_done_without_goes_first_and_is_named(shown: Shown) -> None:
    out, err = shown(CONTRASTS, 60)
    assert "95% CI" not in out
    assert "verdict" in out
    assert "no room for 95% CI" in err


def test_the_ruling_goes_below_where_it_has_no_room(shown: Shown) -> None:
    out, _ = shown(CONTRASTS, 40)
    assert "verdict" not in out
    assert "  nDCG@10: better\n  MRR: inconclusive\n" in out


def test_measures_that_have_no_room_stand_in_further_tables(shown: Shown) -> None:
    out, err = shown(GROUPS, 60)
    assert out.count("complex_clinical") == 3
    assert not err


def test_a_pipe_has_room_without_end(shown: Shown) -> None:
    wide = Table(("measure", "why"), (("MRR", "word " * 60),), wrapped=frozenset({1}))
    out, _ = shown(wide, None)
    assert "word " * 60 in out


def test_running_text_is_broken_over_lines(shown: Shown) -> None:
    wide = Table(("measure", "why"), (("MRR", "word " * 60),), wrapped=frozenset({1}))
    out, _ = shown(wide, 40)
    assert out.count("word") == 60
    assert _longest(out) <= 40


@pytest.mark.parametrize("columns", ["60", "80"])
def test_score_shows_its_verdict_at_80_columns(
    columns: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["demo", "--paths"]) == 0
    qrels, *runs = capsys.readouterr().out.split()
    monkeypatch.setenv("COLUMNS", columns)
    console._console.cache_clear()
    files = [part for path in runs for part in ("--run", path)]
    assert run(["score", "--qrels", qrels, *files, "-m", "nDCG@10 RR@10"]) == 0
    out = capsys.readouterr().out
    console._console.cache_clear()
    assert re.search(r"nDCG@10 +0\.4859 +0\.5572 +\+0\.0713", out)
    beside = {"80": r"nDCG@10 .*\+0\.0713 .*yes +better", "60": r"nDCG@10: .* yes, .* better"}
    assert re.search(beside[columns], out)
    assert "…" not in out
