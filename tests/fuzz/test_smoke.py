"""Do a few seconds of random input find anything? Longer runs: see README.md."""

from __future__ import annotations

from .fuzz_readers import fuzz


def test_a_few_seconds_of_random_input() -> None:
    report = fuzz(seconds=3, seed=1)
    assert not report.failures, report.failures[0]
    assert report.executions > 50
    assert len(report.outcomes) > 8
