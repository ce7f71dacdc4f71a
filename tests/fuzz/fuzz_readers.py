"""Does any input make a reader fail in a way that nobody meant?

Sound files are changed at random and read. A reader may give a result or raise an ``AssayError``;
anything else is a failure. A run file is read twice, line by line and in pieces, and both must say
the same::

    python -m tests.fuzz.fuzz_readers --seconds 60
    python -m tests.fuzz.fuzz_readers --seconds 60 --seed 7 --target run
"""

from __future__ import annotations

import argparse
import gzip
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import zstandard

from assay import limits
from assay.errors import AssayError, DuplicateError, FormatError, InputError, LimitError
from assay.hits import run
from assay.hits.groups import load_groups
from assay.hits.labels import read_labels
from assay.hits.options import Options
from assay.hits.qrels import load_qrels
from assay.hits.trec_stream import IrregularTextError
from assay.model.judgments import Qrels

from .mutate import mutated

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"x": 1, "a": 3}, "f3": {"d3": 1}}
MOST_SECONDS = 20  # for one input of a few kilobytes; a busy machine needs one at most
ARRAYS = ("query", "rank", "grade", "lead", "retrieved", "top_score", "tied", "missing")

RUN = b"".join(
    b"%s Q0 %s %d %s t\n" % row
    for row in [
        (b"q1", b"a", 1, b"3.0"),
        (b"q1", b"z", 2, b"2.5"),
        (b"q1", b"b", 3, b"2.5"),
        (b"q1", b"c", 4, b"1e0"),
        (b"q2", b"y", 1, b"9"),
        (b"q2", b"x", 2, b"8.25"),
        *((b"f%d" % n, b"d%d" % n, 1, b"0.5") for n in range(6)),
    ]
)
FIXED = b"".join(
    b"%s Q0 %s %d %s t\n" % row
    for row in [
        (b"q1", b"a", 1, b"13.500"),
        (b"q1", b"longer-than-a-word", 2, b"2.500"),
        (b"q1", b"b", 3, b"2.500"),
        (b"q1", b"c", 4, b"0.001"),
        (b"topic-q2", b"y", 1, b"9.000"),
        (b"q2", b"y", 1, b"9.000"),
        (b"q2", b"x", 2, b"9.000"),
    ]
)
RUNS = [
    RUN,
    RUN.replace(b" t\n", b" 1\n"),
    RUN.replace(b" ", b"\t"),
    RUN.replace(b"\n", b"\r\n"),
    b"# x\n\n" + RUN,
]
QREL_FILES = [
    b"q1 0 a 1\nq1 0 b 0\nq2 0 x 3\nq2 0 y -1\n",
    b"query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tx\t2\n",
]
JSON = [
    b'{"q1": {"a": 3.5, "b": 2}, "q2": {"x": -1}}',
    b'{"q1": ["a", "b"], "q2": [["x", 1.5], ["y", 2]]}',
    b'{"query_id": "q1", "doc_id": "a", "score": 1}\n{"query_id": "q2", "doc_id": "x", "score": 2}',
    b'{"queries": [{"id": "q1", "results": [{"chunk_id": "a", "doc_id": "d", "spans": [[0, 5]]}]}'
    b', {"id": "q2", "hits": ["x", "y"]}]}',
    b'[{"query_id": "q1", "relevant_docs": [{"doc_id": "a", "grade": 2}, "b"], "type": "x"}]',
    b'{"q1": {"a": 1, "b": 0},\n "q2": {"x": 3}}',
]
GROUPS = [b"q1,a\nq2,b\n", b"query_id\tgroup\nq1\ta\n", b'{"q1": "a", "q2": "b"}', b"q1 a\nq2 b\n"]
LABELS = [
    b"label,score,c\n1,0.5,x\n0,0.25,y\n",
    b'{"label": 1, "score": 2}\n{"label": 0, "score": 1}',
]


@dataclass
class Report:
    """What was tried, and what came of it."""

    executions: int = 0
    failures: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)


class HangError(Exception):
    """A reader took longer than it could need."""


class DisagreementError(Exception):
    """Two ways of reading the same bytes gave different answers."""


Target = Callable[[Path, random.Random], str]


def read_run(path: Path, rng: random.Random) -> str:
    """A run file: both readers, the same answer."""
    options = Options(float32=rng.random() < 0.1, extra_columns=rng.random() < 0.2)
    with mock.patch.object(run, "judge_trec_stream", side_effect=IrregularTextError):
        careful = _outcome(path, options)
    chunk = rng.choice((1, 16, 64, 64, 256, 1 << 20))
    with changed(STREAM_CHUNK_BYTES=chunk):
        fast = _outcome(path, options)
    if not _agree(careful, fast):
        raise DisagreementError(f"careful: {careful!r}\nfast: {fast!r} (pieces of {chunk})")
    return type(careful).__name__ if isinstance(careful, AssayError) else "table"


def _outcome(path: Path, options: Options) -> Any:
    try:
        table = run.judge(SOUND_QRELS, path, options)
    except AssayError as refusal:
        return refusal
    return table.extra_queries, [getattr(table, name).tolist() for name in ARRAYS]


def _agree(careful: Any, fast: Any) -> bool:
    """The same table; or two refusals, which name the same place if both are about the form.

    A file with several faults may be refused for its form by one, and for a duplicate or a score
    beyond 32 bits by the other: the fast reader sees the beginning before it sees the end.
    """
    if not isinstance(careful, AssayError) or not isinstance(fast, AssayError):
        return bool(careful == fast)
    forms = (FormatError, LimitError)
    if isinstance(careful, forms) and isinstance(fast, forms):
        return str(careful) == str(fast)
    earlier = type(fast) in (DuplicateError, InputError)
    return earlier or DuplicateError in (type(careful), type(fast)) or type(careful) is type(fast)


def read_qrels(path: Path, rng: random.Random) -> str:
    """Judgments, from TREC or JSON."""
    load_qrels(path)
    return "judgments"


def read_json(path: Path, rng: random.Random) -> str:
    """The same JSON as a run and as judgments."""
    try:
        load_qrels(path)
    except AssayError:
        run.judge(SOUND_QRELS, path, Options(match=rng.choice(("chunk", "doc"))))  # type: ignore[arg-type]
        return "run"
    return "judgments"


def read_groups(path: Path, rng: random.Random) -> str:
    """Groups of queries."""
    load_groups(path, SOUND_QRELS)
    return "groups"


def read_table(path: Path, rng: random.Random) -> str:
    """Labels and scores."""
    read_labels(str(path), rng.choice((None, "c")))
    return "labels"


SOUND_QRELS: Qrels = load_qrels(QRELS)
TARGETS: dict[str, tuple[Target, list[bytes]]] = {
    "run": (read_run, RUNS),
    "qrels": (read_qrels, QREL_FILES),
    "json": (read_json, JSON),
    "groups": (read_groups, GROUPS),
    "labels": (read_table, LABELS),
}
SHARES = {"run": 6, "qrels": 2, "json": 4, "groups": 1, "labels": 1}


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


@contextmanager
def changed(**values: int) -> Iterator[None]:
    """Limits with other values for a while."""
    before = {name: getattr(limits, name) for name in values}
    try:
        for name, value in values.items():
            setattr(limits, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(limits, name, value)


def packed(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Now and then the bytes are compressed, and damaged once more."""
    draw = rng.random()
    if draw > 0.08:
        return data
    small = gzip.compress(data) if draw < 0.04 else zstandard.ZstdCompressor().compress(data)
    return mutated(small, others, rng) if rng.random() < 0.7 else small


def fuzz(seconds: float, seed: int, target: str | None = None, most: int = 10) -> Report:
    """Try until the time is over or ``most`` failures are found."""
    rng, report = random.Random(seed), Report()
    names = [target] if target else [name for name, share in SHARES.items() for _ in range(share)]
    end = time.monotonic() + seconds
    with (
        tempfile.TemporaryDirectory() as folder,
        changed(MAX_ID_BYTES=45),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        path = Path(folder) / "input"
        while time.monotonic() < end and len(report.failures) < most:
            name = rng.choice(names)
            reader, seeds = TARGETS[name]
            data = packed(mutated(rng.choice(seeds), seeds, rng), seeds, rng)
            path.write_bytes(data)
            report.executions += 1
            try:
                with deadline(MOST_SECONDS):
                    outcome = reader(path, rng)
                report.outcomes[f"{name}: {outcome}"] += 1
            except AssayError as refusal:
                report.outcomes[f"{name}: {type(refusal).__name__}"] += 1
            except Exception:
                report.failures.append(f"{name}: {data!r}\n{traceback.format_exc(limit=-4)}")
    return report


def main() -> int:
    """Say what was done; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="default: one from the clock")
    parser.add_argument("--target", choices=TARGETS, default=None)
    given = parser.parse_args()
    seed = time.time_ns() % 10**9 if given.seed is None else given.seed
    report = fuzz(given.seconds, seed, given.target)
    for outcome, count in sorted(report.outcomes.items()):
        print(f"{count:8} {outcome}")
    for failure in report.failures:
        print(failure)
    print(f"seed {seed}: {report.executions} executions, {len(report.failures)} failures")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
