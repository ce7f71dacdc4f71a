"""When does an interval lie within a margin?"""

from __future__ import annotations

import pytest

from assay.stats.interval import Interval


def _interval(low: float | None, high: float | None) -> Interval:
    return Interval(low=low, high=high, level=0.9, method="t", n=10)


@pytest.mark.parametrize(
    ("low", "high", "inside"),
    [(-0.1, 0.1, True), (-0.2, 0.1, False), (0.0, 0.2, False), (0.3, 0.4, False), (0.0, 0.0, True)],
)
def test_both_ends_must_lie_strictly_inside(low: float, high: float, inside: bool) -> None:
    assert _interval(low, high).lies_within(0.2) is inside


def test_an_undefined_interval_lies_nowhere() -> None:
    assert not _interval(None, None).defined
    assert not _interval(None, None).lies_within(1.0)
    assert _interval(0.0, 1.0).defined
