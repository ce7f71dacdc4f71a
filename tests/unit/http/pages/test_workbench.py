"""Can a person evaluate, follow jobs, work with runs and hand out keys in a browser?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from assay.store.keys import KeyStore
from tests.unit.http.conftest import MakeService, client_of
from tests.unit.http.pages.conftest import FORM, PERSON
from tests.unit.http.small import TEST_SET
from tests.waiting import eventually

pytestmark = pytest.mark.slow

SET = """name: tiny
version: v1
queries:
  - {query_id: q1, query_text: headache, relevant_docs: [{doc_id: "d1:chunk_0", grade: 3}]}
  - {query_id: q2, query_text: diabetes drug, relevant_docs: [{doc_id: "d5:chunk_0", grade: 3}]}
"""


def _post(client: TestClient, path: str, **fields: str) -> tuple[int, str, str]:
    answer = client.post(path, content=urlencode(fields), headers=FORM, follow_redirects=False)
    return answer.status_code, answer.headers.get("location", ""), answer.text


@pytest.fixture
def tiny(pages: TestClient, home: Path) -> TestClient:
    """The service with a test set of its own."""
    (home / "testsets").mkdir(exist_ok=True)
    (home / "testsets" / "tiny.yaml").write_text(SET, encoding="utf-8")
    return pages


def test_a_configuration_is_evaluated_and_its_job_followed(tiny: TestClient) -> None:
    form = tiny.get("/evaluate?set=tiny&rrf_k=7&k=50").text
    assert '<option value="tiny" selected>' in form
    options = re.search(r'name="options" value="([^"]*)"', form)
    assert options is not None
    assert options[1] == "rrf_k=7"  # how much of one search is shown is no part of it
    status, place, _ = _post(
        tiny, "/ui/evaluate", set="tiny", name="seven", options="rrf_k=7", tag="try"
    )
    assert status == 303
    assert place.startswith("/jobs/evaluation_")
    eventually(lambda: "Open the run" in tiny.get(place).text)
    text = tiny.get(place).text
    assert "tiny · seven" in text
    assert "2 of 2" in text
    assert "hx-trigger" not in text.split("<main")[1].split("</main")[0]  # nothing more to come
    run = re.search(r'href="/runs/([^"]+)">Open the run', text)
    assert run is not None
    found = tiny.get(f"/v1/runs/{run[1]}").json()
    assert (found["name"], found["tags"], found["config"]["rrf_k"]) == ("seven", ["try"], 7)
    listed = tiny.get("/jobs").text
    assert "tiny · seven" in listed
    assert "this machine" in listed
    saved = {"address": "/search?rrf_k=8", "prefix": "", "name": "eight"}
    assert (
        'href="/evaluate?from=saved%3Aeight"' in _post(tiny, "/ui/save-configuration", **saved)[2]
    )
    assert 'value="rrf_k=8"' in tiny.get("/evaluate?from=saved:eight").text
    assert tiny.get("/evaluate?from=saved:..%2Fassay").status_code == 422
    assert "/evaluate?rrf_k=5&amp;" in tiny.get("/search?q=headache&rrf_k=5").text
    again = tiny.get(f"/evaluate?from=run:{run[1]}").text
    assert 'name="options" value="rrf_k=7"' in again


def test_another_configuration_is_chosen_without_losing_the_form(tiny: TestClient) -> None:
    form = tiny.get("/evaluate?rrf_k=7").text
    field = re.search(r'<select name="from"[^>]*>', form)
    assert field is not None
    assert 'hx-get="/evaluate?rrf_k=7"' in field[0]
    assert 'hx-select="#chosen"' in field[0]
    assert "data-send" not in field[0]
    assert 'name="options" value="rrf_k=7"' in tiny.get("/evaluate?rrf_k=7&from=").text
    assert 'name="options" value=""' in tiny.get("/evaluate?rrf_k=7&from=service").text


def test_answers_are_judged_from_the_page(tiny: TestClient) -> None:
    asked = {"set": "tiny", "name": "judged", "judge": "words"}
    status, place, text = _post(tiny, "/ui/evaluate", **asked)
    assert status == 303, text
    eventually(lambda: "Open the run" in tiny.get(place).text)
    listed = tiny.get("/claims").text
    assert "judged" in listed
    run = re.search(r'action="/claims/([^"]+)"', listed)
    assert run is not None
    claim = tiny.get(f"/claims/{run[1]}?as=ann").text
    assert re.search(r'href="/documents/d\d[^"]*">(Aspirin|Migraine|Metformin)</a>', claim)
    agreement = tiny.get(f"/claims/{run[1]}/agreement").text
    assert "</a> / judged</p>" in agreement
    assert 'href="/evaluate' in tiny.get("/claims").text
    assert _post(tiny, "/ui/evaluate", **{**asked, "judge": "os:system"})[0] == 400


def test_what_cannot_be_evaluated_is_said_in_the_form(tiny: TestClient) -> None:
    status, _, text = _post(tiny, "/ui/evaluate", set="nothing")
    assert status == 404
    assert "<nav" in text
    answer = tiny.post(
        "/ui/evaluate", content="set=nothing", headers={**FORM, "hx-request": "true"}
    )
    assert answer.status_code == 404
    assert "<html" not in answer.text
    assert "no test set" in answer.text


def test_a_cancelled_job_goes_on(make_service: MakeService, home: Path) -> None:
    service = make_service(home=home)
    job = service.jobs.submit("job-1", "index", {"action": "update"}, owner="address 127.0.0.1")
    service.jobs.cancel(job.job_id)  # nobody works yet: it waits, and is cancelled at once
    with client_of(service, headers=PERSON) as client:
        assert "Go on with it" in client.get("/jobs/job-1").text
        assert _post(client, "/ui/jobs/job-1/resume")[:2] == (303, "/jobs/job-1")
        eventually(lambda: client.get("/v1/jobs/job-1").json()["state"] == "complete")
        status, _, text = _post(client, "/ui/jobs/job-1/resume")
        assert status == 409
        assert "is complete" in text


def test_runs_are_sorted_found_and_grouped_by_the_address(reading: TestClient) -> None:
    assert _runs(reading.get("/runs").text) == ["run_b", "run_a"]
    assert _runs(reading.get("/runs?sort=created").text) == ["run_a", "run_b"]
    assert _runs(reading.get("/runs?text=RUN_A").text) == ["run_a"]
    assert "No run matches" in reading.get("/runs?text=%25").text
    assert reading.get("/runs?sort=beauty").status_code == 400
    shown = reading.get("/runs?columns=mrr&sort=-mrr").text
    assert 'aria-sort="descending"' in shown
    assert "Recall@10</a>" not in shown
    assert '<th class="t">depth</th>' in shown  # the setting in which the two runs differ


def _runs(text: str) -> list[str]:
    return re.findall(r'data-pick value="([^"]+)"', text)


def test_the_trend_is_of_runs_that_can_be_compared(pages: TestClient) -> None:
    newer = {**TEST_SET, "version": "v2"}
    assert pages.post("/v1/evaluate?evaluation_id=run_c", json=newer).status_code == 200
    text = pages.get("/runs").text
    assert "over the last 2 complete runs of small v1" in text
    assert "Not drawn: 1 run is of other queries, parts or engines." in text
    alone = {**TEST_SET, "name": "alone"}
    assert pages.post("/v1/evaluate?evaluation_id=run_d", json=alone).status_code == 200
    text = pages.get("/runs?suite=alone").text
    assert "A trend needs two complete runs of alone that can be compared." in text
    assert "it is undefined in every run" in pages.get("/runs?suite=small&measure=nothing").text


def test_a_run_without_relevant_documents_lists_its_queries(pages: TestClient) -> None:
    made = pages.post(
        "/v1/evaluate?evaluation_id=unjudged", json={"dataset_id": "test_set_v1_extras"}
    )
    assert made.status_code == 200, made.text
    for part in ("", "/queries", "/stages", "/query/x01"):
        assert pages.get(f"/runs/unjudged{part}").status_code == 200, part
    assert "x01" in pages.get("/runs/unjudged/queries").text
    assert "No query of this run has a relevant document" in pages.get("/runs/unjudged/stages").text


def test_the_tiles_of_a_run_begin_with_the_measures_of_the_list(reading: TestClient) -> None:
    text = reading.get("/runs/run_b").text
    shown = re.findall(r'<div class="tile"><span>([^<]*)</span>', text)
    assert shown[:3] == ["nDCG@10", "Recall@10", "MRR"]


def test_moments_say_their_time_zone(reading: TestClient) -> None:
    for path in ("/runs", "/runs/run_b", "/compare?a=run_a&b=run_b", "/jobs"):
        for shown in re.findall(r"<time datetime=[^>]*>([^<]*)</time>", reading.get(path).text):
            assert shown.endswith(" UTC"), path


def test_a_query_leads_to_the_search_of_either_run(reading: TestClient) -> None:
    text = reading.get("/compare/query?a=run_a&b=run_b&query=q1").text
    assert 'href="/search?q=headache&amp;depth=1">as A did' in text
    assert 'href="/search?q=headache">as B did' in text


def test_a_page_of_an_error_knows_who_asks(
    reading: TestClient, staff: dict[str, TestClient]
) -> None:
    text = reading.get("/runs/nothing-here").text
    assert ">Keys</a>" in text
    assert "Sign in" not in text
    assert ">eva</a>" in staff["evaluator"].get("/runs/nothing-here").text
    assert "Sign in" in staff["nobody"].get("/runs/nothing-here").text


def test_a_deleted_run_is_offered_back(pages: TestClient) -> None:
    status, place, _ = _post(pages, "/ui/runs/delete", run="run_b")
    assert (status, place) == (303, "/runs?deleted=run_b")
    text = pages.get(place).text
    assert "The run run_b is deleted." in text
    assert _runs(text) == ["run_a"]
    assert _post(pages, "/ui/runs/restore", run="run_b")[:2] == (303, "/runs/run_b")
    assert "baseline" in pages.get("/v1/runs/run_b").json()["tags"]
    assert "deleted" not in pages.get(place).text  # gone back to, the page offers nothing stale


def test_moving_the_baseline_is_asked_about(reading: TestClient) -> None:
    text = reading.get("/runs").text
    assert "The baseline is run_b of" in text
    assert "Make run_a the baseline instead?" in text


def test_several_runs_stand_side_by_side(reading: TestClient) -> None:
    two = reading.get("/compare?run=run_b&run=run_a", follow_redirects=False)
    assert two.headers["location"] == "/compare?a=run_a&b=run_b"
    three = reading.get("/compare?run=run_b&run=run_a&run=baseline", follow_redirects=False)
    assert three.headers["location"].startswith("/compare/several?run=run_a")
    text = reading.get(three.headers["location"]).text
    assert "3 runs side by side" in text
    assert "nDCG@10" in text
    assert reading.get("/compare?run=run_b").status_code == 400


def test_queries_are_classed_by_the_first_measure(reading: TestClient) -> None:
    whole = reading.get("/compare?a=run_a&b=run_b").text
    assert "changed by more than ±" in whole
    better = reading.get("/compare?a=run_a&b=run_b&change=better").text
    entries = better.count('<details class="entry query"')
    assert entries == better.count("▲</span> better</span>") > 0
    assert reading.get("/compare?a=run_a&b=run_b&change=nicer").status_code == 400
    dot = r'<a href="/compare/query\?a=run_a&amp;b=run_b&amp;query=q1"[^>]*><circle'
    assert re.search(dot, whole)


def test_the_bars_of_a_run_open_their_queries(reading: TestClient) -> None:
    text = reading.get("/runs/run_b/queries").text
    assert "?type=paraphrase#queries" in text
    only = reading.get("/runs/run_b/queries?type=paraphrase").text
    assert only.count('<details class="entry query"') == 1
    assert "diabetes drug" in only
    bar = re.search(r'href="(/runs/run_b/queries\?low=[^"]+)#queries"', text)
    assert bar is not None
    assert '<details class="entry query"' in reading.get(bar[1].replace("&amp;", "&")).text


def test_the_palette_finds_pages_runs_sets_and_documents(reading: TestClient) -> None:
    assert "HTTP reference" in reading.get("/ui/palette").text
    found = reading.get("/ui/palette?q=run_").text
    assert 'href="/runs/run_a"' in found
    assert 'href="/testsets/test_set_v1"' in reading.get("/ui/palette?q=test_set").text
    assert 'href="/documents/d2"' in reading.get("/ui/palette?q=migr").text
    assert 'href="/annotate/new"' in reading.get("/ui/palette?q=new+round").text


@pytest.fixture
def staff(make_service: MakeService, home: Path) -> Iterator[dict[str, TestClient]]:
    """Browsers of people with different rights."""
    store = KeyStore(home / "assay.db")
    keys = {
        "reader": store.create("reader", ["read"])[1],
        "evaluator": store.create("eva", ["read", "evaluate"])[1],
        "chief": store.create("chief", ["admin"])[1],
    }
    store.close()
    service = make_service(home=home)
    with client_of(service, headers=PERSON) as first:
        first.get("/healthz")
        people = {
            name: client_of(service, headers={**PERSON, "authorization": f"Bearer {key}"})
            for name, key in keys.items()
        }
        yield {**people, "nobody": client_of(service, headers=PERSON)}


CHANGES = {
    "/ui/evaluate": {"set": "nothing"},
    "/ui/jobs/none/cancel": {},
    "/ui/runs/delete": {"run": "nothing"},
    "/ui/runs/restore": {"run": "nothing"},
    "/ui/publish": {},
    "/ui/keys": {"name": "new", "role": "read"},
    "/ui/keys/abc/revoke": {},
}
ADMIN_ONLY = {"/ui/runs/delete", "/ui/runs/restore", "/ui/keys", "/ui/keys/abc/revoke"}


@pytest.mark.parametrize("path", CHANGES)
def test_roles_hold_on_every_form(staff: dict[str, TestClient], path: str) -> None:
    assert _post(staff["nobody"], path, **CHANGES[path])[0] == 401
    assert _post(staff["reader"], path, **CHANGES[path])[0] == 403
    if path in ADMIN_ONLY:
        assert _post(staff["evaluator"], path, **CHANGES[path])[0] == 403
    allowed = _post(staff["chief"], path, **CHANGES[path])[0]
    assert allowed not in {401, 403}


def test_pages_show_who_one_is_and_what_one_may(staff: dict[str, TestClient]) -> None:
    for path in ("/evaluate", "/jobs", "/keys", "/ui/palette", "/compare/several?run=a&run=b"):
        assert staff["nobody"].get(path).status_code == 401, path
    assert staff["reader"].get("/evaluate").status_code == 403
    mine = staff["evaluator"].get("/keys").text
    assert ">eva</a>" in mine
    assert "Make the key" not in mine
    assert "not with this key" in mine
    assert staff["evaluator"].get("/v1/keys").status_code == 403
    assert "Make the key" in staff["chief"].get("/keys").text


def test_a_key_is_shown_once_and_revoked_at_once(staff: dict[str, TestClient]) -> None:
    chief, nobody = staff["chief"], staff["nobody"]
    status, _, text = _post(chief, "/ui/keys", name="zoe", role="evaluate", days="30")
    assert status == 200
    (secret,) = set(re.findall(r"assay_[0-9a-f]{12}_[A-Za-z0-9_-]{43}", text))
    assert secret not in chief.get("/keys").text
    me = nobody.get("/v1/whoami", headers={"authorization": f"Bearer {secret}"}).json()
    assert (me["name"], me["scopes"]) == ("zoe", ["evaluate", "read"])
    assert _post(chief, f"/ui/keys/{me['key_id']}/revoke")[:2] == (303, "/keys")
    assert (
        nobody.get("/v1/whoami", headers={"authorization": f"Bearer {secret}"}).status_code == 401
    )


def test_the_first_key_closes_the_service_and_signs_its_maker_in(pages: TestClient) -> None:
    status, _, text = _post(pages, "/ui/keys", name="me", role="admin")
    assert status == 200
    assert "everybody needs a key" in text
    assert "assay_session" in pages.cookies
    assert pages.get("/keys").status_code == 200
    pages.cookies.clear()
    assert pages.get("/keys").status_code == 401


def test_an_ended_session_says_so_and_keeps_the_page(staff: dict[str, TestClient]) -> None:
    client = staff["nobody"]
    client.cookies.set("assay_session", "gone")
    page = client.get("/runs")
    assert page.status_code == 401
    assert "Your session has ended" in page.text
    part = client.get("/runs", headers={"hx-request": "true"})
    assert "nothing on this page is lost" in part.text


def test_an_error_keeps_the_menu_and_names_a_page(reading: TestClient) -> None:
    text = reading.get("/runs/nothing-like-it").text
    assert 'aria-current="page">Runs</a>' in text
    assert 'href="/runs">Runs</a>)' in text  # the hint names a command; here is its page


def test_an_empty_workspace_leads_to_the_first_document(client: TestClient) -> None:
    empty = client.get("/search", headers=PERSON)
    assert "Add the first document" in empty.text
    plain = {"content-type": "application/octet-stream"}
    text = b"Aspirin eases headache and lowers fever."
    sent = client.post("/v1/files?name=..%2F..%2Faspirin.txt", content=text, headers=plain)
    assert sent.status_code == 200, sent.text
    assert sent.json()["added"] == 1, sent.text
    found = client.get("/v1/search?q=headache").json()
    assert [hit["doc_id"] for hit in found["results"]] == ["aspirin"]
    status, place, _ = _post(client, "/ui/documents/add", title="Statins", text="Statins help.")
    assert status == 303
    eventually(lambda: client.get(place.replace("/jobs", "/v1/jobs")).json()["state"] == "complete")
    assert _post(client, "/ui/documents/add", title="x", text=" ")[0] == 422
    assert client.post("/v1/files?name=x.txt", content=b"", headers=plain).status_code == 422
