"""How much does HTTP cost, and what happens to bursts, and at four times the load it can bear?

    python -m bench.serve [--home FOLDER] [--queries 1000] [--seconds 8] [--rounds 3] [--write]
    python -m bench.serve --soak 600

A service is started over a workspace (the demo corpus, ingested where FOLDER is empty) and asked
over the loopback by a generator in this process: both share the machine. No query comes twice, so
that nothing is answered from memory. ``--write`` puts the figures into BENCHMARKS.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.document import write_part
from bench.load import Load, Sample, percentile
from bench.machine import Stolen, describe

CORPUS = Path(__file__).resolve().parents[1] / "src" / "assay" / "data" / "corpus"
PACKAGES = ("assay", "fastapi", "uvicorn", "pydantic", "onnxruntime")
OVERLOAD = 4
RECOVERY_S = 10.0
AT_ONCE = (12, 16, 48)
"""Searches in the same moment; a burst waits, and every one of it is to be answered."""
BURST_SHARE = 0.25
"""The first part of an overload cannot be told from a burst, which waits. Figures are given of the
whole time and, by that name, of what lasts after this part (design/054)."""
CACHES_FULL = 1_600
"""Searches after which every cache of a searcher is as large as it gets."""


def assay(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "assay", *arguments]


def prepare(home: Path) -> None:
    if not (home / "assay.db").exists():
        subprocess.run(assay("--home", str(home), "ingest", str(CORPUS)), check=True)


def start(home: Path) -> tuple[subprocess.Popen[str], int]:
    process = subprocess.Popen(
        assay("--home", str(home), "serve", "--port", "0", "--json"),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    return process, int(json.loads(process.stdout.readline())["address"].rpartition(":")[2])


def usage(pid: int) -> dict[str, int]:
    """What the process holds: memory in KiB, threads, open files."""
    fields = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    return {
        "rss_kib": int(fields["VmRSS"].split()[0]),
        "threads": int(fields["Threads"]),
        "files": len(os.listdir(f"/proc/{pid}/fd")),
    }


def milliseconds(samples: Sequence[Sample], share: float) -> float:
    return round(1000 * percentile([one.seconds for one in samples], share), 2)


async def measure(port: int, queries: int, seconds: float, rounds: int) -> dict[str, Any]:
    load = Load(port, seed=int(time.time()))
    await load.closed(1, 3)  # models and caches warm up
    alone = await load.some(queries)
    overheads = [one.seconds - one.search_s for one in alone if one.search_s is not None]
    slots = max(1, (os.cpu_count() or 1) // 2)
    bursts = [await burst(load, number) for number in AT_ONCE]
    over = [await overloaded(load, slots, seconds, alone) for _ in range(rounds)]
    load.close()
    return {
        "queries": len(alone),
        "failed": sum(one.status != 200 for one in alone),
        **{f"p{share}_ms": milliseconds(alone, share / 100) for share in (50, 95, 99)},
        **{
            f"overhead_p{share}_ms": round(1000 * percentile(overheads, share / 100), 2)
            for share in (50, 95)
        },
        "bursts": bursts,
        "rounds": over,
    }


async def burst(load: Load, number: int) -> dict[str, Any]:
    """So many searches in the same moment."""
    sent = await asyncio.gather(*(load.one() for _ in range(number)))
    return {
        "at_once": number,
        "statuses": dict(sorted(Counter(one.status for one in sent).items())),
        "slowest_ms": milliseconds(sent, 1.0),
    }


async def overloaded(
    load: Load, slots: int, seconds: float, alone: Sequence[Sample]
) -> dict[str, Any]:
    """Capacity, then four times as much, then how long until all is as before."""
    full = await load.closed(slots, seconds / 2)
    capacity = len(full) / (seconds / 2)
    stolen = Stolen()
    sent = await load.open(OVERLOAD * capacity, seconds)
    missing = stolen.cores()
    ended = time.perf_counter()
    lasting = [one for one in sent if one.at >= sent[0].at + BURST_SHARE * seconds]
    unloaded = percentile([one.seconds for one in alone], 0.99)
    return {
        "capacity_per_s": round(capacity, 1),
        "sent": len(sent),
        "stolen_cores": round(missing, 2),
        "load_average": round(os.getloadavg()[0], 1),
        "statuses": dict(sorted(Counter(one.status for one in sent).items())),
        "whole": waits(sent, unloaded),
        "lasting": waits(lasting, unloaded),
        "normal_again_s": await normal_again(load, 2 * unloaded, ended),
    }


def waits(sent: Sequence[Sample], unloaded: float) -> dict[str, Any]:
    """What those who were answered and those who were refused waited."""
    accepted = [one for one in sent if one.status == 200]
    refused = [one for one in sent if one.status in {429, 503}]
    return {
        "refused_share": round(len(refused) / len(sent), 3) if sent else None,
        "accepted_p50_ms": milliseconds(accepted, 0.5),
        "accepted_p99_ms": milliseconds(accepted, 0.99),
        "accepted_over_unloaded": round(
            percentile([one.seconds for one in accepted], 0.99) / unloaded, 2
        ),
        "refused_p50_ms": milliseconds(refused, 0.5),
        "refused_p99_ms": milliseconds(refused, 0.99),
        "slowest_ms": milliseconds(sent, 1.0),
    }


async def normal_again(load: Load, within: float, since: float) -> float | None:
    """Seconds until three searches in a row are answered as without load."""
    good = 0
    while time.perf_counter() < since + RECOVERY_S:
        sample = await load.one()
        good = good + 1 if sample.status == 200 and sample.seconds <= within else 0
        if good == 3:
            return round(time.perf_counter() - since, 2)
    return None


async def soak(port: int, pid: int, seconds: float, slots: int) -> dict[str, Any]:
    """Searches for a while; memory, threads and files are looked at every second."""
    load = Load(port, seed=int(time.time()))
    asked, until = 0, time.perf_counter() + seconds
    while asked < CACHES_FULL and time.perf_counter() < until:
        asked += len(await load.closed(slots, 1))
    looks = [usage(pid)]
    until = time.perf_counter() + seconds
    statuses: Counter[int] = Counter()
    while time.perf_counter() < until:
        statuses.update(one.status for one in await load.closed(slots, 1))
        looks.append(usage(pid))
    load.close()
    third = max(1, len(looks) // 3)
    parts = {"first": looks[:third], "middle": looks[third : 2 * third], "last": looks[-third:]}
    return {
        "before": asked,
        "statuses": dict(statuses),
        **{
            f"{name}_max_{part}_third": max(one[name] for one in some or looks)
            for name in looks[0]
            for part, some in parts.items()
        },
    }


def spread(rounds: Sequence[dict[str, Any]], name: str) -> str:
    values = [one[name] for one in rounds if one[name] is not None]
    return f"{min(values):g} to {max(values):g}" if len(values) == len(rounds) else "not reached"


def burst_table(bursts: Sequence[dict[str, Any]]) -> list[str]:
    """Searches in the same moment."""
    return [
        "| searches in the same moment | answered (all) | refused | slowest (30 s) |",
        "|---|---|---|---|",
        *(
            f"| {one['at_once']} | {one['statuses'].get(200, 0)} "
            f"| {one['at_once'] - one['statuses'].get(200, 0)} | {one['slowest_ms']} ms |"
            for one in bursts
        ),
    ]


def overload_table(rounds: Sequence[dict[str, Any]]) -> list[str]:
    """Round for round, beside what other guests of the host took away meanwhile."""
    return [
        f"At {OVERLOAD} times the load that was borne in the seconds before, round for round. "
        "*Whole*: from the first request on, while a surge cannot be told from a burst and its "
        f"callers wait. *Lasting*: without the first {BURST_SHARE:.0%} of the time; the limits are "
        "promised for this part.",
        "",
        "| round | part | searches a second before | cores taken away by other guests of the host "
        "| refused | accepted P99 | over that without load (≤ 2) | refused P50 "
        "| refused P99 (< 50 ms) | normal again after (≤ 5 s) |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *(
            f"| {number} | {part} | {one['capacity_per_s']} | {one['stolen_cores']} "
            f"| {one[part]['refused_share']:.0%} | {one[part]['accepted_p99_ms']} ms "
            f"| {one[part]['accepted_over_unloaded']} | {one[part]['refused_p50_ms']} ms "
            f"| {one[part]['refused_p99_ms']} ms | {one['normal_again_s'] or 'not reached'} s |"
            for number, one in enumerate(rounds, 1)
            for part in ("whole", "lasting")
        ),
    ]


def part(figures: dict[str, Any], note: str = "") -> str:
    """The section of BENCHMARKS.md; ``note`` says what else went on at the machine."""
    machine = describe(PACKAGES)
    rounds = figures["rounds"]
    statuses: Counter[int] = Counter()
    for one in rounds:
        statuses.update(one["statuses"])
    told = ", ".join(f"{count:,} × {status}" for status, count in sorted(statuses.items()))
    rows = [
        (f"hybrid search over HTTP, {figures['queries']:,} queries one after the other: P50", "",
         f"{figures['p50_ms']} ms"),
        ("the same, P95", "< 500 ms", f"{figures['p95_ms']} ms"),
        ("the same, P99", "", f"{figures['p99_ms']} ms"),
        ("what HTTP adds to the search itself, P50", "≤ 3 ms", f"{figures['overhead_p50_ms']} ms"),
        ("the same, P95", "", f"{figures['overhead_p95_ms']} ms"),
        ("searches a second, as many at once as there are slots", "",
         spread(rounds, "capacity_per_s")),
    ]  # fmt: skip
    return "\n".join(
        [
            "## The HTTP service",
            "",
            "`make bench-serve`: a service over the demo corpus, asked over the loopback from "
            "another process of the same machine; no query comes twice. Under overload requests "
            "arrive at "
            "random moments, whether or not earlier ones were answered; figures with *to* are the "
            f"least and the most of {len(rounds)} rounds.",
            "",
            "| what | target | measured |",
            "|---|---|---|",
            *(f"| {what} | {target} | {value} |" for what, target, value in rows),
            "",
            *burst_table(figures["bursts"]),
            "",
            *overload_table(rounds),
            "",
            f"Answers under overload: {told}. The load average of the machine was "
            f"{spread(rounds, 'load_average')} after the rounds (1 to 2 where nothing else runs). "
            + ", ".join(f"{name} {value}" for name, value in machine.items())
            + f".{' ' * bool(note)}{note}",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--soak", type=float, default=0, help="soak for so many seconds instead")
    parser.add_argument("--note", default="", help="what else went on at the machine")
    parser.add_argument("--write", action="store_true", help="write the part of BENCHMARKS.md")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        home = chosen.home or Path(folder)
        prepare(home)
        process, port = start(home)
        slots = max(1, (os.cpu_count() or 1) // 2)
        try:
            time.sleep(2)
            if chosen.soak:
                figures = asyncio.run(soak(port, process.pid, chosen.soak, slots))
            else:
                work = measure(port, chosen.queries, chosen.seconds, chosen.rounds)
                figures = asyncio.run(work)
                if chosen.write:
                    write_part("bench.serve", part(figures, chosen.note))
            print(json.dumps(figures, indent=2))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)


if __name__ == "__main__":
    main()
