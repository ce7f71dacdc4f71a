"""Are the series a closed set, with the names that dashboards and alerts rely on?"""

from __future__ import annotations

import os
import random
import re
import string

import pytest
from starlette.testclient import TestClient

from assay.http.metrics import Metrics
from assay.search.response import SearchResponse

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


@pytest.mark.slow
@pytest.mark.req("R16")
def test_random_requests_make_no_series(client: TestClient) -> None:
    """A short form of what ``make schema`` does with 10,000."""
    draw = random.Random(7)
    before = series(client.get("/metrics").text)
    for _ in range(int(os.environ.get("ASSAY_RANDOM_REQUESTS", "300"))):
        path = "".join(draw.choices(string.ascii_letters + "/", k=draw.randint(1, 20)))
        method = draw.choice(["GET", "POST", "PUT", "DELETE", "PATCH", "BREW"])
        client.request(method, f"/{path}", params={path: path}, headers={"X-Request-ID": path})
    assert series(client.get("/metrics").text) == before
