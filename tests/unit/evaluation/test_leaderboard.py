"""Are many runs scored as each of them is alone, from judgments that are read once?"""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.errors import FormatError, MissingFileError, UnknownMeasureError
from assay.hits import qrels as qrels_module

QRELS = "q1 0 a 2\nq1 0 b 1\nq2 0 c 1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "a.run").write_text("q1 Q0 a 1 3 t\nq2 Q0 c 1 1 t\n")
    (tmp_path / "b.run").write_text("q1 Q0 x 1 3 t\nq1 Q0 b 2 2 t\n")
    (tmp_path / "c.run").write_text("q1 Q0 a\n")
    return tmp_path


def test_each_run_scores_what_it_scores_alone(folder: Path) -> None:
    judgments = assay.load_qrels(folder / "qrels")
    board = assay.score_many(judgments, [str(folder / "[ab].run")], "MAP P@1", undefined="zero")
    assert list(board.scores) == ["a.run", "b.run"]
    assert [scores.name for scores in board] == ["a.run", "b.run"]
    for name in board.scores:
        alone = assay.score(folder / "qrels", folder / name, "MAP P@1", undefined="zero")
        assert board[name].to_dict(per_query=True) == alone.to_dict(per_query=True)
    assert len(board) == 2
    assert board.to_dict()["failed"] == []


def test_runs_of_any_form_by_name(folder: Path) -> None:
    runs = {"file": folder / "a.run", "dict": {"q1": {"a": 1.0}}, "list": {"q1": ["b", "a"]}}
    board = assay.score_many(folder / "qrels", runs, "P@1")
    assert {name: board[name]["P@1"] for name in runs} == {"file": 1.0, "dict": 0.5, "list": 0.5}


def test_what_fails_is_named(folder: Path) -> None:
    files = [folder / "a.run", folder / "c.run", folder / "d.run"]
    board = assay.score_many(folder / "qrels", files, "P@1")
    assert list(board.scores) == ["a.run"]
    assert {name: type(problem) for name, problem in board.failed.items()} == {
        "c.run": FormatError,
        "d.run": MissingFileError,
    }
    assert "c.run:1: 3 columns instead of 6" in str(board)
    with pytest.raises(FormatError):
        assay.score_many(folder / "qrels", files, "P@1", strict=True)


def test_what_is_wrong_for_every_run_is_an_error(folder: Path) -> None:
    with pytest.raises(UnknownMeasureError):
        assay.score_many(folder / "qrels", [folder / "a.run"], "nDGC@10")
    with pytest.raises(MissingFileError):
        assay.score_many(folder / "none", [folder / "a.run"])
    with pytest.raises(MissingFileError, match="no file matches"):
        assay.score_many(folder / "qrels", [str(folder / "*.none")])


def test_judgments_are_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    plain = qrels_module.qrels_from_text

    def counted(data: bytes, name: str) -> assay.Qrels | None:
        read.append(name)
        return plain(data, name)

    monkeypatch.setattr(qrels_module, "qrels_from_text", counted)
    assay.score_many(folder / "qrels", [folder / "a.run", folder / "b.run", folder / "a.run"])
    assert len(read) == 1
    held = assay.load_qrels(folder / "qrels")
    assert assay.load_qrels(held) is held
    for _ in range(3):
        assay.score(held, folder / "a.run")
    assert len(read) == 2
    assert repr(held) == "<Qrels of 2 queries, 3 judgments>"


def test_held_judgments_are_forgotten_with_them(folder: Path) -> None:
    import gc

    from assay.hits.blocks import _HELD

    held = assay.load_qrels(folder / "qrels")
    before = len(_HELD)
    assay.score(held, folder / "a.run")
    assert len(_HELD) == before + 1
    del held
    gc.collect()
    assert len(_HELD) <= before


def test_the_same_file_twice_is_counted(folder: Path) -> None:
    board = assay.score_many(folder / "qrels", [folder / "a.run", folder / "a.run"], "P@1")
    assert list(board.scores) == ["a.run", "a.run (2)"]


def test_progress_names_the_run(folder: Path) -> None:
    told: list[str] = []
    assay.score_many(
        folder / "qrels",
        [folder / "a.run", folder / "b.run"],
        progress=lambda name, _done, _all: told.append(name),
    )
    assert set(told) == {"a.run", "b.run"}
