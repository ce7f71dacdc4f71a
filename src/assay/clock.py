"""What time is it, as text that sorts?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def now() -> str:
    """The current time in UTC, to the microsecond."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def days_ago(days: float) -> str:
    """The time this many days ago; negative days are in the future."""
    return (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
