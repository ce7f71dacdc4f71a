"""How are sound inputs changed and read until something fails that nobody meant?

A reader may give a result or raise an ``AssayError``; anything else is a failure, as is an input of
a few kilobytes that takes longer than ``MOST_SECONDS``. Where a cap on memory is set, running into
it is a failure, too.
"""

from __future__ import annotations

import gzip
import random
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import zstandard

from assay.errors import AssayError
from tests.fuzz.harness import Harness, changed
from tests.fuzz.mutate import mutated

MOST_SECONDS = 20  # a busy machine needs one at most


@dataclass
class Report:
    """What was tried, and what came of it."""

    executions: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)


class HangError(Exception):
    """A reader took longer than it could need."""


@contextmanager
def deadline(seconds: int) -> Iterator[None]:
    """Stops what takes longer; where the system has no alarm, nothing does."""

    def stop(*_: object) -> None:
        raise HangError(f"more than {seconds} seconds")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def packed(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """Now and then the bytes are compressed, and damaged once more."""
    draw = rng.random()
    if draw > 0.08:
        return data
    small = gzip.compress(data) if draw < 0.04 else zstandard.ZstdCompressor().compress(data)
    return mutated(small, list(others), rng) if rng.random() < 0.7 else small


def fuzz(harnesses: Sequence[Harness], seconds: float, seed: int, most: int = 10) -> Report:
    """Try until the time is over or ``most`` failures are found."""
    rng, report = random.Random(seed), Report()
    drawn = [harness for harness in harnesses for _ in range(harness.share)]
    end = time.monotonic() + seconds
    with (
        tempfile.TemporaryDirectory() as folder,
        changed(MAX_ID_BYTES=45),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        while time.monotonic() < end and len(report.failures) < most:
            harness = rng.choice(drawn)
            seeds = list(harness.seeds)
            data = packed(mutated(rng.choice(seeds), seeds, rng), seeds, rng)
            attempt(harness, data, Path(folder), rng, report)
    return report


def attempt(
    harness: Harness, data: bytes, folder: Path, rng: random.Random, report: Report
) -> None:
    """Hand one input to one reader and note what came of it."""
    path = folder / harness.file
    path.write_bytes(data)
    report.executions[harness.name] += 1
    try:
        with deadline(MOST_SECONDS):
            outcome = harness.read(path, rng)
        report.outcomes[f"{harness.name}: {outcome}"] += 1
    except AssayError as refusal:
        report.outcomes[f"{harness.name}: {type(refusal).__name__}"] += 1
    except Exception:
        report.failures.append(f"{harness.name}: {data!r}\n{traceback.format_exc(limit=-4)}")
