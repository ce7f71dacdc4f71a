"""Can a person judge by keyboard, leave, come back and take a grade back?"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.app.annotation import Desk
from assay.cli.annotate import Keyboard, Screen, decide, judge, look_again
from assay.cli.main import run
from assay.store.annotations import AnnotationStore
from tests.unit.store.test_annotations import ITEMS, QUERIES, a_round


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Desk]:
    store = AnnotationStore(tmp_path / "assay.db")
    store.create(a_round(), QUERIES, ITEMS)
    yield Desk(store, a_round())
    store.close()


def screen(keys: str, lines: str = "") -> tuple[Screen, list[str]]:
    pressed, typed = iter(keys), iter(lines.splitlines())
    shown: list[str] = []
    board = Keyboard(lambda: next(pressed, ""), lambda: next(typed, ""))
    return Screen(board, shown.append), shown


def test_ten_keys_grade_ten_passages(at: Desk) -> None:
    given, shown = screen("0123x01230")
    assert judge(at, "ann", given) == 0
    grades = [one.grade for one in at.grades("ann")]
    assert grades == [0, 1, 2, 3, None, 0, 1, 2, 3, 0]
    assert "10 of 10 judged; thank you" in shown[-1]
    assert sum(text.startswith("\n===") for text in shown) == len(QUERIES)


def test_leaving_and_coming_back_goes_on_where_it_stopped(at: Desk) -> None:
    judge(at, "ann", screen("12q")[0])
    first = {one.key for one in at.grades("ann")}
    again, shown = screen("")  # the input ends
    judge(at, "ann", again)
    assert "[3 of 10]" in shown[1]
    assert {one.key for one in at.grades("ann")} == first
    assert "8 to go" in shown[-1]


def test_undo_brings_the_passage_back(at: Desk) -> None:
    given, shown = screen("3u1q")
    judge(at, "ann", given)
    assert [one.grade for one in at.grades("ann")] == [1]
    assert "took back grade 3" in shown
    judge(at, "bob", screen("uq")[0])
    assert at.grades("bob") == ()


def test_later_help_and_comments(at: Desk) -> None:
    given, shown = screen("s?zc2q", "only for adults\n")
    judge(at, "ann", given)
    (only,) = at.grades("ann")
    assert (only.grade, only.comment) == (2, "only for adults")
    assert sum("answers the question fully" in text for text in shown) == 2
    judge(at, "ann", screen("111111111")[0])
    assert at.progress("ann").done == 10


def test_what_was_put_off_comes_last(at: Desk) -> None:
    put_off = at.next("ann")
    assert put_off is not None
    judge(at, "ann", screen("s1111111113")[0])
    assert [(one.key, one.grade) for one in at.grades("ann")][-1] == (
        (put_off.query_id, put_off.chunk_id),
        3,
    )


def test_the_third_person_sees_both_grades_and_decides(at: Desk) -> None:
    judge(at, "ann", screen("3" * 10)[0])
    for task in at.tasks("bob"):
        at.grade("bob", (task.query_id, task.chunk_id), 3 if task.number > 2 else 1, "hm")
    given, shown = screen("2q")
    assert decide(at, "carol", given) == 0
    assert any("grade 1 and grade 3" in text and "hm" in text for text in shown)
    assert [(one.grade, one.by) for one in at.decisions()] == [(2, "carol")]
    assert shown[-1] == "\n1 difference is open"


@pytest.mark.usefixtures("at")
def test_the_command_reads_lines_where_there_is_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("2\n\nX\nq\n"))
    home = ["--home", str(tmp_path)]
    assert run([*home, "annotate", "--as", "ann"]) == 0
    out = capsys.readouterr().out
    assert "grade 2, saved" in out
    assert "2 of 10 judged; 8 to go" in out
    assert run([*home, "annotate", "--as", "ann", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["progress"] == {"done": 2, "total": 10}
    assert found["task"]["number"] == 3
    assert run([*home, "annotate", "--as", "carol"]) == 2
    assert "ann and bob" in capsys.readouterr().err
    assert run([*home, "annotate", "--as", "ann", "--adjudicate"]) == 2
    assert "must not see" in capsys.readouterr().err


def test_what_an_automatic_judge_graded_otherwise_is_looked_at_again(at: Desk) -> None:
    judge(at, "ann", screen("3" * 10)[0])
    shown = at.propose("strict", lambda question, passages: [0] * len(passages), shown=True)
    again, said = screen("31q")
    look_again(shown, "ann", again, shown.to_review("ann"))
    assert any("you said grade 3; the judge differs" in text for text in said)
    assert "1 grade of 10 passages changed" in said[-1]
    assert sorted(str(one.grade) for one in at.grades("ann")) == ["1", *"3" * 9]


@pytest.mark.usefixtures("at")
def test_either_a_person_judges_or_an_automatic_judge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ["--home", str(tmp_path)]
    assert run([*home, "annotate"]) == 2
    assert "who judges?" in capsys.readouterr().err
    assert run([*home, "annotate", "--as", "ann", "--judge", "words"]) == 2
    assert run([*home, "annotate", "--judge", "words", "--json"]) == 0
    voices = json.loads(capsys.readouterr().out)["voices"]
    assert [(one["person"], one["judged_by_both"]) for one in voices] == [("ann", 0), ("bob", 0)]
    assert run([*home, "annotate", "--as", "ann", "--review"]) == 2
    assert "no automatic judge is shown" in capsys.readouterr().err
