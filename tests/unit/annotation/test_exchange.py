"""Does work come back from spreadsheets and Label Studio as it went out?"""

from __future__ import annotations

import json

import pytest

from assay.annotation.exchange import read_grades
from assay.annotation.tasks import task
from assay.errors import AssayError
from assay.model.annotation import Grade, Task
from assay.render.annotation import LABEL_STUDIO_VIEW, tasks_csv, tasks_label_studio
from tests.unit.store.test_annotations import ITEMS, QUERIES, a_round

TASKS: list[Task] = [task(a_round(), item, QUERIES[0].query_text, 1, 10) for item in ITEMS[:4]]
SAID = {
    ITEMS[0].key: Grade(*ITEMS[0].key, "ann", 3, "=HYPERLINK(1), wow", "t"),
    ITEMS[1].key: Grade(*ITEMS[1].key, "ann", None, "-", "t"),
    ITEMS[2].key: Grade(*ITEMS[2].key, "ann", 0, 'two\nlines, "quoted"', "t"),
}


@pytest.mark.parametrize("write", [tasks_csv, tasks_label_studio])
def test_what_goes_out_comes_back(write) -> None:  # type: ignore[no-untyped-def]
    text = write(TASKS, SAID)
    found = {(one.query_id, one.chunk_id): one for one in read_grades(text.encode(), "file")}
    assert {key: (one.grade, one.comment) for key, one in found.items()} == {
        key: (one.grade, one.comment) for key, one in SAID.items()
    }


def test_cells_are_no_formulas_and_nothing_sways_the_reader() -> None:
    text = tasks_csv(TASKS, SAID)
    assert "'=HYPERLINK(1)" in text
    assert ",=HYPERLINK" not in text
    for written in (text, tasks_label_studio(TASKS, SAID)):
        assert "bm25" not in written
    assert json.loads(tasks_label_studio(TASKS, {}))[0]["data"]["query"] == QUERIES[0].query_text
    assert 'name="grade"' in LABEL_STUDIO_VIEW


def exported(*results: object, **more: object) -> bytes:
    data = {"query_id": "q51", "chunk_id": "d1:chunk_0"}
    return json.dumps([{"data": data, "annotations": [{"result": list(results), **more}]}]).encode()


CHOICE = {"from_name": "grade", "type": "choices", "value": {"choices": ["2"]}}


def test_label_studio_ratings_and_cancelled_work() -> None:
    (one,) = read_grades(exported({"from_name": "grade", "value": {"rating": 3}}), "x.json")
    assert one.grade == 3
    assert read_grades(exported(CHOICE, was_cancelled=True), "x.json") == ()
    assert read_grades(exported(), "x.json") == ()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"query_id,chunk_id\nq,c\n", "no column grade"),
        (b"query_id,chunk_id,grade\nq,c,4\nq,d,yes\n", "has 2 problems"),
        (b"query_id,chunk_id,grade\nq,c,1\nq,c,2\n", "graded twice"),
        (b"query_id,chunk_id,grade\n,c,1\n", "is missing"),
        (b"query_id,chunk_id,grade\nq,c,\xff\n", "not UTF-8"),
        (b"[1]", "task 1 has no data"),
        (b'[{"data": {}, "annotations": [{}, {}]}]', "2 annotations"),
        (b"[", "x"),
        (exported({"from_name": "grade", "value": {"choices": ["7"]}}), "not a grade"),
    ],
)
def test_bad_files_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(AssayError, match=said):
        read_grades(data, "x")
