"""Is an alarm raised where only the evaluation queries improve, and honest about ten queries?"""

from __future__ import annotations

import random

import pytest
from scipy.stats import ttest_ind

from assay.annotation.overfit import Fit, overfitting

Pairs = dict[str, tuple[float, float]]


def side(n: int, gain: float, spread: float, seed: int) -> Pairs:
    draw = random.Random(seed)
    return {f"q{at}": (0.5, 0.5 + gain + draw.uniform(-spread, spread)) for at in range(n)}


@pytest.mark.req("E13")
def test_both_sides_improve() -> None:
    found = overfitting(side(40, 0.1, 0.05, 1), side(10, 0.1, 0.05, 2), "nDCG@10")
    assert (found.fit, found.alarm) == (Fit.GENERAL, False)
    assert "10 held-out queries are few" in found.notes[0]
    assert found.detectable is not None


@pytest.mark.req("E13")
def test_a_clear_gap_is_likely_overfitting() -> None:
    a, b = side(40, 0.1, 0.05, 1), side(10, -0.1, 0.05, 2)
    found = overfitting(a, b, "nDCG@10")
    assert (found.fit, found.alarm) == (Fit.LIKELY, True)
    gains = [[after - before for before, after in one.values()] for one in (a, b)]
    reference = ttest_ind(gains[0], gains[1], equal_var=False)
    assert found.gap_p == pytest.approx(reference.pvalue)
    interval = reference.confidence_interval(0.95)
    assert found.gap_interval.low == pytest.approx(interval.low)
    assert found.gap_interval.high == pytest.approx(interval.high)


@pytest.mark.req("E13")
def test_a_gap_that_may_be_chance_is_an_alarm_that_says_so() -> None:
    found = overfitting(side(40, 0.04, 0.08, 1), side(10, -0.06, 0.2, 2), "nDCG@10")
    assert found.held_out.difference is not None
    assert found.held_out.difference <= 0
    assert (found.fit, found.alarm) == (Fit.POSSIBLE, True)
    assert "no more than chance" in " ".join(found.notes)


def test_no_gain_is_no_overfitting_whatever_the_held_out_part_does() -> None:
    found = overfitting(side(40, 0.0, 0.05, 1), side(10, -0.3, 0.05, 2), "nDCG@10")
    assert (found.fit, found.alarm) == (Fit.NO_GAIN, False)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_and_constant_sides_have_an_answer(n: int) -> None:
    constant = {f"q{at}": (0.25, 0.5) for at in range(n)}
    found = overfitting(side(40, 0.1, 0.05, 1), constant, "nDCG@10")
    plain = found.to_dict()
    assert plain["held_out"]["n"] == n
    assert "nan" not in str(plain)


@pytest.mark.req("E13")
def test_a_tiny_gain_on_held_out_queries_does_not_hide_a_large_gap() -> None:
    found = overfitting(side(40, 0.3, 0.05, 1), side(10, 0.001, 0.0005, 2), "nDCG@10")
    assert found.held_out.difference is not None
    assert found.held_out.difference > 0
    assert (found.fit, found.alarm) == (Fit.LIKELY, True)
    assert "by clearly less" in " ".join(found.notes)


@pytest.mark.req("E13")
@pytest.mark.parametrize(
    ("held_out", "fit"),
    [((0.6, 0.5), Fit.LIKELY), ((0.5, 0.5), Fit.LIKELY), ((0.3, 0.4), Fit.GENERAL)],
)
def test_a_constant_gain_is_a_gain_and_a_gap_without_spread_goes_by_its_sign(
    held_out: tuple[float, float], fit: Fit
) -> None:
    kept = {f"h{at}": held_out for at in range(10)}
    found = overfitting({f"e{at}": (0.5, 0.6) for at in range(40)}, kept, "nDCG@10")
    assert found.fit is fit
    assert found.gap_interval.low == found.gap_interval.high == found.gap
    assert "0.00 mostly" not in " ".join(found.notes)


def test_a_single_evaluation_query_shows_no_gain() -> None:
    found = overfitting({"q": (0.1, 0.9)}, side(10, 0.0, 0.05, 2), "nDCG@10")
    assert found.fit is Fit.NO_GAIN
