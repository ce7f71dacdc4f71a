"""Does a caller who may only read harm the others? The attack, over real sockets.

``python -m tests.load.attack`` starts a service, measures searches and probes alone, then again
while one key does all at once what was found to stop the service: costly scoring that is hung up
on, reports with many resamples, bodies that come slowly to every kind of path, and large bodies.
The other key's searches and the probes are what is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.app.keys import create_key
from assay.app.layout import Layout
from tests.unit.http.process import ServiceProcess, wait_until_ready

MOST_PROBE_MS = 100.0
MOST_SLOWER = 2.0
PROBES = ("/healthz", "/readyz", "/metrics")
WORDS = ("headache", "asthma", "dose", "heart", "failure", "renal", "children", "trial")
LARGE = 16 * 1024 * 1024 - 4096


@dataclass
class Watched:
    """What a caller saw: seconds by path, and answers by status."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)

    def p99_ms(self, *paths: str) -> float:
        """The 99th percentile over these paths."""
        every = sorted(one for path in paths for one in self.seconds.get(path, []))
        return round(1000 * every[int(0.99 * (len(every) - 1))], 1) if every else 0.0


async def ask(port: int, key: str, path: str, body: bytes = b"", wait: float | None = 60.0) -> int:
    """The status of one request on a connection of its own; 0 where none came."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        verb = "POST" if body else "GET"
        head = f"{verb} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\n"
        head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        writer.write(head.encode() + b"connection: close\r\n\r\n" + body)
        async with asyncio.timeout(wait):
            await writer.drain()
            line = await reader.readline()
            await reader.read()
        return int(line.split()[1]) if line else 0
    except (TimeoutError, OSError):
        return 0
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def watch(port: int, key: str, until: Callable[[], bool]) -> Watched:
    """Search and probe, one after the other, until told to stop."""
    seen, rng = Watched(), random.Random(7)
    while not until():
        words = "+".join(rng.sample(WORDS, 2))
        for path in (f"/v1/search?q={words}", *PROBES):
            began = time.perf_counter()
            status = await ask(port, key, path)
            name = path.partition("?")[0]
            seen.seconds.setdefault(name, []).append(time.perf_counter() - began)
            seen.statuses[status] += 1
        await asyncio.sleep(0.02)
    return seen


def costly(queries: int = 60) -> bytes:
    """Scoring that is just below what is refused at once."""
    judged = {f"q{at}": {f"d{n}": 1 for n in range(5)} for at in range(queries)}
    runs = {
        f"r{one}": {f"q{at}": {f"d{n}": n + one for n in range(20)} for at in range(queries)}
        for one in range(6)
    }
    measures = [f"nDCG@{at + 1}" for at in range(10)]
    body = {"qrels": judged, "runs": runs, "measures": measures, "resamples": 10_000}
    return json.dumps(body).encode()


async def hang_up_on(port: int, key: str, until: Callable[[], bool]) -> None:
    body = costly()
    while not until():
        await ask(port, key, "/v1/score", body, wait=1.5)


async def ask_for_reports(port: int, key: str, until: Callable[[], bool]) -> None:
    while not until():
        await ask(port, key, "/v1/runs/latest/report?resamples=20000", wait=1.5)
        await ask(port, key, "/v1/runs/latest/scores?resamples=20000&measure=nDCG@5", wait=1.5)


async def send_slowly(port: int, key: str, path: str, until: Callable[[], bool]) -> None:
    """A body of which a byte comes now and then."""
    while not until():
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\n"
            head += "content-type: application/json\r\ncontent-length: 9999\r\n\r\n"
            writer.write(head.encode())
            while not until() and not reader.at_eof():
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.5)
            writer.close()
        await asyncio.sleep(0.05)


async def send_much(port: int, key: str, until: Callable[[], bool]) -> None:
    while not until():
        for body in large_bodies():
            await ask(port, key, "/v1/score", body)


def large_bodies() -> Iterator[bytes]:
    """Bodies of 16 MB: one long text, and what takes the most room once it is read."""
    yield b'{"qrels": "' + b"x" * LARGE + b'"}'
    yield b'{"qrels": [' + b"[]," * (LARGE // 3) + b"[]]}"
    yield b'{"qrels": [' + b'{"a":1},' * (LARGE // 8) + b"{}]}"
    pairs = (f'"{at:x}":1,'.encode() for at in range(LARGE // 10))
    yield b'{"qrels": {"q": {' + b"".join(pairs)[: LARGE - 20].rpartition(b",")[0] + b"}}}"


async def large_at_once(port: int, key: str, count: int) -> list[int]:
    """So many of each kind of large body in the same moment; the answers."""
    every = [body for body in large_bodies() for _ in range(count)]
    return [
        status
        for at in range(0, len(every), count)
        for status in await asyncio.gather(
            *(ask(port, key, "/v1/score", body) for body in every[at : at + count])
        )
    ]


def resident_mb(process: int) -> float:
    """What a process holds in memory."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    line = next(one for one in status.splitlines() if one.startswith("VmHWM"))
    return round(int(line.split()[1]) / 1024, 1)


async def attack(port: int, key: str, slow: int, large: int) -> None:
    """Everything at once, until the process is ended."""

    def until() -> bool:
        return False

    paths = ("/v1/jobs/x/events", "/v1/score", "/v1/search", "/ui/grade")
    work = [hang_up_on(port, key, until) for _ in range(14)]
    work += [ask_for_reports(port, key, until) for _ in range(4)]
    work += [send_slowly(port, key, paths[at % len(paths)], until) for at in range(slow)]
    work += [send_much(port, key, until) for _ in range(large)]
    await asyncio.gather(*work)


def attacker(port: int, key: str, slow: int, large: int) -> None:
    """A process of its own, which leaves the cores to the service where it can: it is elsewhere."""
    os.nice(19)
    asyncio.run(attack(port, key, slow, large))


def seen_for(seconds: float, port: int, key: str) -> Watched:
    """What a caller sees for so long."""
    end = time.monotonic() + seconds
    return asyncio.run(watch(port, key, lambda: time.monotonic() > end))


def measure(home: Path, seconds: float, slow: int = 1_001, large: int = 8) -> dict[str, Any]:
    """The figures of one attack on a workspace."""
    keys = tuple(create_key(Layout(home), name, ["read"]).key for name in ("reader", "greedy"))
    with ServiceProcess(home) as service:
        wait_until_ready(service)
        before = resident_mb(service.process.pid)
        alone = seen_for(seconds, service.port, keys[0])
        spawned = multiprocessing.get_context("spawn")
        given = (service.port, keys[1], slow, large)
        process = spawned.Process(target=attacker, args=given, daemon=True)
        process.start()
        try:
            seen_for(3.0, service.port, keys[0])  # until all of it is there
            during = seen_for(seconds, service.port, keys[0])
        finally:
            process.kill()
            process.join()
        return {
            "searches": len(during.seconds.get("/v1/search", [])),
            "statuses": dict(sorted(during.statuses.items())),
            "alone_p99_ms": alone.p99_ms("/v1/search"),
            "search_p99_ms": during.p99_ms("/v1/search"),
            "probe_p99_ms_alone": alone.p99_ms(*PROBES),
            "probe_p99_ms": during.p99_ms(*PROBES),
            "resident_mb_before": before,
            "most_resident_mb": resident_mb(service.process.pid),
        }


def main() -> None:
    """Attack a copy of a workspace and print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path, help="a workspace that may be written to")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--slow", type=int, default=1_001)
    parser.add_argument("--large", type=int, default=8)
    given = parser.parse_args()
    print(json.dumps(measure(given.home, given.seconds, given.slow, given.large), indent=1))


if __name__ == "__main__":
    main()
