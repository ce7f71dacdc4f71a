"""How many requests are worked on at once, and which callers send too many?

A gate has slots, and a line of requests that wait for one. A burst waits in the line. If the line
stays full, more is requested than can be done, and a long line would only make everyone late:
during such a surge few wait, the newest are served first, and the rest are refused early. See
design/054.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from assay import limits

PRESSED_S = 0.5
"""A line that overflows for this long, and never shrinks to half, is more than a burst."""
WINDOW_S = 0.5
"""The least that a surge lasts, and the time over which its end is judged."""
RECENT = 0.05
"""The weight of the newest duration in the typical one."""


class FullError(Exception):
    """The line before a gate is full, or the wait was too long."""

    def __init__(self, gate: str) -> None:
        super().__init__(gate)
        self.gate = gate


class Surge:
    """Is more requested than can be done?"""

    def __init__(self, slots: int) -> None:
        self.on = False
        self._slots = slots
        self._arrivals = 0
        self._since = 0.0
        self._typical_s = 0.0
        self._full_since: float | None = None

    def overflowed(self) -> None:
        """Somebody came to a full line; if that goes on, a surge begins."""
        now = time.monotonic()
        if self._full_since is None:
            self._full_since = now
        elif now - self._full_since >= PRESSED_S:
            self._begin()

    def eased(self) -> None:
        """The line is down to half of what it holds."""
        self._full_since = None

    def _begin(self) -> None:
        self.on, self._arrivals, self._since = True, 0, time.monotonic()

    def arrived(self) -> None:
        """Somebody came; the surge is over if all recent arrivals would have found a slot."""
        self._arrivals += 1
        if self.on and (past := time.monotonic() - self._since) > WINDOW_S:
            if self._arrivals * self._typical_s > self._slots * past:
                self._begin()
            else:
                self.on = False

    def took(self, seconds: float) -> None:
        """A request took this long."""
        before = self._typical_s or seconds
        self._typical_s = before + RECENT * (seconds - before)


class Gate:
    """Lets so many callers in at the same time, in the order in which they came.

    With ``shed``, during a surge only the newest callers wait, one for each slot.
    """

    def __init__(
        self, name: str, slots: int, queue: int, max_wait: float = 10.0, *, shed: bool = False
    ) -> None:
        self.name = name
        self.slots = slots
        self.queue = queue
        self.active = 0
        self._max_wait = max_wait
        self._shed = shed
        self._surge = Surge(slots)
        self._line: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._line)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold a slot; ``FullError`` if none becomes free soon."""
        self._surge.arrived()
        if self.active < self.slots:
            self.active += 1
        else:
            await self._wait()
        began = time.monotonic()
        try:
            yield
        finally:
            self._surge.took(time.monotonic() - began)
            self._leave()

    async def _wait(self) -> None:
        place = self._join()
        try:
            async with asyncio.timeout(self._max_wait):
                await place
        except BaseException as problem:
            if place in self._line:
                self._line.remove(place)
            elif place.done() and not place.cancelled() and place.exception() is None:
                self._leave()  # the slot was granted just as the caller left
            if isinstance(problem, TimeoutError):
                raise FullError(self.name) from None
            raise

    def _join(self) -> asyncio.Future[None]:
        """A place at the end of the line; in a surge, those at its head are refused instead."""
        if len(self._line) >= self.queue:
            if self._shed and self.queue and not self._surge.on:
                self._surge.overflowed()
            if not self._surge.on:
                raise FullError(self.name)
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(place)
        if self._surge.on:
            while len(self._line) > min(self.slots, self.queue):
                self._refuse(self._line.popleft())
        return place

    def _refuse(self, place: asyncio.Future[None]) -> None:
        if not place.done():
            place.set_exception(FullError(self.name))

    def _leave(self) -> None:
        """Hand the slot to the next in line, or free it."""
        while self._line:
            place = self._line.pop() if self._surge.on else self._line.popleft()
            if not place.done():
                place.set_result(None)
                break
        else:
            self.active -= 1
        if len(self._line) <= self.queue // 2:
            self._surge.eased()


class RateLimiter:
    """A bucket of tokens per caller, filled evenly; the least recent caller is forgotten first.

    A bucket holds a quarter of a minute's tokens, or ten if that is more: one page in a browser is
    several requests.
    """

    def __init__(self, per_minute: int, capacity: int = limits.MAX_PRINCIPALS) -> None:
        self._rate = per_minute / 60
        self._burst = min(float(per_minute), max(10.0, per_minute / 4))
        self._capacity = capacity
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_for(self, caller: str) -> float:
        """Take a token: 0.0 if there was one, else the seconds until there is."""
        if not self._rate:
            return 0.0
        now = time.monotonic()
        tokens, then = self._buckets.pop(caller, (self._burst, now))
        tokens = min(self._burst, tokens + (now - then) * self._rate)
        allowed = tokens >= 1
        self._buckets[caller] = (tokens - 1 if allowed else tokens, now)
        if len(self._buckets) > self._capacity:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) / self._rate
