"""Do grades of another scale become grades from 0 to 3, however the judgments come?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import assay
from assay.app.layout import Layout
from assay.app.testsets import import_file, upload
from assay.cli.main import run
from assay.errors import UsageError
from assay.model.testset import TestSet
from assay.testsets.grades import read_scale
from assay.testsets.load import ReadOptions, read_test_set

RATED = "query,docid,rating\nitch,a,10\nitch,b,4\nitch,c,1\nitch,d,0\n"
MAPPED = {"a": 3, "b": 2, "c": 1, "d": 0}


def grades(test_set: TestSet) -> dict[str, int]:
    return {one.doc_id: one.grade for one in test_set.queries[0].relevant_docs}


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    path = tmp_path / "rated.csv"
    path.write_text(RATED)
    return path


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("10", [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3]),
        ("4", [0, 1, 2, 3, 3]),
        ("3", [0, 1, 2, 3]),
        ("1", [0, 3]),
        ("0-1=0, 2-4=1, 5=3", [0, 0, 1, 1, 1, 3]),
    ],
)
def test_a_scale_by_its_highest_grade_or_grade_by_grade(text: str, wanted: list[int]) -> None:
    known = read_scale(text).known
    assert [known[grade] for grade in range(len(wanted))] == wanted
    assert len(known) == len(wanted)


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "x", "1=4", "0-2=0,2=1", "5-1=2", "99999", "1=", "²"]
)
def test_what_is_no_scale_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--grades 10"):
        read_scale(text)


def test_without_a_scale_the_way_out_is_named(rated: Path) -> None:
    with pytest.raises(assay.AssayError, match=r"the grade of a is 10 .*--grades 10"):
        assay.load_test_set(rated)


def test_every_way_in_takes_the_scale(rated: Path, tmp_path: Path) -> None:
    assert grades(assay.load_test_set(rated, grades="10")) == MAPPED
    written, reading = import_file(Layout(tmp_path / "home"), rated, grades="10")
    assert grades(assay.load_test_set(written)) == grades(reading.sound()) == MAPPED
    assert assay.load_test_set(written).provenance["grades"] == "10"
    stored = Layout(tmp_path / "other")
    upload(stored, RATED.encode(), name="rated", grades="10")
    assert grades(assay.load_test_set(stored.test_set("rated"))) == MAPPED


def test_judgments_of_trec(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "topics.tsv").write_text("q1\titch\n")
    (tmp_path / "qrels.txt").write_text("q1 0 a 4\nq1 0 b 1\nq1 0 c -1\n")
    command = ["testset", "import", str(tmp_path / "topics.tsv"), "--json"]
    command += ["--qrels", str(tmp_path / "qrels.txt"), "-o", str(tmp_path / "out.yaml")]
    assert run(command) == 2
    assert "--grades 10" in capsys.readouterr().err
    assert run([*command, "--grades", "4"]) == 0
    assert json.loads(capsys.readouterr().out)["written"] == str(tmp_path / "out.yaml")
    assert grades(assay.load_test_set(tmp_path / "out.yaml")) == {"a": 3, "b": 1}


def test_a_grade_outside_of_the_scale_and_a_set_of_ours_are_refused(
    rated: Path, tmp_path: Path
) -> None:
    reading = read_test_set(rated, ReadOptions(grades="0-4=1"))
    assert "the scale 0-4=1 does not have it" in str(reading.problems[0])
    ours = tmp_path / "ours.yaml"
    ours.write_text(
        "name: o\nversion: v1\nqueries:\n"
        "  - {query_id: q, query_text: itch, relevant_docs: [{doc_id: a, grade: 3}]}\n"
    )
    assert "for judgments of others" in str(read_test_set(ours, ReadOptions(grades="10")).problems)
