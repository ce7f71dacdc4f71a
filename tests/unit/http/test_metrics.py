"""Are the series a closed set, with the names that dashboards and alerts rely on?"""

from __future__ import annotations

import os
import random
import re
import string
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from assay.http.metrics import INTENTS, Metrics
from assay.search.response import SearchResponse
from tests.unit.http.conftest import MakeService, client_of

NAMES = [
    "medicalkg_retrieval_duration_seconds_bucket",
    "medicalkg_fusion_duration_seconds_bucket",
    "medicalkg_reranking_duration_seconds_bucket",
    "medicalkg_retrieval_component_used_total",
    "medicalkg_retrieval_component_errors_total",
    "medicalkg_query_intent_detected_total",
    "medicalkg_evaluation_runs_total",
]


def series(text: str) -> set[str]:
    return {line.rpartition(" ")[0] for line in text.splitlines() if line[:1] != "#"}


@pytest.mark.req("E11", "R16")
def test_the_names_of_the_contract_are_there_from_the_start() -> None:
    shown = series(Metrics().text().decode())
    for name in NAMES:
        assert any(re.match(rf"{name}(\{{|$)", one) for one in shown), name


def test_a_search_is_counted_by_what_it_says_of_itself() -> None:
    metrics = Metrics()
    metrics.searched(
        SearchResponse(
            query="q",
            results=(),
            fusion_metadata={},
            components_used=("bm25", "dense"),
            component_errors=("splade_timeout",),
            intents=({"intent": "eligibility"}, {"intent": "made up"}),
            timings_ms={"bm25": 3.0, "fusion": 0.2, "rerank": 90.0, "total": 700.0},
        )
    )
    text = metrics.text().decode()
    for line in (
        'medicalkg_retrieval_component_used_total{component="dense"} 1.0',
        'medicalkg_retrieval_component_errors_total{component="splade",reason="timeout"} 1.0',
        'medicalkg_query_intent_detected_total{intent="eligibility"} 1.0',
        'medicalkg_query_intent_detected_total{intent="other"} 1.0',
        'medicalkg_retrieval_duration_seconds_bucket{le="0.6"} 0.0',
        'medicalkg_retrieval_duration_seconds_bucket{le="0.8"} 1.0',
        "medicalkg_fusion_duration_seconds_count 1.0",
        "medicalkg_reranking_duration_seconds_count 1.0",
    ):
        assert line in text


def test_the_shipped_intents_have_their_series_from_the_start() -> None:
    from assay.search.boost import default_lexicon, intent_names

    assert set(INTENTS) == set(intent_names(default_lexicon())) - {"none"}


OWN_LEXICON = """
intents:
  renal_risk:
    base: 2.0
    sections: [warnings]
    phrases: {kidney danger: 0.9}
"""


def test_an_intent_of_ones_own_lexicon_is_counted_by_its_name(
    make_service: MakeService, home: Path
) -> None:
    lexicon = home / "lexicon.yaml"
    lexicon.write_text(OWN_LEXICON, encoding="utf-8")
    with client_of(make_service(home=home, lexicon=lexicon)) as client:
        assert client.get("/v1/search", params={"q": "kidney danger"}).status_code == 200
        before = client.get("/metrics").text
        assert 'medicalkg_query_intent_detected_total{intent="renal_risk"} 1.0' in before
        assert 'medicalkg_query_intent_detected_total{intent="other"} 0.0' in before
        client.get("/v1/search", params={"q": "headache", "query_intent": "invented"})
        after = client.get("/metrics").text
    new = {one for one in series(after) - series(before) if "query_intent" in one}
    assert not new, "a caller makes no series"


@pytest.mark.slow
@pytest.mark.req("R16")
def test_random_requests_make_no_series(make_service: MakeService) -> None:
    """A short form of what ``make schema`` does with 10,000."""
    draw = random.Random(7)
    service = make_service()
    with client_of(service) as client:
        new = _random_requests(client, draw)
    asked = {found for one in new for found in re.findall(r'route="([^"]*)"', one)}
    assert asked <= service.metrics.routes, "only a route has series, once it was asked"
    assert all("route=" in one for one in new)


def _random_requests(client: TestClient, draw: random.Random) -> set[str]:
    """The series that came with them."""
    before = series(client.get("/metrics").text)
    for _ in range(int(os.environ.get("ASSAY_RANDOM_REQUESTS", "300"))):
        path = "".join(draw.choices(string.ascii_letters + "/", k=draw.randint(1, 20)))
        method = draw.choice(["GET", "POST", "PUT", "DELETE", "PATCH", "BREW"])
        client.request(method, f"/{path}", params={path: path}, headers={"X-Request-ID": path})
    return series(client.get("/metrics").text) - before


def test_requests_are_counted_by_the_template_of_their_route(client: TestClient) -> None:
    client.get("/v1/runs/nothing-of-that-name")
    client.get("/nowhere")
    text = client.get("/metrics").text
    assert 'medicalkg_http_requests_total{route="/v1/runs/{ref}",status="4xx"} 1.0' in text
    assert 'medicalkg_http_requests_total{route="other",status="4xx"} 1.0' in text
