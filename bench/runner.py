"""How is one measurement taken in a process of its own?

The process that starts the others imports nothing heavy, because on Linux the peak memory of a
child can include that of its parent.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from bench.workloads import WORK, WORKLOADS

ROOT = os.path.dirname(os.path.dirname(__file__))
DEADLINE_S = 400
STATISTICS_DEADLINE_S = 900


@cache
def numba_cache() -> str:
    """Where ranx keeps what it compiled; absent where only assay itself is measured."""
    return os.path.join(WORK, f"numba-{version('numba')}-ranx-{version('ranx')}")


def measure(tool: str, workload: str, source: str, *limit: int) -> dict[str, Any]:
    """The worker's report, or ``{"error": reason}``."""
    arguments = ["-m", "bench.score_worker", tool, workload, source, *map(str, limit)]
    try:
        done = _python(arguments, DEADLINE_S)
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {DEADLINE_S} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def ensure(*workloads: str) -> None:
    """Generate what is not there yet."""
    room = shutil.disk_usage(ROOT).free
    needed = sum(120 * WORKLOADS[name].rows for name in workloads)
    if room < needed:
        raise SystemExit(f"not enough room on disk: {needed >> 20} MB needed, {room >> 20} MB free")
    command = [sys.executable, "-m", "bench.generate", *workloads]
    subprocess.run(command, check=True, cwd=ROOT, env=_environment())


def remove(workload: str) -> None:
    """Delete a workload that is only needed once."""
    shutil.rmtree(WORKLOADS[workload].path(""), ignore_errors=True)


def statistics_rows() -> list[dict[str, Any]] | None:
    """The rows of ``bench.stats``, or None where that part is not there."""
    code = "import json; from bench.stats import run; print(json.dumps(run()))"
    done = _python(["-c", code], STATISTICS_DEADLINE_S)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return None
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def command_line(command: list[str]) -> dict[str, float]:
    """Wall and processor seconds and peak memory of a whole program, start to end."""
    start = time.perf_counter()
    child = subprocess.Popen(
        [os.path.join(os.path.dirname(sys.executable), command[0]), *command[1:]],
        cwd=ROOT,
        env=_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    said = child.communicate()[1]
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}: {said}")
    return {
        "wall_s": wall,
        "work_s": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1024,
    }


def ranx_compiled() -> dict[str, Any]:
    """Fill ranx's cache of compiled code; what the first, cold call took.

    The width of the document ids is part of the compiled type, so each workload needs its own.
    """
    stored = os.path.join(numba_cache(), "cold.json")
    if not os.path.exists(stored):
        shutil.rmtree(numba_cache(), ignore_errors=True)
        cold = measure("ranx", "B", "files")
        for source in ("files", "dicts", "frames"):
            measure("ranx", "A-warm", source)
            measure("ranx", "B", source)
        with open(stored, "w") as kept:
            json.dump(cold, kept)
    with open(stored) as kept:
        found: dict[str, Any] = json.load(kept)
    return found


def _python(arguments: list[str], deadline: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", *arguments],
        check=False,
        cwd=ROOT,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=deadline,
    )


def _environment() -> dict[str, str]:
    """Bytecode and compiled code are kept, so that imports cost what they cost a user."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    try:
        return environment | {"NUMBA_CACHE_DIR": numba_cache()}
    except PackageNotFoundError:
        return environment
