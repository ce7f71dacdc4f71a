"""How much may go on at once, and who has asked too often?

A gate has slots and a short line before them. Who finds the line full is refused at once, while
those who were let in are answered as fast as ever: a long line would only make everybody late.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from assay import limits


class FullError(Exception):
    """The line before a gate is full, or the wait was too long."""

    def __init__(self, gate: str) -> None:
        super().__init__(gate)
        self.gate = gate


class Gate:
    """Lets a number of callers in at the same time, in the order in which they came."""

    def __init__(self, name: str, slots: int, queue: int, max_wait: float = 10.0) -> None:
        self.name = name
        self.slots = slots
        self.queue = queue
        self.active = 0
        self._max_wait = max_wait
        self._line: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """How many stand in line."""
        return len(self._line)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold a slot; ``FullError`` where none will be free soon."""
        if self.active < self.slots:
            self.active += 1
        else:
            await self._wait()
        try:
            yield
        finally:
            self._leave()

    async def _wait(self) -> None:
        if len(self._line) >= self.queue:
            raise FullError(self.name)
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(place)
        try:
            async with asyncio.timeout(self._max_wait):
                await place
        except BaseException as problem:
            if place.done() and not place.cancelled():
                self._leave()  # the slot came in the moment in which the caller left
            elif place in self._line:
                self._line.remove(place)
            if isinstance(problem, TimeoutError):
                raise FullError(self.name) from None
            raise

    def _leave(self) -> None:
        """Hand the slot to the next in line, or free it."""
        while self._line:
            place = self._line.popleft()
            if not place.done():
                place.set_result(None)
                return
        self.active -= 1


class RateLimiter:
    """A bucket of tokens per caller, filled evenly; the least recent caller is forgotten first."""

    def __init__(self, per_minute: int, capacity: int = limits.MAX_PRINCIPALS) -> None:
        self._rate = per_minute / 60
        self._burst = max(1.0, self._rate)
        self._capacity = capacity
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_for(self, caller: str) -> float:
        """Take a token: 0.0 where there was one, else the seconds until there is."""
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
