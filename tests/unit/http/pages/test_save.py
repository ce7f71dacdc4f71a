"""Does what the playground saves arrive where the command line finds it?"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from assay.app.configurations import read_configuration
from assay.testsets.load import read_test_set
from tests.unit.http.pages.conftest import FORM

pytestmark = pytest.mark.slow


def _save(pages: TestClient, **fields: str) -> tuple[int, str]:
    answer = pages.post("/ui/save-query", content=urlencode(fields), headers=FORM)
    return answer.status_code, answer.text


def test_a_question_is_saved_with_its_grades_and_the_file_keeps_its_comments(
    pages: TestClient, home: Path
) -> None:
    graded = {"grade:d1:chunk_0": "3", "grade:d2:chunk_0": "1", "grade:d3:chunk_0": ""}
    status, text = _save(pages, set="mine", q="what eases a headache?", **graded)
    assert status == 200, text
    path = home / "testsets" / "mine.yaml"
    path.write_text("# written by hand\n" + path.read_text())
    status, text = _save(
        pages, set="mine", q="lower cholesterol", query_type="exact_term", query_id="q2",
        **{"grade:d3:chunk_0": "2", "grade:d1:chunk_0": "0"},
    )  # fmt: skip
    assert status == 200, text
    assert path.read_text().startswith("# written by hand\n")
    found = read_test_set(path).sound()
    assert [query.query_id for query in found.queries] == ["what-eases-a-headache", "q2"]
    first, second = found.queries
    assert {one.id: one.grade for one in first.relevant_docs} == {
        "d1:chunk_0": 3, "d2:chunk_0": 1,
    }  # fmt: skip
    assert {one.id: one.grade for one in second.relevant_docs} == {
        "d3:chunk_0": 2, "d1:chunk_0": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        ({"set": "mine", "q": "x"}, 422, "graded above 0"),
        ({"set": "mine", "q": "x", "grade:d1:chunk_0": "9"}, 422, "not a grade"),
        ({"set": "../mine", "q": "x", "grade:d1:chunk_0": "1"}, 422, "not allowed"),
        ({"set": "mine", "q": "", "grade:d1:chunk_0": "1"}, 422, "query_text"),
        ({"set": "mine", "q": "x", "query_type": "rhyme", "grade:d1:chunk_0": "1"}, 400, "rhyme"),
    ],
)
def test_what_no_test_set_may_hold_is_refused(
    pages: TestClient, home: Path, fields: dict[str, str], status: int, said: str
) -> None:
    found, text = _save(pages, **fields)
    assert found == status, text
    assert said in text
    assert not list(home.glob("**/mine.yaml"))


def test_the_same_question_is_saved_once(pages: TestClient) -> None:
    fields = {"set": "mine", "q": "headache", "grade:d1:chunk_0": "1"}
    assert _save(pages, **fields)[0] == 200
    assert _save(pages, **fields)[0] == 409


def test_a_configuration_becomes_a_side_of_an_ab_test(pages: TestClient, home: Path) -> None:
    address = "/search?q=x&fusion_method=weighted&weighting=own&w_bm25=0.7&rerank=off&boosts=off"
    body = urlencode({"address": address, "name": "words"})
    answer = pages.post("/ui/save-configuration", content=body, headers=FORM)
    assert answer.status_code == 200, answer.text
    assert read_configuration(str(home / "configs" / "words.yaml")) == {
        "depth": 100,
        "components": ("bm25",),
        "fusion_method": "weighted",
        "rrf_k": 60,
        "weights": {"bm25": 0.7},
        "per_type_weights": False,
        "type_weights": {},
        "normalization": "min-max",
        "boosts": False,
        "group_by": "chunk",
        "collapse": False,
        "rerank": False,
        "reranker": "assay-bio-rerank",
    }
    assert pages.post("/ui/save-configuration", content=body, headers=FORM).status_code == 200
    other = urlencode({"address": "/search?rrf_k=5", "name": "words"})
    assert pages.post("/ui/save-configuration", content=other, headers=FORM).status_code == 409
    assert "weights: bm25=0.7" in pages.get("/search/configuration/words").text
    assert pages.get("/search/configuration/nothing").status_code == 404
    assert '<a href="/search/configuration/words">words</a>' in pages.get("/search?q=x").text
