"""Is a service that is asked too much still sane, and would we notice if not?"""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from assay.http.edge.admission import PRESSED_S
from bench import gate
from bench.load import Load, Sample
from bench.serve import overloaded, start, waits
from tests.load.promises import broken
from tests.unit.http.conftest import home, small_home

__all__ = ["home", "small_home"]

KEPT: dict[str, Any] = {
    "statuses": {200: 90, 503: 300},
    "whole": {"slowest_ms": 900.0, "accepted_over_unloaded": 30.0, "refused_p99_ms": 600.0},
    "lasting": {"slowest_ms": 40.0, "accepted_over_unloaded": 1.5, "refused_p99_ms": 4.0},
    "normal_again_s": 0.3,
}
BURST: dict[str, Any] = {"at_once": 12, "statuses": {200: 12}, "slowest_ms": 190.0}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"statuses": {200: 1, 500: 1}}, "[500]"),
        ({"statuses": {200: 1, 0: 1}}, "[0]"),
        ({"statuses": {503: 9}}, "nothing was answered"),
        ({"normal_again_s": None}, "normal again after None"),
        ({"normal_again_s": 6.0}, "normal again after 6.0"),
        ({"lasting": {**KEPT["lasting"], "accepted_over_unloaded": 2.1}}, "2.1 times"),
        ({"lasting": {**KEPT["lasting"], "refused_p99_ms": 51.0}}, "51.0 ms"),
        ({"whole": {**KEPT["whole"], "slowest_ms": 30_001.0}}, "longer than its deadline"),
    ],
)
def test_what_breaks_a_promise(change: dict[str, Any], said: str | None) -> None:
    found = broken({"failed": 0, "bursts": [BURST], "rounds": [{**KEPT, **change}]})
    assert [bool(said and said in line) for line in found] == ([True] if said else [])


@pytest.mark.parametrize("change", [{"statuses": {200: 11, 503: 1}}, {"slowest_ms": 30_001.0}])
def test_a_burst_that_is_not_answered_breaks_one(change: dict[str, Any]) -> None:
    (said,) = broken({"failed": 0, "bursts": [{**BURST, **change}], "rounds": []})
    assert said.startswith("of 12 searches at once")


def test_figures_of_an_overload_have_both_parts() -> None:
    """What is left out of what lasts is shown beside it."""
    early, late = Sample(0.0, 0.6, 503), Sample(3.0, 0.01, 200)
    whole, lasting = waits([early, late], 0.01), waits([late], 0.01)
    assert (whole["refused_share"], lasting["refused_share"]) == (0.5, 0.0)
    assert whole["refused_p99_ms"] == whole["slowest_ms"] == 600.0
    assert lasting["slowest_ms"] == 10.0


def test_the_simulated_gate_serves_bursts_and_refuses_what_lasts() -> None:
    ours = gate.RULES[-1]
    assert ours.pressed_s == PRESSED_S
    for number in gate.AT_ONCE:
        assert all(one.served for one in gate.simulate(ours, [0.0] * number))
    assert not gate.refused_share(gate.simulate(ours, gate.arrivals(0.7, 20, seed=1)))
    many = gate.simulate(ours, gate.arrivals(4, 8, seed=1))
    assert 0.7 < gate.refused_share(many) < 0.8
    late = [one.seconds for one in many if one.at > gate.BURST_S and one.served]
    assert max(late) < 4 * gate.SEARCH_S


async def shortly(port: int) -> dict[str, Any]:
    """What ``measure`` does at length."""
    load = Load(port, seed=1)
    alone = await load.some(20)
    figures = await overloaded(load, 1, 2, alone)
    load.close()
    failed = sum(one.status != 200 for one in alone)
    return {"failed": failed, "bursts": [], "rounds": [figures]}


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
