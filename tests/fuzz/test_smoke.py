"""Do a few seconds of random input find anything? Longer runs: see README.md."""

from __future__ import annotations

import pytest

from tests.conftest import REPOSITORY
from tests.fuzz.harness import Harness
from tests.fuzz.loop import fuzz
from tests.fuzz.registry import BY_NAME, HARNESSES, as_table
from tests.fuzz.seeds import accepted


def test_a_few_seconds_of_random_input() -> None:
    report = fuzz(HARNESSES, seconds=5, seed=1)
    assert not report.failures, report.failures[0]
    assert len(report.outcomes) > 15
    assert len(report.executions) > len(BY_NAME) / 2


@pytest.mark.parametrize("harness", HARNESSES, ids=lambda harness: str(harness.name))
def test_a_seed_is_sound(harness: Harness) -> None:
    """Changes of what is refused at once would test nothing."""
    assert accepted(harness)


def test_the_table_is_in_the_documentation() -> None:
    assert as_table() in (REPOSITORY / "tests" / "fuzz" / "README.md").read_text(encoding="utf-8")
