import pytest

from tests.unit.measures.rankings import reason, value


@pytest.mark.req("K1")
def test_the_share_is_of_what_came_back() -> None:
    assert value("Judged@10", {"a": 0, "b": 1}, ["a", "x", "b"]) == pytest.approx(2 / 3)
    assert value("Judged@1", {"a": 0, "b": 1}, ["a", "x", "b"]) == 1.0


def test_negative_grades_are_not_judgments() -> None:
    assert value("Judged@10", {"a": -1, "b": 1}, ["a", "b"]) == 0.5


def test_with_nothing_retrieved_it_is_undefined() -> None:
    assert value("Judged@10", {"a": 1}, []) is None
    assert reason("Judged@10", {"a": 1}, []) == "nothing was retrieved"
