"""When should a test set be refreshed next?

Every quarter: what people ask changes, and systems get tuned to the queries they are measured by.
The date comes from the set's provenance (``refreshed_at``, else ``created_at``).
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date

from assay.model.testset import TestSet

MONTHS = 3


@dataclass(frozen=True, slots=True)
class Due:
    """When a set was last refreshed and when it is due again; None if unknown."""

    name: str
    last: date | None
    on: date | None
    overdue: bool

    def __str__(self) -> str:
        if self.on is None:
            return f"{self.name}: its provenance names no date; refresh it every quarter"
        said = "refresh due since" if self.overdue else "refresh due on"
        return f"{self.name}: {said} {self.on}"


def refresh_due(test_set: TestSet, today: date) -> Due:
    """When the set is due: three months after its last refresh."""
    last = _date(test_set)
    if last is None:
        return Due(test_set.name, None, None, overdue=False)
    on = _later(last, MONTHS) if last.year < date.max.year else date.max
    return Due(test_set.name, last, on, overdue=today >= on)


def _date(test_set: TestSet) -> date | None:
    for key in ("refreshed_at", "created_at"):
        text = str(test_set.provenance.get(key, ""))[:10]
        try:
            return date.fromisoformat(text)
        except ValueError:
            continue
    return None


def _later(day: date, months: int) -> date:
    """The same day of a later month, or the last day of a shorter one."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
