"""When is an evaluation due by the clock, and who starts it?

An entry is a cron expression and an evaluation. Five fields: minute, hour, day of the month, month,
day of the week (0 or 7 is Sunday), each ``*``, a number, a range ``1-5``, a step ``*/15`` or a list
of these. As in cron, where both days are given one of them is enough. Times are UTC.

Entries come from the setting ``schedule`` and from the workspace (``timetable.py``), where people
write them on a page. A thread looks once in a while and enters a job per entry and minute. The
job's id names the minute, so that two services over one workspace, or a restart, never start the
same evaluation twice. What was due while no service ran is not made up for.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError, ConfigError
from assay.model.document import ID_FORM

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

LOOK_EVERY_S = 5.0
_FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("weekday", 0, 7))
_PART = re.compile(r"(\*|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,2}))?")
MAX_ENTRIES = 20
MAX_DAYS = 366 * 5


@dataclass(frozen=True, slots=True)
class Clock:
    """The minutes that a cron expression means."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool

    def following(self, moment: datetime) -> datetime | None:
        """The next minute that is meant; None where there is none within five years."""
        day = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        for _ in range(MAX_DAYS):
            if day.month in self.months and self._day(day):
                found = self._within(day)
                if found is not None:
                    return found
            day = day.replace(hour=0, minute=0) + timedelta(days=1)
        return None

    def _within(self, start: datetime) -> datetime | None:
        for hour in sorted(self.hours):
            for minute in sorted(self.minutes):
                if (hour, minute) >= (start.hour, start.minute):
                    return start.replace(hour=hour, minute=minute)
        return None

    def _day(self, moment: datetime) -> bool:
        by_month = moment.day in self.days
        by_week = moment.isoweekday() % 7 in self.weekdays
        return by_month or by_week if self.either_day else by_month and by_week


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleEntry:
    """An evaluation that the clock starts.

    ``when`` is a cron expression, ``request`` the JSON of an ``EvaluationRequest`` without its test
    set, which is read anew each time. ``owner`` made the entry; nobody did where it is a setting.
    """

    entry_id: str
    when: str
    test_set: str
    request: Mapping[str, Any] = field(default_factory=dict)
    owner: str = ""
    changed_at: str = ""

    @property
    def title(self) -> str:
        """What its runs are called."""
        return str(self.request.get("name") or self.test_set)

    @property
    def clock(self) -> Clock:
        """The minutes that are meant."""
        return parse_clock(self.when)

    def job_id(self, minute: datetime) -> str:
        """The job that this entry starts in a minute."""
        return f"scheduled_{self.entry_id}_{minute:%Y%m%dT%H%M}"


def parse_schedule(text: str | None) -> tuple[ScheduleEntry, ...]:
    """The entries of the setting ``schedule``."""
    if text is None:
        return ()
    entries = tuple(_entry(part.strip()) for part in text.split(";") if part.strip())
    if len(entries) > MAX_ENTRIES:
        raise ConfigError(f"schedule: {len(entries)} entries, and {MAX_ENTRIES} are allowed")
    return entries


def _entry(text: str) -> ScheduleEntry:
    words = text.split()
    if len(words) != len(_FIELDS) + 1 or not ID_FORM.fullmatch(words[-1]):
        raise ConfigError(
            f"schedule: {text!r:.80} is not 'minute hour day month weekday TEST_SET'",
            hint="as in: 0 3 * * 1 test_set_v1",
        )
    when = " ".join(words[:-1])
    parse_clock(when)
    return ScheduleEntry(entry_id=words[-1], when=when, test_set=words[-1])


@lru_cache(maxsize=128)
def parse_clock(text: str) -> Clock:
    """The minutes that five fields of cron mean; refused if there never is one."""
    words = text.split()
    if len(words) != len(_FIELDS):
        raise ConfigError(
            f"schedule: {text!r:.80} is not 'minute hour day month weekday'",
            hint="as in: 0 3 * * 1",
        )
    fields = [
        _values(word, name, low, high)
        for word, (name, low, high) in zip(words, _FIELDS, strict=True)
    ]
    either = not words[2].startswith("*") and not words[4].startswith("*")
    weekdays = frozenset(day % 7 for day in fields[4])
    clock = Clock(fields[0], fields[1], fields[2], fields[3], weekdays, either)
    if clock.following(datetime.now(UTC)) is None:
        raise ConfigError(f"schedule: {text!r:.80} never comes")
    return clock


def _values(text: str, name: str, low: int, high: int) -> frozenset[int]:
    chosen: set[int] = set()
    for part in text.split(","):
        found = _PART.fullmatch(part)
        if found is None:
            raise ConfigError(f"schedule: the {name} {part!r:.40} is not a number, range or *")
        first = low if found[1] == "*" else int(found[2])
        last = high if found[1] == "*" else int(found[3] or (high if found[4] else first))
        step = int(found[4] or 1)
        if not low <= first <= last <= high or step == 0:
            raise ConfigError(f"schedule: the {name} {part!r:.40} is not within {low}-{high}")
        chosen.update(range(first, last + 1, step))
    return frozenset(chosen)


class Scheduler:
    """Starts what is due; ``start`` gets the id of the evaluation and its entry."""

    def __init__(
        self,
        entries: Callable[[], Iterable[ScheduleEntry]],
        start: Callable[[str, ScheduleEntry], object],
        log: FilteringBoundLogger,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._entries = entries
        self._start = start
        self._log = log
        self._now = now
        self._end = threading.Event()
        self._last = now().replace(second=0, microsecond=0)
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Look at the clock from now on."""
        self._thread = threading.Thread(target=self._work, name="schedule", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Look no longer."""
        self._end.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def look(self) -> list[str]:
        """Start what became due since the last look; the names of those evaluations."""
        moment = self._now().replace(second=0, microsecond=0)
        if moment <= self._last:
            return []
        due: list[str] = []
        for entry in self._entries():
            following = entry.clock.following(self._last)
            if following is not None and following <= moment:
                due.append(entry.job_id(following))
                self._start_entry(due[-1], entry)
        self._last = moment
        return due

    def _start_entry(self, name: str, entry: ScheduleEntry) -> None:
        try:
            self._start(name, entry)
        except AssayError as error:
            self._log.warning("schedule", evaluation=name, problem=str(error))
        else:
            self._log.info("schedule", evaluation=name)

    def _work(self) -> None:
        while not self._end.wait(LOOK_EVERY_S):
            self.look()
