"""Is a service that is asked too much still sane, and would we notice if not?"""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from bench.load import Load, Sample
from bench.serve import overloaded, start
from tests.load.promises import broken
from tests.unit.http.conftest import home, small_home

__all__ = ["home", "small_home"]

KEPT: dict[str, Any] = {
    "statuses": {200: 90, 503: 300},
    "accepted_over_unloaded": 1.5,
    "refused_p99_ms": 4.0,
    "normal_again_s": 0.3,
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"statuses": {200: 1, 500: 1}}, "[500]"),
        ({"statuses": {200: 1, 0: 1}}, "[0]"),
        ({"statuses": {503: 9}}, "nothing was answered"),
        ({"normal_again_s": None}, "normal again after None"),
        ({"normal_again_s": 6.0}, "normal again after 6.0"),
        ({"accepted_over_unloaded": 2.1}, "2.1 times"),
        ({"refused_p99_ms": 51.0}, "51.0 ms"),
    ],
)
def test_what_breaks_a_promise(change: dict[str, Any], said: str | None) -> None:
    found = broken({"failed": 0, "rounds": [{**KEPT, **change}]})
    assert [bool(said and said in line) for line in found] == ([True] if said else [])


async def shortly(port: int) -> dict[str, Any]:
    """What ``measure`` does at length."""
    load = Load(port, seed=1)
    alone = await load.some(20)
    figures = await overloaded(load, 1, 2, alone)
    load.close()
    return {"failed": sum(one.status != 200 for one in alone), "rounds": [figures]}


async def at_once(port: int, callers: int) -> list[Sample]:
    """So many searches in the same moment, from as many connections, and then once more."""
    load = Load(port, seed=2)
    first = await asyncio.gather(*(load.one() for _ in range(callers)))
    again = await asyncio.gather(*(load.one() for _ in range(callers)))
    lasting = await load.closed(callers, 1)
    load.close()
    return [*first, *again, *lasting]


@pytest.mark.parametrize("callers", [12, 16, 48])
def test_a_burst_waits_and_everybody_is_served(
    home: Path, monkeypatch: pytest.MonkeyPatch, callers: int
) -> None:
    for name in ("DENSE_MODEL", "SPLADE_MODEL"):
        monkeypatch.setenv(f"ASSAY_{name}", "none")
    monkeypatch.setenv("ASSAY_SEARCH_SLOTS", "1")  # as on two cores
    process, port = start(home)
    try:
        served = asyncio.run(at_once(port, callers))
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert {one.status for one in served} == {200}
    assert len(served) >= 3 * callers


def test_four_times_too_much_is_refused_and_forgotten(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("DENSE", "SPLADE"):
        monkeypatch.setenv(f"ASSAY_{name}_MODEL", "none")
    process, port = start(home)
    try:
        figures = asyncio.run(shortly(port))
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert broken(figures, latency=False) == []
