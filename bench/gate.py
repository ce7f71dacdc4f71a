"""How long do callers wait at the gate of the service, for lines of other lengths?

    python -m bench.gate [--seed 7]

The gate itself (``http/edge/admission.py``) in simulated time: one slot, random arrivals, and 16 ms
a search. Nothing is measured, so every machine prints the same tables, those of design/054.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import selectors
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from unittest.mock import patch

from assay.http.edge import admission
from assay.http.edge.admission import FullError, Gate
from bench.load import percentile

SEARCH_S = 0.016
DEADLINE_S = 27.0  # nine tenths of 30 s
OVERLOAD = 4
OVERLOAD_S = 8.0
BURST_S = 2.0  # of an overload; what follows is what lasts
CALM_S = 120.0
NEVER = 1e9


@dataclass(frozen=True, slots=True)
class Rule:
    """A line of so many callers, cut when it has overflowed for so long."""

    name: str
    queue: int
    pressed_s: float


RULES = (
    Rule("8", 8, NEVER),
    Rule("8, cut after 25 ms", 8, 0.025),
    Rule("64", 64, NEVER),
    Rule("64, cut after 0.5 s (ours)", 64, 0.5),
)
AT_ONCE = (12, 16, 64)


@dataclass(frozen=True, slots=True)
class Caller:
    """When somebody came, how long it took, and whether there was an answer."""

    at: float
    seconds: float
    served: bool


class _Leaping(selectors.SelectSelector):
    """Waits by moving the clock."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


class _SimulatedLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._leaping = _Leaping()
        super().__init__(self._leaping)

    def time(self) -> float:
        return self._leaping.now


def simulate(rule: Rule, arrivals: Sequence[float]) -> list[Caller]:
    """What happens to callers who come at these moments."""
    loop = _SimulatedLoop()

    async def one(gate: Gate, at: float) -> Caller:
        await asyncio.sleep(at - loop.time())
        try:
            async with gate.slot():
                await asyncio.sleep(SEARCH_S)
        except FullError:
            return Caller(at, loop.time() - at, served=False)
        return Caller(at, loop.time() - at, served=True)

    async def every() -> list[Caller]:
        gate = Gate("search", 1, rule.queue, DEADLINE_S, shed=True)
        return [*await asyncio.gather(*(one(gate, at) for at in arrivals))]

    try:
        simulated = SimpleNamespace(monotonic=loop.time)
        with patch.multiple(admission, time=simulated, PRESSED_S=rule.pressed_s):
            return loop.run_until_complete(every())
    finally:
        loop.close()


def arrivals(load: float, seconds: float, seed: int) -> list[float]:
    """Random moments at this multiple of what one slot can do."""
    draw = random.Random(seed)
    found: list[float] = []
    at = 0.0
    while (at := at + draw.expovariate(load / SEARCH_S)) < seconds:
        found.append(at)
    return found


def refused_share(callers: Sequence[Caller]) -> float:
    """How many of the callers went without an answer."""
    return sum(not one.served for one in callers) / len(callers)


def slow(callers: Sequence[Caller], *, served: bool) -> str:
    """The P99 of those who were served, or refused, in milliseconds."""
    times = [one.seconds for one in callers if one.served == served]
    return f"{1000 * percentile(times, 0.99):,.0f} ms" if times else "–"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def report(seed: int) -> str:
    """The tables of design/054."""
    calm, over = [], []
    for rule in RULES:
        shares = [
            f"{refused_share(simulate(rule, arrivals(load, CALM_S, seed))):.1%}"
            for load in (0.7, 0.9)
        ]
        bursts = []
        for number in AT_ONCE:
            callers = simulate(rule, [0.0] * number)
            slowest = max(one.seconds for one in callers if one.served)
            served = sum(one.served for one in callers)
            bursts.append(f"{served}, {1000 * slowest:,.0f} ms")
        calm.append([rule.name, *shares, *bursts])
        whole = simulate(rule, arrivals(OVERLOAD, OVERLOAD_S, seed))
        lasting = [one for one in whole if one.at >= BURST_S]
        row = [rule.name]
        for some in (whole, lasting):
            row += [f"{refused_share(some):.0%}", slow(some, served=True), slow(some, served=False)]
        over.append(row)
    head = ["line per slot", "refused at 70 % load", "at 90 %"]
    head += [f"{number} at once: served, slowest" for number in AT_ONCE]
    several = ["line per slot"]
    for when in (f"all {OVERLOAD_S:g} s", f"after {BURST_S:g} s"):
        several += [f"{when}: refused", "accepted P99", "refused P99"]
    return f"{_table(head, calm)}\n\nAt {OVERLOAD} times the capacity:\n\n{_table(several, over)}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.gate", description=__doc__)
    parser.add_argument("--seed", type=int, default=7)
    print(report(parser.parse_args().seed))


if __name__ == "__main__":
    main()
