"""Do grades given while one searches arrive in a draft, and does each pane score by them?"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from assay.store.keys import KeyStore
from assay.testsets.load import read_test_set
from tests.unit.http.conftest import MakeService, client_of
from tests.unit.http.pages.conftest import FORM, PERSON
from tests.unit.http.small import TEST_SET

pytestmark = pytest.mark.slow
PART = {"hx-request": "true"}


def _grade(pages: TestClient, **fields: str) -> tuple[int, str]:
    body = urlencode({"address": f"/search?q={fields['q']}", **fields})
    answer = pages.post("/ui/grade", content=body, headers={**FORM, **PART})
    return answer.status_code, re.sub(r"<[^>]+>|\s+", " ", answer.text)


def test_a_question_is_saved_with_its_grades_and_the_file_keeps_its_comments(
    pages: TestClient, home: Path
) -> None:
    graded = {"grade:d1:chunk_0": "3", "grade:d2:chunk_0": "1", "grade:d3:chunk_0": ""}
    status, text = _grade(pages, set="mine", q="what eases a headache?", **graded)
    assert status == 200, text
    path = home / "testsets" / "mine.yaml"
    path.write_text("# written by hand\n" + path.read_text())
    _grade(pages, set="mine", q="lower cholesterol", **{"grade:d3:chunk_0": "2"})
    changed = {"grade:d1:chunk_0": "2", "grade:d2:chunk_0": "", "grade:d3:chunk_0": "0"}
    status, text = _grade(pages, set="mine", q="What eases  a headache?", **changed)
    assert "saved" in text
    assert path.read_text().startswith("# written by hand\n")
    first, second = read_test_set(path).sound().queries
    assert first.query_id == "what-eases-a-headache"
    assert {one.id: one.grade for one in first.relevant_docs} == {"d1:chunk_0": 2, "d3:chunk_0": 0}
    assert second.query_text == "lower cholesterol"


def test_every_pane_scores_by_the_grades(pages: TestClient) -> None:
    _grade(pages, set="mine", q="headache", **{"grade:d2:chunk_0": "3", "grade:d1:chunk_0": "0"})
    text = pages.get("/search?q=headache&two=on&b_k=1").text
    assert len(re.findall(r'id="standing-[AB]"', text)) == 2
    assert "2 of 2 judged" in text
    value = re.search(r"nDCG@10</span> <b>([0-9.]+)", text)
    assert value is not None
    assert 0 < float(value[1]) <= 1
    assert re.search(r'id="g-A-d2:chunk_0-3"[^>]* checked', text)


def test_a_question_that_nothing_answers_waits(pages: TestClient, home: Path) -> None:
    status, text = _grade(pages, set="mine", q="headache", **{"grade:d1:chunk_0": "0"})
    assert status == 200
    assert "not saved yet" in text
    assert not (home / "testsets" / "mine.yaml").exists()
    shown = pages.get("/search?q=headache&graded=headache&grade:d1:chunk_0=0").text
    assert re.search(r'id="g-A-d1:chunk_0-0"[^>]* checked', shown)
    other = pages.get("/search?q=headache&graded=fever&grade:d1:chunk_0=0").text
    assert not re.search(r'id="g-A-d1:chunk_0-0"[^>]* checked', other)


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        ({"set": "mine", "q": "x", "grade:d1:chunk_0": "9"}, 422, "not a grade"),
        ({"set": "../mine", "q": "x", "grade:d1:chunk_0": "1"}, 422, "not allowed"),
        ({"set": "mine", "q": "", "grade:d1:chunk_0": "1"}, 422, "query_text"),
        ({"set": "mine", "q": "x", "query_type": "rhyme", "grade:d1:chunk_0": "1"}, 400, "rhyme"),
        ({"set": "test_set_v1", "q": "x", "grade:d1:chunk_0": "1"}, 409, "ships with assay"),
    ],
)
def test_what_no_test_set_may_hold_is_refused(
    pages: TestClient, home: Path, fields: dict[str, str], status: int, said: str
) -> None:
    found, text = _grade(pages, **fields)
    assert found == status, text
    assert said in text
    assert not list(home.glob("**/mine.yaml"))


def test_a_set_that_ships_shows_its_grades_and_leads_to_a_draft(pages: TestClient) -> None:
    question = "drip antibiotic for a serious kidney infection"
    shown = pages.get(f"/search?q=headache&set=test_set_v1&q={question}").text
    assert "grades" not in re.findall(r'<fieldset class="(grades)"', shown)
    assert 'action="/ui/fork"' in shown


def test_results_lead_to_documents_and_to_the_next_page(pages: TestClient) -> None:
    text = pages.get("/search?q=headache&k=1").text
    link = r'<a href="/documents/d[12]\?chunk=d[12]%3Achunk_0&amp;q=headache#'
    assert re.search(rf'<h3 dir="auto">{link}', text)
    assert 'href="/search?q=headache&amp;k=1&amp;offset=1" rel="next"' in text
    second = pages.get("/search?q=headache&k=1&offset=1").text
    assert 'href="/search?q=headache&amp;k=1" rel="prev"' in second
    assert 'aria-label="rank 2"' in second


def test_a_very_long_list_is_titles(pages: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("hits", "search"):
        monkeypatch.setattr(f"assay.http.pages.{module}.MOST_EXPLAINED", 1)
    text = pages.get("/search?q=headache&k=100&rrf_k=7").text
    assert "More than 1 results are listed by title" in text
    assert 'href="/search?k=50&amp;q=headache&amp;rrf_k=7"' in text
    assert text.count('<span class="rank">') == 2
    assert "eases headache" not in text
    assert '<fieldset class="grades"' not in text


def test_a_held_out_question_shows_no_grades(pages: TestClient) -> None:
    held = {**TEST_SET, "held_out": {"seed": 1, "query_ids": ["q1"]}}
    pages.post("/v1/testsets", json=held)
    text = pages.get("/search?q=headache&set=small").text
    assert "holds this question out" in text
    assert "nDCG@10</span>" not in text
    assert '<fieldset class="grades"' not in text
    status, said = _grade(pages, set="small", q="headache", **{"grade:d1:chunk_0": "3"})
    assert status == 409
    assert "held out" in said


def test_readers_see_grades_and_give_none(
    pages: TestClient, make_service: MakeService, home: Path
) -> None:
    _grade(pages, set="mine", q="headache", **{"grade:d1:chunk_0": "3"})
    store = KeyStore(home / "assay.db")
    key = store.create("reader", ["read"])[1]
    store.close()
    with client_of(make_service(home=home), headers=PERSON) as client:
        reader = {"authorization": f"Bearer {key}"}
        shown = client.get("/search?q=headache", headers=reader).text
        assert "grade 3 of 3" in shown
        assert '<fieldset class="grades"' not in shown
        body = urlencode({"set": "mine", "q": "headache", "grade:d1:chunk_0": "0", "name": "x"})
        for path in ("/ui/grade", "/ui/fork"):
            assert client.post(path, content=body, headers={**FORM, **reader}).status_code == 403
            assert client.post(path, content=body, headers=FORM).status_code == 401
        grades = {"query_text": "headache", "grades": {"d1:chunk_0": 0}}
        put = client.put("/v1/testsets/mine/grades", json=grades, headers=reader)
        fork = client.post("/v1/testsets/mine/fork", json={"name": "x"}, headers=reader)
        judged = client.get("/v1/answer?q=headache&judged=true", headers=reader)
        assert {put.status_code, fork.status_code, judged.status_code} == {403}
        for path in ("/documents", "/documents/d1", "/documents/d1/uses", "/answer?q=headache"):
            assert client.get(path, headers=reader).status_code == 200
            assert client.get(path).status_code == 401


def test_a_page_that_is_out_of_date_takes_no_grade_back(pages: TestClient) -> None:
    def send(**grades: str) -> None:
        fields = {"q": "fever", "set": "tabs", "address": "/search?q=fever"}
        fields |= {name.replace("_d", ":d") + ":chunk_0": value for name, value in grades.items()}
        assert pages.post("/ui/grade", content=urlencode(fields), headers=FORM).is_success

    send(grade_d1="3", was_d1="", grade_d2="", was_d2="")
    send(grade_d1="", was_d1="", grade_d2="1", was_d2="")  # it was made before the first grade
    kept = pages.get("/v1/testsets/tabs").json()["queries"][0]["relevant_docs"]
    assert {one["id"]: one["grade"] for one in kept} == {"d1:chunk_0": 3, "d2:chunk_0": 1}
    send(grade_d1="", was_d1="3", grade_d2="1", was_d2="1")
    kept = pages.get("/v1/testsets/tabs").json()["queries"][0]["relevant_docs"]
    assert [one["id"] for one in kept] == ["d2:chunk_0"]
