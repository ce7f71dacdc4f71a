"""What does one tool take to score one workload from one kind of input?

Runs in a fresh process, ``python -m bench.score_worker TOOL WORKLOAD SOURCE [DATA_LIMIT]``, and
prints one line of JSON. Dicts and frames are in memory before the clock starts. Times are processor
seconds of this process and its children, all threads; memory is the highest resident size in MB.
Little is imported here, because whatever is would make a tool's own import look cheaper.
"""

from __future__ import annotations

import gc
import os
import resource
import sys
import time
from typing import TYPE_CHECKING, Any

from bench.tools import TOOLS
from bench.workloads import WORKLOADS

if TYPE_CHECKING:
    from bench.tools import Tool
    from bench.workloads import Workload


def main() -> None:
    tool, workload, source = TOOLS[sys.argv[1]], WORKLOADS[sys.argv[2]], sys.argv[3]
    if len(sys.argv) > 4:
        limit = int(sys.argv[4])
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    measured = measure(tool(), workload, source)

    import json

    print(json.dumps(measured))


def measure(tool: Tool, workload: Workload, source: str) -> dict[str, Any]:
    """Import, prepare, then time the work."""
    start = _cpu()
    tool.load(source)
    imported = _cpu() - start
    inputs = _inputs(tool, workload, source)
    gc.collect()
    if source not in ("files", "many"):
        _forget_peak()
    held = _memory("VmRSS")
    wall, start = time.perf_counter(), _cpu()
    values = getattr(tool, source)(*inputs)
    return {
        "import_s": imported,
        "work_s": _cpu() - start,
        "wall_s": time.perf_counter() - wall,
        "held_mb": held,
        "peak_mb": max(_memory("VmHWM"), _children_peak()),
        "values": values,
    }


def _inputs(tool: Tool, workload: Workload, source: str) -> tuple[Any, ...]:
    if source in ("files", "many"):
        return (workload,)
    if source == "dicts":
        import marshal

        with open(workload.path("dicts.marshal"), "rb") as stored:
            return tuple(marshal.load(stored))
    paths = (workload.path("qrels.parquet"), workload.path("run.parquet"))
    if tool.frame_library == "polars":
        import polars as pl

        return tuple(pl.read_parquet(path) for path in paths)
    import pandas as pd

    return tuple(pd.read_parquet(path) for path in paths)


def _cpu() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _forget_peak() -> None:
    """Start the high-water mark of resident memory again, where the kernel lets us."""
    try:
        with open("/proc/self/clear_refs", "w") as control:
            control.write("5")
    except OSError:
        return


def _memory(field: str) -> float:
    """VmRSS or VmHWM; unlike ru_maxrss neither owes anything to the process that started us."""
    try:
        with open("/proc/self/status") as status:
            found = next(line for line in status if line.startswith(field))
        return int(found.split()[1]) / 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _children_peak() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


if __name__ == "__main__":
    main()
