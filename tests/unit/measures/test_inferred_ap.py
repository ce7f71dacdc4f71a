import pytest

from tests.unit.measures.rankings import value


def test_with_a_whole_pool_it_is_average_precision() -> None:
    grades = {"a": 1, "n": 0, "b": 1}
    assert value("infAP", grades, ["a", "n", "b"]) == pytest.approx((1 + 2 / 3) / 2, abs=1e-4)


def test_pooled_but_unjudged_documents_take_the_rate_of_the_judged() -> None:
    # above b: one relevant (a) and one pooled, unjudged document (u)
    found = value("infAP", {"a": 1, "u": -1, "b": 1}, ["a", "u", "b"])
    assert found == pytest.approx((1 + 1 / 3 + 2 / 3) / 2, abs=1e-4)


def test_documents_outside_the_pool_count_as_not_relevant() -> None:
    found = value("infAP", {"a": 1, "b": 1}, ["a", "outside", "b"])
    assert found == pytest.approx((1 + 1 / 3 + 1 / 3) / 2, abs=1e-4)
