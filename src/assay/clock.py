"""What time is it, as text that sorts?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def now() -> str:
    """The present moment in UTC, to the microsecond."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def days_ago(days: float) -> str:
    """The moment that many days before now; negative days lie ahead."""
    return (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
