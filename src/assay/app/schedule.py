"""Who starts the evaluations that the clock asks for?

A thread looks once in a while and enters a job per entry and minute. The job's id names the minute,
so that two services over one workspace, or a restart, never start the same evaluation twice. What
was due while no service ran is not made up for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from assay.app.cron import Entry
from assay.errors import AssayError

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

LOOK_EVERY_S = 5.0


class Scheduler:
    """Starts what is due; ``start`` gets the id of the evaluation and the name of the test set."""

    def __init__(
        self,
        entries: Sequence[Entry],
        start: Callable[[str, str], object],
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
        """Look at the clock from now on, where anything is scheduled."""
        if self._entries:
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
        due: list[str] = []
        for entry in self._entries:
            following = entry.following(self._last)
            if following is not None and following <= moment:
                name = f"scheduled_{entry.test_set}_{following:%Y%m%dT%H%M}"
                due.append(name)
                self._begin_one(name, entry)
        self._last = max(self._last, moment)
        return due

    def _begin_one(self, name: str, entry: Entry) -> None:
        try:
            self._start(name, entry.test_set)
        except AssayError as error:
            self._log.warning("schedule", evaluation=name, problem=str(error))
        else:
            self._log.info("schedule", evaluation=name)

    def _work(self) -> None:
        while not self._end.wait(LOOK_EVERY_S):
            self.look()
