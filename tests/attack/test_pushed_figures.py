"""Does a pushed run show figures that its own outcomes do not give?"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

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


def _better(run: Run) -> None:
    run["info"]["aggregate"]["metrics"]["ndcg_at_10"] = 0.1234


def _better_type(run: Run) -> None:
    run["info"]["aggregate"]["per_query_type"]["exact_term"]["ndcg_at_10"] = 0.1234


def _better_mean(run: Run) -> None:
    run["info"]["aggregate"]["aggregates"]["ndcg_at_10"]["mean"] = 0.1234


def _of_another_measure(run: Run) -> None:
    run["info"]["aggregate"]["metrics"]["recall_at_999"] = 1.0


def _fewer_failed(run: Run) -> None:
    for one in run["outcomes"]:
        one["result"] = {"ids": [], "error": "it was down"}


def _other_rankings(run: Run) -> None:
    for one in run["outcomes"]:
        one["result"] = {"ids": []}


def _no_failure(run: Run) -> None:
    run["info"]["aggregate"]["failed_queries"] = 2


@pytest.mark.parametrize(
    "change",
    [
        _better, _better_type, _better_mean, _of_another_measure, _fewer_failed, _other_rankings,
        _no_failure,
    ],
)  # fmt: skip
def test_figures_that_the_outcomes_do_not_give_are_refused(
    small: TestClient, pushable: Run, change: Callable[[Run], None]
) -> None:
    change(pushable)
    problem = assert_problem(small.post("/v1/runs", json=pushable), 422, "bad_input")
    assert "its outcomes" in problem["detail"]
    assert small.get("/v1/runs").json()["total"] == 1


def test_a_query_has_one_outcome(small: TestClient, pushable: Run) -> None:
    twice = copy.deepcopy(pushable["outcomes"][0])
    twice["result"] = {"ids": []}
    pushable["outcomes"].append(twice)
    problem = assert_problem(small.post("/v1/runs", json=pushable), 422, "bad_input")
    assert "two outcomes" in problem["detail"]


def test_a_run_as_it_was_exported_is_taken(small: TestClient, pushable: Run) -> None:
    assert small.post("/v1/runs", json=pushable).status_code == 201
    pushable["info"]["run_id"] = "without"
    pushable["info"]["aggregate"] = {}
    assert small.post("/v1/runs", json=pushable).status_code == 201
