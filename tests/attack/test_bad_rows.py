"""Does one run with fields of the wrong type break what is shown of all others?"""

from __future__ import annotations

import copy
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from assay.store.check import problems
from assay.store.seals import sealed
from tests.unit.http.conftest import MakeService, client_of
from tests.unit.http.small import TEST_SET

LISTS = (
    "/metrics",
    "/runs",
    "/v1/runs",
    "/v1/history/small",
    "/testsets/small",
)
OF_ONE = ("", "/queries", "/export", "/report")
DELETED = object()
INFO: list[tuple[str, Any]] = [
    ("created_at", "yesterday"), ("created_at", ""), ("created_at", 3),
    ("finished_at", "soon"), ("finished_at", "99999-01-01T00:00:00Z"), ("finished_at", []),
    ("queries", 10**30), ("queries", -4), ("queries", "three"), ("queries", True),
    ("seed", 10**40), ("seed", "x"), ("models", []), ("models", {"dense": 4}),
    ("chunker_versions", "abc"), ("config", []), ("name", 5), ("part", None),
    ("config.components", 5), ("config.weights", "x"), ("config.fusion_method", {}),
    ("config.kept", "all"), ("config.filter", 7), ("config.retriever", [1]),
    ("aggregate", []), ("aggregate", "good"), ("aggregate.metrics", []),
    ("aggregate.metrics", "all"), ("aggregate.metrics.recall_at_10", "high"),
    ("aggregate.metrics.recall_at_10", {}), ("aggregate.metrics.recall_at_10", True),
    ("aggregate.metrics.recall_at_10", 10**400),
    ("aggregate.aggregates", 7), ("aggregate.aggregates.recall_at_10", "x"),
    ("aggregate.aggregates.recall_at_10.ci", 3), ("aggregate.aggregates.recall_at_10.ci", ["a", 1]),
    ("aggregate.aggregates.recall_at_10.ci", [1]), ("aggregate.aggregates.recall_at_10.mean", "x"),
    ("aggregate.aggregates.recall_at_10.measure", {}),
    ("aggregate.aggregates.recall_at_10.measure", DELETED),
    ("aggregate.aggregates.recall_at_10.measure", "nothing@1"),
    ("aggregate.per_query_type", 3), ("aggregate.per_origin", 3),
    ("aggregate.failed_queries", "many"), ("aggregate.failed_queries", [1]),
    ("aggregate.degraded_queries", {}), ("aggregate.total_queries", "x"),
    ("aggregate.total_queries", 1e300), ("aggregate.skipped_queries", []),
    ("aggregate.latency_ms", 4), ("aggregate.latency_ms.p95", "slow"),
    ("aggregate.usage", 3), ("aggregate.usage", {"cost": "much"}),
    ("aggregate.warnings", 5), ("aggregate.warnings", [{}]), ("aggregate.sampling", "bca"),
    ("aggregate.per_speaker", 3), ("aggregate.per_speaker", {"ALL": 3}),
    ("scoring.sampling.resamples", "x"), ("scoring.match", []), ("scoring.measures", 5),
]  # fmt: skip
OUTCOME: list[tuple[str, Any]] = [
    ("result", []), ("result", None), ("result.ids", 4), ("result.ids", [1, 2]),
    ("result.ids", "abc"), ("result.doc_ids", [1]), ("result.scores", ["high"]),
    ("result.scores", 5), ("result.scores", [1.0] * 50), ("result.spans", [["x"]]),
    ("result.spans", 3), ("result.chunker_versions", 8), ("result.latency_ms", "slow"),
    ("result.latency_ms", []), ("result.error", {}), ("result.degraded", "no"),
    ("result.component_errors", 5), ("result.component_errors", [5]), ("result.warnings", [{}]),
    ("result.answer", "yes"), ("result.answer", {"text": 5, "citations": []}),
    ("result.known_citations", [[]]), ("result.numbers", 3), ("result.usage", "much"),
    ("stages", []), ("stages.component_lists", {"bm25": [99_999]}),
    ("stages.component_lists", {"bm25": [-1]}), ("stages.component_lists", {"bm25": ["x"]}),
    ("stages.component_list_scores", {"bm25": ["x"]}),
    ("stages.component_list_scores", {"bm25": []}),
    ("stages.component_list_scores", 5), ("stages.fused", [10**9]),
    ("stages.timings_ms", {"a": "b"}),
    ("stages.timings_ms", 4), ("stages.ranks", {"bm25": 3}), ("query_id", 5),
]  # fmt: skip


def _changed(content: Any, place: str, value: Any) -> None:
    *path, last = place.split(".")
    for name in path:
        content = content.setdefault(name, {})
    if value is DELETED:
        del content[last]
    else:
        content[last] = value


@pytest.fixture
def busy(small: TestClient) -> tuple[TestClient, dict[str, Any]]:
    """A service with one good run, and that run as it is exported."""
    assert small.post("/v1/testsets", json=TEST_SET).status_code == 201
    assert small.post("/v1/evaluate", json=TEST_SET).status_code == 200
    (run,) = small.get("/v1/runs").json()["runs"]
    return small, small.get(f"/v1/runs/{run['run_id']}/export").json()


def test_whatever_a_pushed_run_holds_no_list_breaks(
    busy: tuple[TestClient, dict[str, Any]],
) -> None:
    client, good = busy
    broken: list[str] = []
    taken = 0
    for number, (where, place, value) in enumerate(
        [("info", *one) for one in INFO] + [("outcome", *one) for one in OUTCOME]
    ):
        pushed = copy.deepcopy(good)
        pushed["info"]["run_id"] = name = f"bad{number}"
        target = pushed["info"] if where == "info" else pushed["outcomes"][0]
        _changed(target, place, value)
        body = json.dumps(pushed)
        headers = {"content-type": "application/json"}
        answer = client.post("/v1/runs", content=body, headers=headers)
        if answer.status_code >= 500:
            broken.append(f"{place} = {value!r:.40}: pushing answers {answer.status_code}")
        if answer.status_code != 201:
            continue
        taken += 1
        for path in (*LISTS, *(f"/v1/runs/{name}{rest}" for rest in OF_ONE), f"/runs/{name}"):
            found = client.get(path)
            if found.status_code >= 500:
                broken.append(f"{place} = {value!r:.40}: {path} answers {found.status_code}")
        if f'"{name}"' not in client.get("/v1/runs?limit=100").text:
            broken.append(f"{place} = {value!r:.40}: taken, and not in the list")
        assert client.delete(f"/v1/runs/{name}").status_code in (200, 204)
    assert not broken, "\n".join(broken)
    assert taken < 20


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("aggregate_json", sealed(json.dumps({"metrics": "all"}))),
        ("aggregate_json", sealed(json.dumps({"metrics": {"recall_at_10": "x"}, "failed": 1}))),
        ("aggregate_json", sealed(json.dumps({"failed_queries": "many"}))),
        ("aggregate_json", "nothing"),
        ("finished_at", "soon"),
        ("provenance_json", sealed("{}")),
        ("status", "odd"),
    ],
)
def test_a_bad_row_is_named_and_the_others_are_shown(
    make_service: MakeService, home: Path, column: str, value: str
) -> None:
    """Rows that were stored before anybody checked them."""
    with client_of(make_service(home=home)) as client:
        client.post("/v1/testsets", json=TEST_SET)
        assert client.post("/v1/evaluate", json=TEST_SET).status_code == 200
        (run,) = client.get("/v1/runs").json()["runs"]
        pushed = client.get(f"/v1/runs/{run['run_id']}/export").json()
        pushed["info"]["run_id"] = "bad"
        assert client.post("/v1/runs", json=pushed).status_code == 201
        database = sqlite3.connect(home / "assay.db")
        with database:
            database.execute(f"update eval_runs set {column} = ? where run_id = 'bad'", [value])
        database.close()
        for path in LISTS:
            assert client.get(path).status_code == 200, path
        listed = client.get("/v1/runs").json()
        assert [one["run_id"] for one in listed["runs"]] == [run["run_id"]]
        assert listed["damaged"] == ["bad"]
        assert "medicalkg_store_up 1.0" in client.get("/metrics").text
        assert "bad" in client.get("/runs").text
        history = client.get("/v1/history/small").json()
        assert any("cannot be read" in line for line in history["left_out"])
        assert client.get("/v1/runs/bad").status_code == 500
        assert any("bad" in one for one in problems(home / "assay.db"))
        assert client.delete("/v1/runs/bad").status_code in (200, 204)
        assert client.get("/v1/runs").json()["damaged"] == []


@pytest.mark.parametrize("value", ["x", "{", "[1]"])
@pytest.mark.parametrize("column", ["request", "problem"])
def test_a_job_that_was_damaged_hides_no_other(
    column: str, value: str, make_service: MakeService
) -> None:
    service = make_service()
    with client_of(service) as client:
        for name in ("one", "two"):
            document = {"doc_id": name, "text": "heart failure"}
            assert client.post("/v1/documents", json={"documents": [document]}).is_success
        before = client.get("/v1/jobs").json()["jobs"]
        with sqlite3.connect(service.workspace.layout.database) as rows:
            damaged = (value, before[0]["job_id"])
            rows.execute(f"UPDATE jobs SET {column} = ? WHERE job_id = ?", damaged)
        after = client.get("/v1/jobs").json()["jobs"]
        assert [one["job_id"] for one in after] == [one["job_id"] for one in before]
        assert client.get("/jobs").status_code == 200
