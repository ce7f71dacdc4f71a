"""Does every comparison come to the verdict that its numbers demand?"""

from __future__ import annotations

import math

import pytest

from assay.errors import InputError, UsageError
from assay.stats.interval import Interval
from assay.stats.paired import paired_t
from assay.stats.verdict import Verdict, verdict


def _interval(low: float | None, high: float | None, level: float = 0.9) -> Interval:
    return Interval(low=low, high=high, level=level, method="t", n=50)


@pytest.mark.req("E8")
def test_the_sign_of_a_significant_difference_decides() -> None:
    better = verdict(0.05, 0.001)
    assert better.verdict is Verdict.BETTER
    assert better.sentence == (
        "Better: the difference +0.0500 is more than chance (p = 0.0010, alpha 0.05)."
    )
    assert verdict(-0.05, 0.001).verdict is Verdict.WORSE
    assert verdict(0.05, 0.001, higher_is_better=False).verdict is Verdict.WORSE
    assert verdict(-0.05, 1e-9, higher_is_better=False).verdict is Verdict.BETTER
    assert "p < 0.0001" in verdict(0.05, 1e-9).sentence


def test_alpha_itself_is_not_significant() -> None:
    assert verdict(0.05, 0.05).verdict is Verdict.INCONCLUSIVE
    assert verdict(0.05, 0.0499).verdict is Verdict.BETTER


def test_an_interval_inside_the_margin_is_equivalent() -> None:
    ruling = verdict(0.001, 0.6, _interval(-0.004, 0.006), margin=0.01)
    assert ruling.verdict is Verdict.EQUIVALENT
    assert "smaller than the margin ±0.01 (90% interval -0.0040 to +0.0060)" in ruling.sentence


def test_a_real_difference_inside_the_margin_is_equivalent_and_called_real() -> None:
    ruling = verdict(0.004, 0.001, _interval(0.002, 0.006), margin=0.01)
    assert ruling.verdict is Verdict.EQUIVALENT
    assert "is real but smaller than the margin" in ruling.sentence


def test_an_interval_that_touches_the_margin_is_not_inside() -> None:
    assert verdict(0.005, 0.3, _interval(0.0, 0.01), margin=0.01).verdict is Verdict.INCONCLUSIVE
    assert verdict(-0.02, 0.001, _interval(-0.03, -0.01), margin=0.01).verdict is Verdict.WORSE


def test_without_a_margin_nothing_but_identity_is_equivalent() -> None:
    assert verdict(0.0001, 0.9, _interval(-0.001, 0.001)).verdict is Verdict.INCONCLUSIVE


def test_inconclusive_names_what_could_have_been_shown() -> None:
    ruling = verdict(0.01, 0.3, detectable=0.0421)
    assert ruling.verdict is Verdict.INCONCLUSIVE
    assert "could be chance (p = 0.3000, alpha 0.05)" in ruling.sentence
    assert ruling.sentence.endswith("can be expected to show differences from 0.0421 on.")
    assert verdict(0.01, 0.3).sentence.endswith("(p = 0.3000, alpha 0.05).")


def test_a_difference_that_could_have_been_shown_is_not_called_too_small() -> None:
    assert "can be expected to show" not in verdict(0.05, 0.3, detectable=0.0421).sentence


@pytest.mark.req("E8")
def test_the_p_value_has_its_name_and_significant_is_left_to_the_t_test() -> None:
    for p in (0.001, 0.3):
        sentence = verdict(0.05, p, p_name="corrected randomization p").sentence
        assert f"corrected randomization p = {p:.4f}" in sentence
        assert "significant" not in sentence


def test_identical_runs_are_equivalent() -> None:
    test = paired_t([0.2, 0.5, 0.9], [0.2, 0.5, 0.9], level=0.9)
    ruling = verdict(test.difference, test.p, test.interval)
    assert ruling.verdict is Verdict.EQUIVALENT
    assert "no query differs" in ruling.sentence


def test_undefined_numbers_are_inconclusive() -> None:
    assert verdict(None, None).verdict is Verdict.INCONCLUSIVE
    assert "undefined" in verdict(None, 0.01).sentence
    assert "there is no p-value" in verdict(0.1, None).sentence
    one = paired_t([0.2], [0.9], level=0.9)
    assert verdict(one.difference, one.p, one.interval, margin=1.0).verdict is Verdict.INCONCLUSIVE


def test_a_constant_difference_can_be_equivalent_but_not_better() -> None:
    test = paired_t([0.2, 0.5, 0.9], [0.25, 0.55, 0.95], level=0.9)
    assert verdict(test.difference, test.p, test.interval).verdict is Verdict.INCONCLUSIVE
    ruling = verdict(test.difference, test.p, test.interval, margin=0.1)
    assert ruling.verdict is Verdict.EQUIVALENT


def test_verdicts_are_their_words() -> None:
    assert [str(v) for v in Verdict] == ["better", "worse", "equivalent", "inconclusive"]


def test_bad_input_is_refused() -> None:
    with pytest.raises(UsageError, match=r"level 0.8 .* alpha 0.05"):
        verdict(0.1, 0.1, _interval(0.0, 0.1, level=0.8), margin=0.2)
    with pytest.raises(UsageError, match="margin"):
        verdict(0.1, 0.1, margin=0.0)
    with pytest.raises(UsageError, match="alpha"):
        verdict(0.1, 0.1, alpha=1.5)
    with pytest.raises(InputError, match="difference"):
        verdict(math.nan, 0.1)
    with pytest.raises(InputError, match="p is"):
        verdict(0.1, 1.1)
    assert verdict(0.1, 0.1, _interval(0.0, 0.1, level=0.95), margin=0.2).verdict == "equivalent"
