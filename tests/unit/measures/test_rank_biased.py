import pytest

from assay.errors import UsageError
from tests.unit.measures.rankings import value


def test_the_patience_is_a_parameter() -> None:
    assert value("RBP", {"a": 1}, ["a"]) == pytest.approx(0.2)
    assert value("RBP(p=0.5)", {"a": 1, "b": 1}, ["a", "x", "b"]) == pytest.approx(0.5 + 0.125)
    assert value("RBP(p=0.5)@2", {"a": 1, "b": 1}, ["a", "x", "b"]) == 0.5


def test_a_patience_of_one_never_ends_and_is_refused() -> None:
    with pytest.raises(UsageError, match="p=1 must be between"):
        value("RBP(p=1)", {"a": 1}, ["a"])
