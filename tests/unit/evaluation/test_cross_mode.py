"""Is the difference of two sides that of the queries which both were asked?"""

from __future__ import annotations

import pytest

from assay.evaluation.cross_mode import mode_difference
from assay.evaluation.result import EvaluationResult, result_of
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.testset import GoldenQuery, Judgment, TestSet


def side(**found: str) -> EvaluationResult:
    """Queries that all look for ``right``, and the one result of each."""
    queries = tuple(
        GoldenQuery(name, name, relevant_docs=(Judgment("right", 1),)) for name in found
    )
    outcomes = [QueryOutcome(name, (RankedResult(one, one),)) for name, one in found.items()]
    return result_of(TestSet("t", "v1", queries), outcomes)


@pytest.mark.req("W9")
def test_only_shared_queries_count() -> None:
    offline = side(a="right", b="right", c="wrong", d="wrong")
    live = side(a="wrong", b="right", e="right")
    found = mode_difference({"OFFLINE": offline, "LIVE": live})
    assert (offline["MRR"], live["MRR"]) == (0.5, 2 / 3), "the means would say LIVE is better"
    assert found.to_dict()["metrics"]["mrr"] == -0.5
    assert found.shared == ("a", "b")
    assert found.only == {"OFFLINE": ("c", "d"), "LIVE": ("e",)}
    assert found.warnings() == [
        "2 queries were asked on both sides, and the difference is over these; "
        "only OFFLINE: c, d; only LIVE: e"
    ]


def test_the_same_queries_need_no_word() -> None:
    found = mode_difference({"OFFLINE": side(a="right"), "LIVE": side(a="wrong")})
    assert found.warnings() == []
    assert found.to_dict()["metrics"]["mrr"] == -1.0


def test_without_a_shared_query_there_is_no_difference() -> None:
    found = mode_difference({"OFFLINE": side(a="right"), "LIVE": side(b="right")})
    assert set(found.to_dict()["metrics"].values()) == {None}
    assert "no query was asked on both sides" in found.warnings()[0]
