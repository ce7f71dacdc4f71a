"""Does every page answer, teach when there is nothing, and say what is wrong to a person?"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from assay.app.run_exchange import push, unpack
from assay.model.runs import RunStatus
from tests.unit.http.conftest import MakeService, assert_problem, client_of
from tests.unit.http.pages.conftest import FORM, PERSON
from tests.unit.http.small import TEST_SET

PAGES = (
    "/search",
    "/search?q=headache",
    "/search?q=headache&two=on&b_fusion_method=weighted&b_weighting=own&b_w_bm25=0.9",
    "/answer?q=what+eases+a+headache",
    "/answer?q=what+eases+a+headache&judged=on",
    "/answer?q=weather+in+paris",
    "/documents",
    "/documents?text=insulin",
    "/documents/d1?q=headache",
    "/documents/d1/uses",
    "/search/why?q=headache&document=d4",
    "/runs",
    "/runs?suite=small&status=complete&threshold=0.5&measure=mrr",
    "/compare",
    "/compare?a=run_a&b=run_b",
    "/compare?a=run_a&b=run_b&kind=Draw&type=paraphrase&text=drug&sort=best",
    "/compare/query?a=run_a&b=run_b&query=q1",
    "/ab",
    "/ab?a=run_a&b=run_b",
    "/gate",
    "/gate?baseline=baseline&current=run_a",
    "/gate?baseline=run_a&current=run_b&limits=nDCG@10%3D0.02&mode=non-inferiority",
    "/testsets",
    "/testsets/test_set_v1",
    "/testsets/test_set_v1?type=paraphrase&text=heart&page=2&reveal=on",
    "/testsets/test_set_v1/diff/test_set_v1_extras",
    "/sign-in",
)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_html_without_inline_script_or_style(reading: TestClient, path: str) -> None:
    response = reading.get(path)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/html")
    assert "'unsafe-inline'" not in response.headers["content-security-policy"]
    assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son[a-z]+=", response.text)
    assert not re.search(r'(src|href)="(https?:)?//', response.text)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/search", "/runs", "/compare", "/ab", "/gate"])
def test_an_empty_workspace_teaches_the_next_command(make_service: MakeService, path: str) -> None:
    with client_of(make_service(), headers=PERSON) as client:
        text = client.get(path).text
    assert re.search(r"<code>assay (ingest|eval run|testset)", text), text


def test_the_first_page_is_search(reading: TestClient) -> None:
    assert reading.get("/", follow_redirects=False).headers["location"] == "/search"


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/nothing", 404, "There is nothing at this address"),
        ("/compare?a=run_a&b=nothing-like-it", 404, "no run"),
        ("/search?q=x&k=0", 400, "whole number"),
        pytest.param("/search?q=x&k=00000000" + "1" * 5_000, 400, "whole number", id="many digits"),
        ("/search?q=x&rrf_k=many", 400, "whole number"),
        ("/search?q=x&c=bm25&c=telepathy", 400, "telepathy"),
        ("/search?q=x&weighting=own&w_bm25=-1", 400, "bm25=-1"),
        ("/search?q=x&weighting=magic", 400, "magic"),
        ("/search?q=x&fusion_method=RFF", 400, "rrf or weighted"),
        ("/search?q=x&speaker=NOBODY", 400, "PATIENT, CLINICIAN or UNKNOWN"),
        ("/search?q=x&reranker=/etc", 400, "not a model of this service"),
        ("/search?q=x&rerank=on&reranker=..", 400, "not a model of this service"),
        ("/search?q=x&rerank=on&reranker=.", 400, "not a model of this service"),
        ("/testsets/nothing", 404, "no test set"),
        ("/compare?a=run_a&b=run_b&kind=Triumph", 400, "Triumph"),
        ("/gate?baseline=run_a&current=run_b&limits=much", 400, "is not a limit"),
    ],
)
def test_people_get_a_page_and_programs_get_a_problem(
    reading: TestClient, path: str, status: int, said: str
) -> None:
    shown = reading.get(path)
    assert shown.status_code == status
    assert shown.headers["content-type"].startswith("text/html")
    assert said in shown.text
    assert shown.headers["x-request-id"] in shown.text
    assert_problem(reading.get(path, headers={"accept": "application/json"}), status)


def test_the_interface_for_programs_never_answers_in_html(reading: TestClient) -> None:
    assert_problem(reading.get("/v1/runs/nothing-like-it"), 404)


def test_a_part_of_a_page_is_only_that_part(reading: TestClient) -> None:
    whole = reading.get("/search?q=headache").text
    response = reading.get(
        "/search?q=headache&c=bm25&fusion_method=rrf", headers={"hx-request": "true"}
    )
    assert "<html" not in response.text
    assert "Aspirin" in whole
    assert "Aspirin" in response.text
    assert response.headers["hx-push-url"] == "/search?q=headache"  # what is usual is left out
    refused = reading.get("/search?q=headache&k=0", headers={"hx-request": "true"})
    assert refused.status_code == 400
    assert "<html" not in refused.text


def test_only_another_question_is_a_page_to_go_back_to(reading: TestClient) -> None:
    def told(path: str, shown: str) -> set[str]:
        there = {"hx-request": "true", "hx-current-url": f"http://localhost{shown}"}
        names = reading.get(path, headers=there).headers.keys()
        return {"hx-push-url", "hx-replace-url"} & set(names)

    assert told("/search?q=headache&rrf_k=7", "/search?q=headache") == {"hx-replace-url"}
    assert told("/search?q=insulin&rrf_k=7", "/search?q=headache&rrf_k=7") == {"hx-push-url"}
    assert told("/search?q=headache", "/search") == {"hx-push-url"}


@pytest.mark.slow
@pytest.mark.req("R15")
def test_commands_to_copy_ask_for_the_same(reading: TestClient) -> None:
    text = reading.get("/search?q=don't+panic&rrf_k=5&boosts=off&k=5&doc_id=d1&is_table=off").text
    assert "-k 5 --rrf-k 5 --no-boosts --doc-id d1 --no-is-table --explain" in text
    wanted = "k=5&amp;rrf_k=5&amp;boosts=false&amp;doc_id=d1&amp;is_table=false"
    assert f"/v1/search?q=don%27t+panic&amp;{wanted}" in text


def test_what_the_form_sends_becomes_a_shorter_address(reading: TestClient) -> None:
    sent = (
        "/search?q=headache&c=bm25&fusion_method=weighted&weighting=own&w_bm25=0.7"
        "&query_intent=tabular&is_table=on&speaker=PATIENT&k=5"
        "&two=on&b_boosts=off&b_weighting=type&b_query_type=paraphrase"
    )
    part = {"hx-request": "true"}
    place = reading.get(sent, headers=part).headers["hx-push-url"]
    assert place == (
        "/search?q=headache&k=5&speaker=PATIENT&is_table=on&two=on"
        "&fusion_method=weighted&weights=bm25%3D0.7&query_intent=tabular"
        "&b_per_type_weights=on&b_boosts=off&b_query_type=paraphrase"
    )
    assert reading.get(place, headers=part).headers["hx-push-url"] == place
    form = reading.get(place).text
    assert '<option value="weighted" selected>' in form
    assert 'name="w_bm25" min="0" max="1" step="0.05" value="0.7"' in form
    assert '<option value="own" selected>' in form
    assert '<option value="on" selected>' in form


def test_what_the_form_has_no_control_for_is_passed_on(reading: TestClient) -> None:
    text = reading.get("/search?q=headache&depth=7&doc_id=d1&two=on&b_depth=9").text
    for name, value in (("depth", "7"), ("doc_id", "d1"), ("b_depth", "9")):
        assert text.count(f'<input type="hidden" name="{name}" value="{value}">') == 1


def test_synonyms_are_highlighted_on_the_page(make_service: MakeService, home: Path) -> None:
    words = home / "words.txt"
    words.write_text("cephalgia, headache\n", encoding="utf-8")
    with client_of(make_service(home=home, synonyms=words), headers=PERSON) as client:
        text = client.get("/search?q=cephalgia").text
    assert "also looked for: headache" in text
    assert "<mark>headache</mark>" in text


def test_a_tag_is_pinned_from_the_list(pages: TestClient) -> None:
    answer = pages.post(
        "/ui/tag", content="run=run_a&tag=baseline", headers=FORM, follow_redirects=False
    )
    assert answer.status_code == 303
    assert pages.get("/v1/runs/baseline").json()["run_id"] == "run_a"


@pytest.mark.parametrize("origin", [None, "null", "http://elsewhere.example"])
def test_forms_of_other_sites_are_refused(pages: TestClient, origin: str | None) -> None:
    headers = {key: value for key, value in FORM.items() if key != "origin"}
    headers |= {"origin": origin} if origin else {}
    answer = pages.post("/ui/tag", content="run=run_a&tag=stolen", headers=headers)
    assert answer.status_code == 403


def test_comparisons_are_exported(reading: TestClient) -> None:
    for form, kind in (("csv", "text/csv"), ("json", "application/json"), ("html", "text/html")):
        answer = reading.get(f"/compare/export?a=run_a&b=run_b&form={form}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
        assert f".{form}" in answer.headers["content-disposition"]
    assert reading.get("/compare/export?a=run_a&b=run_b&form=exe").status_code == 400


def test_the_reference_is_a_page_like_the_others(reading: TestClient) -> None:
    text = reading.get("/docs").text
    assert "<code>application/problem+json</code>" in text
    assert "`" not in text.split("<form")[0]
    assert '<a href="/runs"' in text


@pytest.mark.slow
def test_two_ticked_runs_are_compared_without_a_script(reading: TestClient) -> None:
    told = reading.get("/compare?run=run_b&run=run_a", follow_redirects=False)
    assert (told.status_code, told.headers["location"]) == (303, "/compare?a=run_a&b=run_b")
    refused = reading.get("/compare?run=run_b")
    assert refused.status_code == 400
    assert "tick two" in refused.text
    assert "disabled" not in reading.get("/runs").text


def _chosen_run(pages: TestClient, path: str, field: str) -> str:
    """The run that a page suggests."""
    choice = pages.get(path).text.partition(f'<select name="{field}" required>')[2]
    found = re.search(r'<option value="([^"]*)" selected>', choice.partition("</select>")[0])
    return found[1] if found else ""


def test_the_gate_suggests_runs_that_exist(pages: TestClient) -> None:
    assert '/gate?current=run_a"' in pages.get("/runs/run_a").text
    assert _chosen_run(pages, "/gate?current=run_a", "baseline") == "run_b"
    pages.delete("/v1/tags/baseline")
    for path in ("/gate", "/gate?current=run_b"):
        assert _chosen_run(pages, path, "baseline") == "run_a"
    missing = pages.get("/gate?baseline=baseline&current=run_a")
    assert missing.status_code == 404
    assert "assay eval tag RUN baseline" in missing.text


def test_the_gate_suggests_only_what_can_be_held_against(
    pages: TestClient, make_service: MakeService, home: Path
) -> None:
    run = unpack(pages.get("/v1/runs/run_a/export").json())
    runs = make_service(home=home).workspace.runs
    other = replace(run.test_set, name="another")
    told: dict[str, Any] = {
        "suite": "another",
        "test_set_checksum": other.checksum,
        "run_id": "elsewhere",
        "created_at": "2100-01-01T00:00:00Z",  # the latest, whenever the others were made
    }
    push(runs, replace(run, info=replace(run.info, **told), test_set=other))
    begun = replace(run.info, run_id="begun", status=RunStatus.RUNNING, aggregate={}, tags=())
    runs.begin(begun, run.test_set)

    def suggested(current: str) -> str:
        return _chosen_run(pages, f"/gate?current={current}", "baseline")

    assert suggested("elsewhere") == suggested("latest") == ""  # the tag is on another set's run
    assert suggested("run_a") == "run_b"  # the baseline
    assert suggested("run_b") == "run_a"  # it is the baseline itself
    assert suggested("nowhere") == ""
    runs.untag("baseline")
    assert suggested("run_b") == "run_a"
    assert suggested("run_a") == "run_b"


def test_a_joined_test_set_is_pooled_by_its_parts(pages: TestClient) -> None:
    assert "/annotate/new" not in pages.get("/runs/run_a/queries").text
    queries = [{**one, "relevant_docs": one["relevant_docs"][:1]} for one in TEST_SET["queries"]]
    for name, provenance in {
        "joined": {"joined": [["first", "v1", "0"], ["second", "v1", "1"]]},
        "odd": {"joined": 5},
    }.items():
        body = {**TEST_SET, "name": name, "queries": queries, "provenance": provenance}
        answer = pages.post(f"/v1/evaluate?evaluation_id={name}_run", json=body)
        assert answer.status_code == 200, answer.text
    text = pages.get("/runs/joined_run/queries").text
    assert "/annotate/new?from=unjudged&amp;set=first" in text
    assert "/annotate/new?from=unjudged&amp;set=second" in text
    assert "/annotate/new?from=unjudged&amp;set=odd" in pages.get("/runs/odd_run/queries").text


def test_a_page_without_data_is_light(reading: TestClient) -> None:
    assets = ("/search", "/ui/style.css", "/static/ui.js", "/static/vendor/htmx.min.js")
    assert sum(len(reading.get(path).content) for path in assets) < 300_000


def test_why_takes_words_of_a_title(reading: TestClient) -> None:
    one = reading.get("/search/why?q=headache&document=statins").text
    assert "not in the index" not in one
    assert "Statins" in one
    several = reading.get("/search/why?q=headache&document=a").text
    assert "Which document is meant by" in several
    assert "document=d3" in several
    none = reading.get("/search/why?q=headache&document=zebra+stripes").text
    assert "no document has these words in its title" in none
    assert "assay corpus" not in none
