"""On what were the figures measured?"""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version

from assay.extras import DISTRIBUTION

PACKAGES = (
    *("assay", "numpy", "polars", "scipy", "pytrec-eval-terrier", "ir-measures"),
    *("ranx", "numba", "pandas", "pyarrow", "scikit-learn"),
)
INDEX_PACKAGES = (
    *("assay", "faiss-cpu", "scipy", "bm25s", "lancedb", "qdrant-edge-py", "chromadb"),
)
SEARCH_PACKAGES = ("assay", "faiss-cpu", "onnxruntime", "lancedb", "qdrant-edge-py")


def describe(packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    """Processor, cores, memory, system and versions."""
    return {
        "processor": _field("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: _version(name) for name in packages},
    }


class Busy:
    """How much other processes did while something was measured."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._others = _busy_seconds() - own_seconds()

    def cores_of_others(self) -> float | None:
        """How many cores they used on average since; None where the system does not tell."""
        others = _busy_seconds() - own_seconds() - self._others
        wall = time.perf_counter() - self._began
        return None if _busy_seconds() == 0 else max(0.0, others / wall)


class Stolen:
    """How much processor time other guests of the same host took away meanwhile."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._before = _stolen_seconds()

    def cores(self) -> float:
        """How many cores were missing on average since."""
        return (_stolen_seconds() - self._before) / (time.perf_counter() - self._began)


def own_seconds() -> float:
    """What this process and those it waited for have computed so far."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _stolen_seconds() -> float:
    numbers = _field("/proc/stat", "cpu ", " ")
    return 0.0 if numbers is None else int(numbers.split()[7]) / os.sysconf("SC_CLK_TCK")


def _busy_seconds() -> float:
    """What all processes of this machine have computed so far."""
    numbers = _field("/proc/stat", "cpu ", " ")
    if numbers is None:
        return 0.0
    user, nice, system, _idle, _wait, *interrupts = map(int, numbers.split()[:8])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def _memory() -> str:
    kilobytes = _field("/proc/meminfo", "MemTotal")
    return f"{int(kilobytes.split()[0]) / 2**20:.0f} GB" if kilobytes else "unknown"


def _field(path: str, name: str, mark: str = ":") -> str | None:
    try:
        with open(path) as lines:
            found = next((line for line in lines if line.startswith(name)), None)
    except OSError:
        return None
    return found.split(mark, 1)[1].strip() if found else None


def _version(name: str) -> str:
    try:
        return version(DISTRIBUTION if name == "assay" else name)
    except PackageNotFoundError:
        return "not installed"
