"""Is a field of a pushed run that nobody reads stored as if it meant something?"""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from assay.model.codec import decode
from assay.model.runs import RunInfo
from tests.unit.http.conftest import assert_problem
from tests.unit.http.small import TEST_SET

pytestmark = pytest.mark.slow

Run = dict[str, Any]


@pytest.fixture
def pushable(small: TestClient) -> Run:
    """A run of the service itself, as it is exported, under another id."""
    made = small.post("/v1/evaluate", json=TEST_SET).json()
    run: Run = small.get(f"/v1/runs/{made['run_id']}/export").json()
    run["info"]["run_id"] = "pushed"
    return run


PLACES = (
    *("", "info", "info.scoring", "info.scoring.sampling"),
    *("info.aggregate", "info.aggregate.aggregates.ndcg_at_10", "info.aggregate.latency_ms"),
    *("test_set", "test_set.queries.0", "test_set.queries.0.relevant_docs.0"),
    *("outcomes.0", "outcomes.0.result", "outcomes.0.stages"),
)


@pytest.mark.parametrize("name", ["error", "results", "owner", "x" * 500])
@pytest.mark.parametrize("place", PLACES)
def test_a_field_that_nobody_reads_is_refused_by_name(
    small: TestClient, pushable: Run, place: str, name: str
) -> None:
    at: Any = pushable
    for step in filter(None, place.split(".")):
        at = at[int(step)] if isinstance(at, list) else at[step]
    if name == "error" and place == "outcomes.0.result":
        pytest.skip("this is where an error stands")
    at[name] = "it was down"
    answer = small.post("/v1/runs", json=pushable)
    problem = assert_problem(answer, 422)
    assert name[:40] in str(problem)
    assert small.get("/v1/runs").json()["total"] == 1


def test_a_newer_service_is_still_read(small: TestClient, pushable: Run) -> None:
    info = decode(RunInfo, {**pushable["info"], "new": 1})
    assert info.run_id == "pushed"
