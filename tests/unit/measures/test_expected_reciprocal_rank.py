import pytest

from assay.errors import UsageError
from tests.unit.measures.rankings import value


def test_a_satisfied_reader_stops() -> None:
    first, second = 3 / 16, 1 / 16
    expected = first + (1 - first) * second / 2
    assert value("ERR@20", {"a": 2, "b": 1}, ["a", "b"]) == pytest.approx(expected)


def test_the_top_of_the_scale_is_a_parameter() -> None:
    assert value("ERR(max_grade=2)@20", {"a": 2}, ["a"]) == 0.75
    with pytest.raises(UsageError, match=r"grade 5 is above the scale's top, 4.*max_grade=5"):
        value("ERR@20", {"a": 5}, ["a"])
