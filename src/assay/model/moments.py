"""What time is it, as text that sorts?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal


def now(to: Literal["seconds", "microseconds"] = "microseconds") -> str:
    """The present moment in UTC; runs are dated to the second."""
    return _text(datetime.now(UTC), to)


def days_ago(days: float) -> str:
    """The moment that many days before now; negative days lie ahead."""
    return _text(datetime.now(UTC) - timedelta(days=days), "microseconds")


def _text(moment: datetime, to: str) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec=to) + "Z"
