"""What time is it, as text that sorts?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal


def now(to: Literal["seconds", "microseconds"] = "microseconds") -> str:
    """The present moment in UTC; runs are dated to the second."""
    return text_of(datetime.now(UTC), to)


def days_ago(days: float) -> str:
    """The moment that many days before now; negative days lie ahead."""
    return text_of(datetime.now(UTC) - timedelta(days=days), "microseconds")


def text_of(moment: datetime, to: Literal["seconds", "microseconds"]) -> str:
    """A moment in UTC as text."""
    return moment.replace(tzinfo=None).isoformat(timespec=to) + "Z"
