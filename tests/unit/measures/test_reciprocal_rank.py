import pytest

import assay
from tests.unit.measures.rankings import value


@pytest.mark.req("E3")
def test_mrr_for_a_single_query() -> None:
    found = value("MRR", {"doc1": 1, "doc2": 1, "doc3": 1}, ["doc5", "doc6", "doc1", "doc7"])
    assert found == pytest.approx(1 / 3)


@pytest.mark.req("E3")
def test_mrr_across_queries() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    run = {"q1": ["a"], "q2": ["x", "a"], "q3": ["x", "y", "a"]}
    assert assay.score(qrels, run, "MRR")["MRR"] == pytest.approx(0.6111, abs=1e-4)


@pytest.mark.req("K3")
def test_the_cutoff_hides_what_is_below_it() -> None:
    ranking = [f"x{i}" for i in range(10)] + ["a"]
    assert value("RR@10", {"a": 1}, ranking) == 0.0
    assert value("MRR", {"a": 1}, ranking) == pytest.approx(1 / 11)


def test_no_relevant_result_is_zero() -> None:
    assert value("MRR", {"a": 1}, ["b"]) == 0.0
    assert value("MRR", {"a": 1}, []) == 0.0
