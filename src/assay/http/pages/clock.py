"""How does a person say when something is due, and how does a page say it?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from assay.errors import UsageError

OFTEN = {
    "hourly": "every hour",
    "daily": "every day",
    "weekdays": "Monday to Friday",
    "weekly": "once a week",
    "monthly": "on the first of the month",
    "cron": "by a cron expression",
}
"""What a form offers."""
WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::\d\d)?")
_USUAL = re.compile(r"(\d{1,2}) (\*|\d{1,2}) (\*|1) \* (\*|1-5|[0-7])")


@dataclass(frozen=True, slots=True)
class Due:
    """When something is due, as a form has it; times are UTC."""

    often: str = "daily"
    weekday: int = 1
    time: str = "03:00"
    cron: str = ""

    @property
    def when(self) -> str:
        """The cron expression."""
        if self.often == "cron":
            return self.cron
        found = _TIME.fullmatch(self.time)
        if found is None:
            raise UsageError(f"{self.time!r:.20} is not a time of day", hint="as in 03:00")
        hour, minute = int(found[1]), int(found[2])
        return {
            "hourly": f"{minute} * * * *",
            "daily": f"{minute} {hour} * * *",
            "weekdays": f"{minute} {hour} * * 1-5",
            "weekly": f"{minute} {hour} * * {self.weekday}",
            "monthly": f"{minute} {hour} 1 * *",
        }[self.often]

    @property
    def words(self) -> str:
        """The same for people."""
        return {
            "hourly": f"every hour, {int(self.time[-2:])} minutes past",
            "daily": f"every day at {self.time} UTC",
            "weekdays": f"Monday to Friday at {self.time} UTC",
            "weekly": f"every {WEEKDAYS[self.weekday]} at {self.time} UTC",
            "monthly": f"on the first of the month at {self.time} UTC",
            "cron": f"{self.cron} (cron, UTC)",
        }[self.often]


def due_in(fields: Mapping[str, str]) -> Due:
    """What a form says."""
    often = fields.get("often", "")
    if often not in OFTEN:
        raise UsageError(f"{often!r:.20} is not a frequency", hint=f"known: {', '.join(OFTEN)}")
    weekday = fields.get("weekday", "1")
    return Due(
        often,
        int(weekday) if weekday in tuple("0123456") else 1,
        fields.get("time", "").strip(),
        fields.get("cron", "").strip(),
    )


def due_at(when: str) -> Due:
    """What a cron expression means, in the words of the form where it has them."""
    found = _USUAL.fullmatch(when)
    if found is None:
        return Due("cron", cron=when)
    minute, hour, day, weekday = found.groups()
    if hour == "*":
        usual = (day, weekday) == ("*", "*")
        return (
            Due("hourly", time=f"00:{int(minute):02}", cron=when)
            if usual
            else Due("cron", cron=when)
        )
    time = f"{int(hour):02}:{int(minute):02}"
    if day == "1":
        usual = weekday == "*"
        return Due("monthly", time=time, cron=when) if usual else Due("cron", cron=when)
    if weekday in {"*", "1-5"}:
        return Due("daily" if weekday == "*" else "weekdays", time=time, cron=when)
    return Due("weekly", int(weekday) % 7, time, when)
