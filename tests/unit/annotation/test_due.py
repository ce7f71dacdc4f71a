"""Is a set due three months after it was made?"""

from __future__ import annotations

from datetime import date

import pytest

from assay.annotation.due import refresh_due
from assay.model.testset import TestSet


def told(**provenance: str) -> TestSet:
    return TestSet("s", "v1", (), provenance=provenance)


@pytest.mark.req("E12")
@pytest.mark.parametrize(
    ("last", "due"),
    [
        ("2026-01-15", "2026-04-15"),
        ("2026-11-30", "2027-02-28"),
        ("2026-10-01T12:00:00Z", "2027-01-01"),
    ],
)
def test_a_quarter_later(last: str, due: str) -> None:
    found = refresh_due(told(refreshed_at=last, created_at="2020-01-01"), date(2026, 1, 1))
    assert found.on == date.fromisoformat(due)
    assert not found.overdue
    assert refresh_due(told(created_at=last), date.fromisoformat(due)).overdue


def test_a_set_without_a_date_says_so() -> None:
    found = refresh_due(told(created_at="yesterday"), date(2026, 1, 1))
    assert (found.on, found.overdue) == (None, False)
    assert "names no date" in str(found)
