"""How many requests are worked on at once, and which callers send too many?

A gate has slots, and a line of requests that wait for one. A burst waits in the line. If the line
stays full, more is requested than can be done, and a long line would only make everyone late:
during such a surge few wait, the newest are served first, and the rest are refused early. See
design/054. Elsewhere the line is fair: whoever has the fewest inside is next, and where it is full,
who has the most in it gives up a place. A slot is free again when the work has ended, not when its
caller has left.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from assay import limits

PRESSED_S = 0.5
"""A line that overflows for this long, and never shrinks to half, is more than a burst."""
WINDOW_S = 0.5
"""The least that a surge lasts, and the time over which its end is judged."""
RECENT = 0.05
"""The weight of the newest duration in the typical one."""


payer: ContextVar[str] = ContextVar("payer", default="")
"""Whose request this is, who pays for what is computed."""
_begun: ContextVar[list[Future[Any]] | None] = ContextVar("begun", default=None)


def holds_slot(work: Future[Any]) -> None:
    """Let the slot of this request stay taken until the work on a thread has ended."""
    begun = _begun.get()
    if begun is not None:
        begun.append(work)


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


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """A place in the line."""

    caller: str
    granted: asyncio.Future[None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Gate:
    """Lets so many requests in at the same time: of each caller in the order in which they came.

    One caller never has more than ``own`` slots. With ``shed``, during a surge only the newest
    requests wait, one for each slot. Whoever has most in a line that is full makes room for others.
    """

    def __init__(
        self,
        name: str,
        slots: int,
        queue: int,
        max_wait: float = 10.0,
        *,
        shed: bool = False,
        own: int | None = None,
    ) -> None:
        self.name = name
        self.own = slots if own is None else own
        self.slots = slots
        self.queue = queue
        self.active = 0
        self._max_wait = max_wait
        self._shed = shed
        self._surge = Surge(slots)
        self._line: deque[_Place] = deque()
        self._inside: Counter[str] = Counter()
        self._latest = ""

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._line)

    @asynccontextmanager
    async def slot(self, caller: str = "") -> AsyncIterator[None]:
        """Hold a slot; ``FullError`` if none becomes free soon."""
        self._surge.arrived()
        if self.active < self.slots and self._may_enter(caller):
            self.active += 1
            self._inside[caller] += 1
            self._latest = caller
        else:
            await self._wait(caller)
        began = time.monotonic()
        begun: list[Future[Any]] = []
        token = _begun.set(begun)
        try:
            yield
        finally:
            _begun.reset(token)
            self._surge.took(time.monotonic() - began)
            self._leave_after([one for one in begun if not one.done()], caller)

    def _leave_after(self, running: list[Future[Any]], caller: str) -> None:
        """Free the slot, once threads that nobody can end have ended."""
        if not running:
            self._leave(caller)
            return
        last, loop = running.pop(), asyncio.get_running_loop()

        def ended(_: Future[Any]) -> None:
            with suppress(RuntimeError):  # the loop has ended with the service
                loop.call_soon_threadsafe(
                    lambda: self._leave_after([one for one in running if not one.done()], caller)
                )

        last.add_done_callback(ended)

    async def _wait(self, caller: str) -> None:
        place = self._join(caller)
        granted = place.granted
        try:
            async with asyncio.timeout(self._max_wait):
                await granted
        except BaseException as problem:
            if place in self._line:
                self._line.remove(place)
            elif granted.done() and not granted.cancelled() and granted.exception() is None:
                self._leave(caller)  # the slot was granted just as the caller left
            if isinstance(problem, TimeoutError):
                raise FullError(self.name) from None
            raise

    def _join(self, caller: str) -> _Place:
        """A place at the end of the line; in a surge, those at its head are refused instead."""
        if len(self._line) >= self.queue:
            if self._shed and self.queue and not self._surge.on:
                self._surge.overflowed()
            if not self._surge.on:
                self._make_room(caller)
        place = _Place(caller)
        self._line.append(place)
        if self._surge.on:
            while len(self._line) > min(self.slots, self.queue):
                self._refuse(self._taken_out(self._line))
        return place

    def _make_room(self, caller: str) -> None:
        """Refuse the newest request of whoever has most in the line; else the one that came."""
        waiting = Counter(place.caller for place in self._line)
        if max(waiting.values(), default=0) <= waiting[caller] + 1:
            raise FullError(self.name)
        self._refuse(self._taken_out(reversed(self._line)))

    def _taken_out(self, line: Iterable[_Place]) -> _Place:
        """The first in this order of whoever has most in the line, which it leaves."""
        waiting = Counter(place.caller for place in self._line)
        most = max(waiting.values())
        place = next(place for place in line if waiting[place.caller] == most)
        self._line.remove(place)
        return place

    def _refuse(self, place: _Place) -> None:
        if not place.granted.done():
            place.granted.set_exception(FullError(self.name))

    def _may_enter(self, caller: str) -> bool:
        return self._inside[caller] < self.own

    def _next(self) -> _Place | None:
        """Who is let in: of who has the fewest inside the oldest, and in a surge the newest.

        None where only those wait who have as many slots as one caller may have.
        """
        if not self._line:
            return None
        place = min(
            reversed(self._line) if self._surge.on else self._line,
            key=lambda one: (self._inside[one.caller], one.caller == self._latest),
        )
        if not self._may_enter(place.caller):
            return None
        self._line.remove(place)
        return place

    def _leave(self, caller: str) -> None:
        """Hand the slot to the next in line, or free it."""
        self._inside[caller] -= 1
        if self._inside[caller] <= 0:
            del self._inside[caller]
        while (place := self._next()) is not None:
            if not place.granted.done():
                self._inside[place.caller] += 1
                self._latest = place.caller
                place.granted.set_result(None)
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
        self._alone = threading.Lock()

    def wait_for(self, caller: str, amount: float = 1.0) -> float:
        """Take tokens: 0.0 if there were enough, else the seconds until there are.

        Who wants more than a bucket holds gets it from a full one, and pays it off.
        """
        if not self._rate:
            return 0.0
        with self._alone:
            return self._take(caller, amount)

    def _take(self, caller: str, amount: float) -> float:
        now = time.monotonic()
        tokens, then = self._buckets.pop(caller, (self._burst, now))
        tokens = min(self._burst, tokens + (now - then) * self._rate)
        wanted = min(amount, self._burst)
        allowed = tokens >= wanted
        self._buckets[caller] = (tokens - amount if allowed else tokens, now)
        if len(self._buckets) > self._capacity:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (wanted - tokens) / self._rate

    def charge(self, caller: str, amount: float) -> None:
        """Take tokens for what was done already; whoever has none left is in debt.

        A negative amount gives back what was paid and not used.
        """
        if not self._rate:
            return
        with self._alone:
            self._take(caller, 0.0)
            tokens, then = self._buckets[caller]
            self._buckets[caller] = (min(self._burst, tokens - amount), then)
