from math import log2

import pytest

from assay.errors import UsageError
from tests.unit.measures.rankings import reason, value

GRADES = {"doc1": 3, "doc2": 2, "doc3": 1, "doc4": 0}


@pytest.mark.req("E2")
def test_exponential_gain_is_the_default() -> None:
    dcg = 7 / log2(2) + 0 + 3 / log2(4)
    ideal = 7 / log2(2) + 3 / log2(3) + 1 / log2(4)
    assert value("nDCG@10", GRADES, ["doc1", "doc4", "doc2"]) == pytest.approx(dcg / ideal)
    assert round(value("nDCG@10", GRADES, ["doc1", "doc4", "doc2"]) or 0, 4) == 0.9049


@pytest.mark.req("E2", "K2")
def test_linear_gain_is_trec_evals() -> None:
    found = value("nDCG(gain=linear)@10", GRADES, ["doc1", "doc4", "doc2"])
    assert round(found or 0, 4) == 0.8400


@pytest.mark.req("M2")
def test_binary_gain_forgets_the_grades() -> None:
    found = value("nDCG(gain=binary)@10", GRADES, ["doc3", "doc4", "doc1"])
    assert found == pytest.approx((1 + 1 / 2) / (1 + 1 / log2(3) + 1 / 2))
    from_two = value("nDCG(gain=binary,rel=2)@10", GRADES, ["doc3", "doc1"])
    assert from_two == pytest.approx((1 / log2(3)) / (1 + 1 / log2(3)))


@pytest.mark.req("E2")
def test_the_ideal_is_cut_at_k_and_reaches_one() -> None:
    assert value("nDCG@1", GRADES, ["doc1"]) == 1.0
    assert value("nDCG@2", GRADES, ["doc1", "doc2"]) == 1.0
    assert value("nDCG", GRADES, ["doc1", "doc2", "doc3"]) == 1.0


def test_negative_grades_gain_nothing() -> None:
    assert value("nDCG@10", {"a": -1, "b": 1}, ["a", "b"]) == pytest.approx(1 / log2(3))


def test_without_any_gain_it_is_undefined() -> None:
    assert value("nDCG@10", {"a": 0}, ["a"]) is None
    assert reason("nDCG@10", {"a": 0}, ["a"]) == "no judged document has a gain"


def test_a_grade_beyond_any_scale_is_refused_for_the_exponential_gain() -> None:
    with pytest.raises(UsageError, match="too large for an exponential gain"):
        value("nDCG@10", {"a": 100}, ["a"])
    assert value("nDCG(gain=linear)@10", {"a": 100}, ["a"]) == 1.0
