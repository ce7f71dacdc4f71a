"""On what were the figures measured?"""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    *("assay", "numpy", "polars", "scipy", "pytrec-eval-terrier", "ir-measures"),
    *("ranx", "numba", "pandas", "pyarrow", "scikit-learn"),
)
INDEX_PACKAGES = (
    *("assay", "tantivy", "faiss-cpu", "scipy", "bm25s", "lancedb", "qdrant-edge-py", "chromadb"),
)
SEARCH_PACKAGES = (*("assay", "tantivy", "faiss-cpu", "onnxruntime", "lancedb", "qdrant-edge-py"),)


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


def _memory() -> str:
    kilobytes = _field("/proc/meminfo", "MemTotal")
    return f"{int(kilobytes.split()[0]) / 2**20:.0f} GB" if kilobytes else "unknown"


def _field(path: str, name: str) -> str | None:
    try:
        with open(path) as lines:
            found = next((line for line in lines if line.startswith(name)), None)
    except OSError:
        return None
    return found.split(":", 1)[1].strip() if found else None


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
