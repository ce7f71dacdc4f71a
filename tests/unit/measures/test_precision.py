import pytest

import assay
from tests.unit.measures.rankings import value

FOUND = ["uuid-1", "uuid-3", "uuid-5", "uuid-8", "uuid-12"]
RELEVANT = {"uuid-1": 1, "uuid-5": 1, "uuid-12": 1}


@pytest.mark.req("W4")
@pytest.mark.parametrize(("k", "expected"), [(1, 1.0), (3, 2 / 3), (5, 0.6), (10, 0.3)])
def test_it_divides_by_k_even_where_fewer_came_back(k: int, expected: float) -> None:
    assert value(f"P@{k}", RELEVANT, FOUND) == pytest.approx(expected)


@pytest.mark.req("W4")
def test_no_relevant_document_is_zero() -> None:
    assert value("P@5", {"x": 1}, FOUND) == 0.0
    judged = {"q": {"uuid-1": 0}}
    assert assay.score(judged, {"q": FOUND}, "P@5", undefined="zero")["P@5"] == 0.0
    assert value("P@5", judged["q"], FOUND) is None  # no evidence: not in the mean


def test_a_repeated_result_keeps_its_place_and_earns_nothing() -> None:
    assert value("P@3", {"a": 1, "b": 1}, ["a", "a", "b"]) == pytest.approx(2 / 3)
    assert value("P@2", {"a": 1, "b": 1}, ["a", "a", "b"]) == 0.5


def test_r_precision_looks_at_as_many_results_as_there_are_relevant() -> None:
    assert value("Rprec", {"a": 1, "b": 2, "c": 1}, ["a", "x", "b", "c"]) == pytest.approx(2 / 3)
    assert value("Rprec(rel=2)", {"a": 1, "b": 2, "c": 1}, ["a", "b"]) == 0.0
