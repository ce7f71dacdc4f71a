"""Does a search over HTTP answer what the library answers, and refuse what makes no sense?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from assay import limits
from assay.model.codec import decode, json_schema
from assay.search.response import SearchResponse
from tests.unit.http.conftest import MakeService, assert_problem, client_of


def search(client: TestClient, **parameters: Any) -> dict[str, Any]:
    response = client.get("/v1/search", params=parameters)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    assert set(body) == {*json_schema(SearchResponse)["properties"], "request_id"}
    decode(SearchResponse, body)
    return body


@pytest.mark.req("R15")
def test_an_answer_has_the_fields_of_the_contract(small: TestClient) -> None:
    response = small.get("/v1/search", params={"q": "headache", "fusion_method": "rrf"})
    body = response.json()
    assert decode(SearchResponse, body).query == "headache"
    assert [hit["doc_id"] for hit in body["results"]] == ["d1", "d2"]
    first = body["results"][0]
    assert first["chunk_id"] == "d1:chunk_0"
    assert first["component_scores"]["bm25"] > 0
    assert body["fusion_metadata"]["method"] == "rrf"
    assert body["fusion_metadata"]["k"] == 60
    assert body["fusion_metadata"]["reranked"] is False
    assert body["components_used"] == ["bm25"]
    assert body["component_errors"] == []
    assert body["degraded"] is False
    assert body["request_id"] == response.headers["x-request-id"]
    assert "bm25;dur=" in response.headers["server-timing"]
    assert "total" in body["timings_ms"]


def test_pages_are_cut_from_one_list(small: TestClient) -> None:
    whole = search(small, q="headache blood lowers", k=10)
    ids = [hit["chunk_id"] for hit in whole["results"]]
    assert len(ids) == 4
    assert whole["next_offset"] is None
    pages = []
    offset: int | None = 0
    while offset is not None:
        page = search(small, q="headache blood lowers", k=1, offset=offset, generation="1")
        pages += [hit["chunk_id"] for hit in page["results"]]
        offset = page["next_offset"]
    assert pages == ids
    refused = small.get("/v1/search", params={"q": "blood", "generation": "77"})
    assert_problem(refused, 409, "index_moved_on")


def test_filters_hold(small: TestClient) -> None:
    assert len(search(small, q="blood", doc_id="d3")["results"]) == 1
    both = search(small, q="blood", doc_id=["d3", "d4"])
    assert {hit["doc_id"] for hit in both["results"]} == {"d3", "d4"}
    assert search(small, q="blood", is_table="true")["results"] == []


def test_why_not(small: TestClient) -> None:
    answer = small.get("/v1/search/why", params={"q": "headache", "document": "d3"})
    assert answer.json()["verdict"] == "not_found"


BAD = [
    {"q": ""},
    {},
    {"q": "x", "k": "-1"},
    {"q": "x", "k": "0"},
    {"q": "x", "k": "1000000000"},
    {"q": "x", "k": "10abc"},
    {"q": "x", "k": "１０"},
    {"q": "x", "k": "1_0"},
    {"q": "x", "k": " 5"},
    {"q": "x", "k": "1e1"},
    {"q": "x", "k": ["1", "2"]},
    {"q": "x", "components": ""},
    {"q": "x", "components": "bm25,bm25"},
    {"q": "x", "components": "xyz"},
    {"q": "x", "components": ",".join(["bm25"] * 1000)},
    {"q": "x", "fusion_method": "RFF"},
    {"q": "x", "rrf_k": "-1"},
    {"q": "x", "rrf_k": "0"},
    {"q": "x", "rrf_k": "1000000000000000000"},
    {"q": "x", "fusion_method": "weighted", "components": "bm25,dense", "weights": "bm25=1"},
    {"q": "x", "fusion_method": "weighted", "components": "bm25", "weights": "bm25=0"},
    {"q": "x", "fusion_method": "weighted", "components": "bm25", "weights": "bm25=-1"},
    {"q": "x", "fusion_method": "weighted", "components": "bm25", "weights": "xyz=1"},
    {"q": "x", "fusion_method": "weighted", "components": "bm25", "weights": "bm25=nan"},
    {"q": "x", "weights": "bm25=" + "9" * 190},
    {"q": "x", "offset": "-1"},
    {"q": "x", "rerank": "perhaps"},
    {"q": "x", "speaker": "NOBODY"},
    {"q": "x", "query_intent": "Tabular!"},
    {"q": "x", "query_intent": "poetry", "boosts": "false"},
    {"q": "x", "weights": ""},
    {"q": "x", "k": "+5"},
    {"q": "x", "doc_id": ["d"] * 101},
    {"q": "x", "source": "s" * 201},
    {"q": "x", "reranker": "../../etc/passwd"},
    {"q": "x", "api_key": "assay_1"},
    {"q": "x", "kk": "1"},
    {"q": "x" * (limits.MAX_QUERY_CHARS + 1)},
]


@pytest.mark.slow
@pytest.mark.req("R15")
@pytest.mark.parametrize("parameters", BAD, ids=lambda parameters: str(parameters)[:60])
def test_what_makes_no_sense_is_refused_by_name(
    small: TestClient, parameters: dict[str, Any]
) -> None:
    response = small.get("/v1/search", params=parameters)
    assert response.status_code in {400, 413, 422}, response.text
    assert_problem(response, response.status_code)


def test_the_path_of_a_model_is_refused_as_what_it_is(small: TestClient) -> None:
    response = small.get("/v1/search", params={"q": "x", "reranker": "../../etc/passwd"})
    assert response.json()["detail"] == "query.reranker: must be the name of a model"


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000,
        "a" * 8000,
        "(a+)+" * 500 + "!",
        "🤕 صداع",
        "' OR 1=1 --",
        '*?~^:"\\/',
        "\u202e\u2028",
    ],
    ids=["brackets", "long", "regex", "other scripts", "sql", "syntax", "direction"],
)
def test_odd_queries_are_answered(small: TestClient, text: str) -> None:
    assert small.get("/v1/search", params={"q": text}).status_code == 200


def test_a_bad_index_is_named_and_the_rest_serves(make_service: MakeService, home: Path) -> None:
    for path in (home / "index").rglob("*"):
        if path.is_file() and path.name != "WRITER":
            path.write_bytes(b"rubbish")
    with client_of(make_service(home=home)) as client:
        body = assert_problem(client.get("/readyz"), 503, "not_ready")
        assert body["errors"][0]["where"] == "index"
        assert_problem(client.get("/v1/search", params={"q": "x"}), 503, "not_ready")
        assert client.get("/v1/runs").status_code == 200
        assert client.get("/healthz").status_code == 200


def test_highlights_are_given_where_they_are_asked_for(small: TestClient) -> None:
    assert search(small, q="headaches")["results"][0]["highlight"] is None
    for hit in search(small, q="headaches", highlights="true")["results"]:
        shown = hit["highlight"]
        assert shown["text"] in hit["text"]
        assert [shown["text"][start:end] for start, end in shown["marks"]] == ["headache"]


def test_the_terms_of_a_score_are_given_where_they_are_asked_for(small: TestClient) -> None:
    assert search(small, q="aspirin headaches")["results"][0]["terms"] == {}
    first = search(small, q="aspirin headaches", terms="true")["results"][0]
    assert set(first["terms"]["bm25"]) == {"aspirin", "headach"}
    total = sum(first["terms"]["bm25"].values())
    assert total == pytest.approx(first["component_scores"]["bm25"], rel=1e-4)


@pytest.mark.parametrize("depth", ["1", "100"])
def test_a_request_says_how_deep_and_how_long_it_is_reranked(small: TestClient, depth: str) -> None:
    wanted = {"rerank_depth": depth, "rerank_timeout_ms": "15000"}
    body = search(small, q="headache", rerank="true", reranker="BAAI/bge-reranker-base", **wanted)
    assert body["reranker_model"] == "bge-reranker-base"
    late = small.get("/v1/search", params={"q": "headache", "rerank_timeout_ms": "31000"})
    assert_problem(late, 400)
    assert "more than the 30000 of a whole request" in late.json()["detail"]


def test_the_reranker_that_ships_counts_a_share_or_alone(small: TestClient) -> None:
    asked = {"q": "headache", "rerank": "true", "rerank_timeout_ms": "30000"}
    body = search(small, **asked)
    assert (body["reranked"], body["reranker_model"]) == (True, "assay-bio-rerank")
    scores = [hit["score"] for hit in body["results"]]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)
    assert all(hit["reranker_share"] == 0.4 for hit in body["results"])
    assert all(0 < hit["component_scores"]["reranker"] < 1 for hit in body["results"])
    alone = search(small, **asked, rerank_share="1")["results"]
    assert all(hit["score"] == hit["component_scores"]["reranker"] for hit in alone)
    before = search(small, **asked, rerank_share="0")["results"]
    plain = search(small, q="headache")["results"]
    assert [hit["chunk_id"] for hit in before] == [hit["chunk_id"] for hit in plain]
    refused = small.get("/v1/search", params={**asked, "rerank_share": "1.5"})
    assert_problem(refused, 422)


@pytest.mark.req("R10")
def test_reranking_without_a_gpu_falls_back(small: TestClient) -> None:
    body = search(small, q="headache", rerank="true", reranker="bge-reranker-base")
    assert body["reranked"] is False
    assert body["reranker_error"] in {"gpu_unavailable", "unavailable"}
    assert body["degraded"] is True
    assert len(body["results"]) == 2


def test_stored_markup_is_made_harmless_once_more() -> None:
    from assay.render.markup import safe_table

    dirty = (
        '<table onclick="x()"><tr><td style="a">1<script>x</script></td></tr></table><img src=x>'
    )
    assert safe_table(dirty) == "<table><tbody><tr><td>1</td></tr></tbody></table>"


def test_searches_are_counted_and_logged(make_service: MakeService, home: Path) -> None:
    from assay.store.query_log import QueryLog

    service = make_service(home=home)
    with client_of(service) as client:
        search(client, q="headache of jane@example.org")
        search(client, q="headache of jane@example.org")
        text = client.get("/metrics").text
        assert 'medicalkg_retrieval_component_used_total{component="bm25"} 2.0' in text
    service.close()
    log = QueryLog(home / "assay.db")
    (only,) = log.wordings()
    assert (only.query, only.times) == ("headache of [email]", 2)
    log.close()


class Down:
    """A component that fails."""

    name = "bm25"

    def search(self, *asked: object) -> Any:
        raise RuntimeError("down")


def test_failures_are_counted_also_where_no_component_answers(
    make_service: MakeService, home: Path
) -> None:
    service = make_service(home=home)
    with client_of(service) as client:
        search(client, q="headache")
        searcher = service.workspace.searcher
        searcher._snapshot = replace(searcher._snapshot, components={"bm25": Down()})
        assert_problem(client.get("/v1/search", params={"q": "fever"}), 503, "search_unavailable")
        figures = client.get("/metrics").text
    assert (
        'medicalkg_retrieval_component_errors_total{component="bm25",reason="error"} 1.0' in figures
    )


def test_nothing_about_a_query_is_said_and_results_come_on_request(small: TestClient) -> None:
    hidden = search(small, q="headache from rosuvastatin")
    assert hidden["results"] == []
    assert hidden["nothing_about"] == "nothing here is about rosuvastatin"
    assert hidden["withheld"] > 0
    shown = search(small, q="headache from rosuvastatin", floor="false")
    assert shown["results"]
    assert shown["nothing_about"] == "nothing here is about rosuvastatin"


def test_the_page_says_it_and_links_to_the_nearest_results(small: TestClient) -> None:
    page = small.get("/search", params={"q": "headache from rosuvastatin"}).text
    assert "Nothing here is about rosuvastatin." in page
    assert "&amp;floor=off" in page
    shown = small.get("/search", params={"q": "headache from rosuvastatin", "floor": "off"}).text
    assert "Show the nearest results" not in shown
    assert "d1:chunk_0" in shown
