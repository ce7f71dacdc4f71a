"""How many threads encode a query fastest on this machine?

Processors with exact 8-bit products (VNNI) need one thread unless they have cores to spare. Others
compute such products carefully, and a second thread may help, so a few runs are timed when a model
is first asked. The answer is kept in a file of the workspace until the processor, the library or
the model is another one. Threads change no digit of a vector. Precision would, and an evaluation
must not depend on how busy the machine was, so queries and passages are always encoded in 8 bits.
Those products are exact on every machine: vectors differ only by the order in which floats are
added.
"""

from __future__ import annotations

import contextlib
import json
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assay.durable import alone_in, write_atomically
from assay.encode.runtime import has_exact_products
from assay.errors import StorageError
from assay.extras import import_optional

ROUNDS = 5
CLEARLY = 0.8  # of the time of the first way: less is no reason to leave it
MANY_CORES = 4  # of which two may work on one query


@dataclass(frozen=True, slots=True)
class Way:
    """One way to run a model."""

    threads: int = 1


def ways(*, exact: bool, cores: int) -> tuple[Way, ...]:
    """What is worth trying, the preferred way first."""
    return (Way(), Way(2)) if cores >= (MANY_CORES if exact else 2) else (Way(),)


def fastest(seconds: Mapping[Way, float]) -> Way:
    """The way that took least time; the first one unless another is clearly faster."""
    first, *others = seconds
    best = min(others, key=seconds.__getitem__, default=first)
    return best if seconds[best] < CLEARLY * seconds[first] else first


def chosen(
    kept: Path | None, model_id: str, cores: int, runner: Callable[[Way], Callable[[], object]]
) -> Way:
    """The way for a model here, from the file ``kept`` or by measurement.

    ``runner`` opens the model for a way and returns a function that encodes one query.
    """
    tried = ways(exact=has_exact_products(), cores=cores)
    if len(tried) == 1:
        return tried[0]
    key = f"{model_id} on {this_machine(cores)}"
    known = _read(kept)
    if (found := _way(known.get(key))) in tried:
        return found
    found = fastest({way: shortest(runner(way)) for way in tried})
    if kept is not None and kept.parent.is_dir():
        # a workspace that is read-only is measured each time
        with contextlib.suppress(StorageError), alone_in(kept.parent):
            text = json.dumps({**_read(kept), key: asdict(found)}, indent=1, sort_keys=True) + "\n"
            write_atomically(kept, text.encode())
    return found


def shortest(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """The shortest of a few runs after one that does not count: others disturb, none helps."""
    work()
    taken = []
    for _ in range(ROUNDS):
        start = clock()
        work()
        taken.append(clock() - start)
    return min(taken)


def this_machine(cores: int, cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The processor and the library, as far as they decide how fast a model runs."""
    library = import_optional("onnxruntime").__version__
    return f"{_processor(cpuinfo)}, {cores} cores, onnxruntime {library}"


def _processor(cpuinfo: Path) -> str:
    try:
        lines = cpuinfo.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _read(kept: Path | None) -> dict[str, Any]:
    """What was measured before; nothing where the file is missing or damaged."""
    if kept is None:
        return {}
    try:
        found = json.loads(kept.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _way(entry: object) -> Way | None:
    try:
        return Way(**entry)  # type: ignore[arg-type]
    except TypeError:
        return None
