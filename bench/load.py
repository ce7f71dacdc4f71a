"""How does a service behave under a given load? A small generator on plain asyncio streams."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from urllib.parse import urlencode

_TEXT = (
    "headache migraine aspirin dosage eligibility adverse events insulin diabetes kidney trial "
    "placebo sleep depression anxiety heart failure stroke blood pressure statin cholesterol "
    "patients reported criteria results table outcome randomized efficacy safety nausea"
)
WORDS = _TEXT.split()


@dataclass(frozen=True, slots=True)
class Sample:
    """One request: when sent, how long it took, what came, and the server's own time."""

    at: float
    seconds: float
    status: int
    search_s: float | None = None


def queries(seed: int) -> Iterator[str]:
    """Queries that never repeat, so that nothing is answered from memory."""
    draw = random.Random(seed)
    for number in count():
        yield f"{' '.join(draw.sample(WORDS, 4))} {seed}x{number}"


class Load:
    """Connections to one service."""

    def __init__(self, port: int, seed: int = 1) -> None:
        self._port = port
        self._queries = queries(seed)
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def one(self) -> Sample:
        """One search."""
        began = time.perf_counter()
        path = f"/v1/search?{urlencode({'q': next(self._queries)})}"
        try:
            status, body = await asyncio.wait_for(self._request(path), 60)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            return Sample(began, time.perf_counter() - began, 0)
        seconds = time.perf_counter() - began
        own = json.loads(body)["timings_ms"]["total"] / 1000 if status == 200 else None
        return Sample(began, seconds, status, own)

    async def some(self, count: int) -> list[Sample]:
        """So many searches, one after the other."""
        return [await self.one() for _ in range(count)]

    async def closed(self, workers: int, seconds: float) -> list[Sample]:
        """Each worker asks again as soon as it was answered."""
        until = time.perf_counter() + seconds
        samples: list[Sample] = []

        async def work() -> None:
            while time.perf_counter() < until:
                samples.append(await self.one())

        await asyncio.gather(*(work() for _ in range(workers)))
        return samples

    async def open(self, rate: float, seconds: float) -> list[Sample]:
        """Arrivals at random moments, whether or not earlier ones were answered."""
        draw, tasks = random.Random(7), []
        began = time.perf_counter()
        due = began
        while due < began + seconds:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(asyncio.create_task(self.one()))
            due += draw.expovariate(rate)
        return list(await asyncio.gather(*tasks))

    def close(self) -> None:
        for _, writer in self._idle:
            writer.close()
        self._idle.clear()

    async def _request(self, path: str) -> tuple[int, bytes]:
        while self._idle:
            reader, writer = self._idle.pop()
            if not reader.at_eof():  # the service closes what nobody used for a while
                break
            writer.close()
        else:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        length = next(int(x.split(":")[1]) for x in lines if x.lower().startswith("content-length"))
        body = await reader.readexactly(length)
        self._idle.append((reader, writer))
        return int(lines[0].split()[1]), body


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")
