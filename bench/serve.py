"""How much does HTTP cost, and what happens at four times the load that the machine can bear?

    python -m bench.serve [--home FOLDER] [--seconds 8]

A service is started over a workspace (the demo corpus, ingested where FOLDER is empty) and asked
over the loopback, by a generator in this process: both share the machine.
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
from pathlib import Path
from typing import Any

from bench.load import Load, Sample, percentile

CORPUS = Path(__file__).resolve().parents[1] / "src" / "assay" / "data" / "corpus"


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


def milliseconds(samples: list[Sample], share: float) -> float:
    return round(1000 * percentile([one.seconds for one in samples], share), 2)


async def measure(port: int, seconds: float, slots: int) -> dict[str, Any]:
    load = Load(port, seed=int(time.time()))
    await load.closed(1, 2)  # models and caches warm up
    alone = await load.closed(1, seconds)
    overheads = [one.seconds - one.search_s for one in alone if one.search_s is not None]
    full = await load.closed(slots, seconds)
    capacity = len(full) / seconds
    over = await load.open(4 * capacity, seconds)
    accepted = [one for one in over if one.status == 200]
    refused = [one for one in over if one.status in {429, 503}]
    ended = time.perf_counter()
    recovered = None
    while time.perf_counter() < ended + 10:
        sample = await load.one()
        if sample.status == 200 and sample.seconds <= 2 * percentile(
            [x.seconds for x in alone], 0.99
        ):
            recovered = round(time.perf_counter() - ended, 2)
            break
    load.close()
    return {
        "searches_alone": len(alone),
        "p50_ms": milliseconds(alone, 0.5),
        "p95_ms": milliseconds(alone, 0.95),
        "p99_ms": milliseconds(alone, 0.99),
        "http_overhead_p50_ms": round(1000 * percentile(overheads, 0.5), 2),
        "http_overhead_p95_ms": round(1000 * percentile(overheads, 0.95), 2),
        "capacity_per_s": round(capacity, 1),
        "full_p99_ms": milliseconds(full, 0.99),
        "overload_sent": len(over),
        "overload_statuses": dict(sorted(Counter(one.status for one in over).items())),
        "accepted_p99_ms": milliseconds(accepted, 0.99),
        "accepted_p99_over_unloaded": round(
            percentile([x.seconds for x in accepted], 0.99)
            / percentile([x.seconds for x in full], 0.99),
            2,
        ),
        "refused_p99_ms": milliseconds(refused, 0.99),
        "refused_max_ms": milliseconds(refused, 1.0),
        "normal_again_s": recovered,
    }


async def soak(port: int, pid: int, seconds: float, slots: int) -> dict[str, Any]:
    """Searches for a while; memory, threads and files are looked at every second."""
    load = Load(port, seed=int(time.time()))
    await load.closed(slots, 5)
    looks = [usage(pid)]
    until = time.perf_counter() + seconds
    searches = 0
    while time.perf_counter() < until:
        searches += len(await load.closed(slots, 1))
        looks.append(usage(pid))
    load.close()
    third = max(1, len(looks) // 3)
    middle, last = looks[third : 2 * third] or looks, looks[-third:]
    return {
        "searches": searches,
        **{f"{name}_first": looks[0][name] for name in looks[0]},
        **{f"{name}_max_middle_third": max(x[name] for x in middle) for name in looks[0]},
        **{f"{name}_max_last_third": max(x[name] for x in last) for name in looks[0]},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--soak", type=float, default=0, help="soak for so many seconds instead")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        home = chosen.home or Path(folder)
        prepare(home)
        process, port = start(home)
        slots = max(1, (os.cpu_count() or 1) // 2)
        try:
            time.sleep(2)
            work = (
                soak(port, process.pid, chosen.soak, slots)
                if chosen.soak
                else measure(port, chosen.seconds, slots)
            )
            print(json.dumps(asyncio.run(work), indent=2))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)


if __name__ == "__main__":
    main()
