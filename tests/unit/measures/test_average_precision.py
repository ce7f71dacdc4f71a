import pytest

from tests.unit.measures.rankings import value


def test_map_divides_by_all_relevant() -> None:
    found = value("MAP", {"a": 1, "b": 1, "c": 1}, ["a", "x", "b"])
    assert found == pytest.approx((1 + 2 / 3) / 3)


def test_with_a_cutoff_it_divides_by_the_smaller_of_relevant_and_k() -> None:
    grades = dict.fromkeys("abcde", 1)
    assert value("AP@2", grades, ["a", "b", "x", "c"]) == 1.0
    assert value("AP@2", grades, ["x", "b", "c"]) == 0.25
    assert value("AP@10", {"a": 1}, ["x", "a"]) == 0.5


def test_a_query_without_relevant_documents_is_undefined() -> None:
    assert value("MAP", {"a": 0}, ["a"]) is None
