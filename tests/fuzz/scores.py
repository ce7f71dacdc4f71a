"""Which files of ``assay score`` and ``assay classify`` are fuzzed, and how is each read?

A run file is read line by line, and in pieces by compiled code and by arrays; all must say the same,
and so it is with judgments.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from unittest import mock

from assay import compiled
from assay.errors import AssayError, DuplicateError, FormatError, InputError, LimitError
from assay.hits import qrels, run
from assay.hits.groups import load_groups
from assay.hits.labels import read_labels
from assay.hits.qrels import load_qrels
from assay.hits.run import RunOptions
from assay.hits.trec_stream import IrregularTextError
from assay.model.judgments import Qrels
from tests.fuzz.harness import Harness, changed

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"x": 1, "a": 3}, "f3": {"d3": 1}}
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


class DisagreementError(Exception):
    """Two ways of reading the same bytes gave different answers."""


def read_run(path: Path, rng: random.Random) -> str:
    """A run file: every reader, the same answer."""
    options = RunOptions(float32=rng.random() < 0.1, extra_columns=rng.random() < 0.2)
    with (
        mock.patch.object(run, "judge_trec_stream", side_effect=IrregularTextError),
        mock.patch.object(compiled, "library", return_value=None),
    ):
        careful = _outcome(path, options)
    chunk = rng.choice((1, 16, 64, 64, 256, 1 << 20))
    with changed(STREAM_CHUNK_BYTES=chunk):
        fast = {"compiled": _outcome(path, options)}
        with mock.patch.object(compiled, "library", return_value=None):
            fast["arrays"] = _outcome(path, options)
    for name, outcome in fast.items():
        if not _agree(careful, outcome):
            raise DisagreementError(f"careful: {careful!r}\n{name}: {outcome!r}, by {chunk} bytes")
    return type(careful).__name__ if isinstance(careful, AssayError) else "table"


def _outcome(path: Path, options: RunOptions) -> Any:
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
    """Judgments, from TREC or JSON: line by line, by compiled code and by arrays."""
    with mock.patch.object(qrels, "qrels_from_text", return_value=None):
        careful = _judgments(path)
    found = {"compiled": _judgments(path)}
    with mock.patch.object(compiled, "library", return_value=None):
        found["arrays"] = _judgments(path)
    for name, outcome in found.items():
        if outcome != careful:
            raise DisagreementError(f"careful: {careful!r}\n{name}: {outcome!r}")
    load_qrels(path)  # refused if it is, for all of them alike
    return "judgments"


def _judgments(path: Path) -> tuple[Any, ...]:
    """The columns, or the error and what it says."""
    try:
        found = load_qrels(path)
    except AssayError as refusal:
        return type(refusal).__name__, str(refusal)
    return found.queries, found.query.tolist(), found.docs, found.grade.tolist()


def read_json(path: Path, rng: random.Random) -> str:
    """The same JSON as a run and as judgments."""
    try:
        load_qrels(path)
    except AssayError:
        run.judge(SOUND_QRELS, path, RunOptions(match=rng.choice(("chunk", "doc"))))  # type: ignore[arg-type]
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
HARNESSES = (
    Harness(
        "run",
        "hits.run: line by line and in pieces",
        "runs come from other people's tools; the fast reader must never take what the careful "
        "one refuses, nor rank differently",
        read_run,
        tuple(RUNS),
        share=3,
    ),
    Harness(
        "qrels", "hits.qrels", "judgments of every collection", read_qrels, tuple(QREL_FILES)
    ),
    Harness(
        "json", "hits.json_input", "JSON of any tool, as judgments or as a run", read_json,
        tuple(JSON), share=2,
    ),
    Harness("groups", "hits.groups", "breakdowns, from CSV, columns and JSON", read_groups, tuple(GROUPS)),
    Harness("labels", "hits.labels", "decisions, from CSV and JSON", read_table, tuple(LABELS)),
)  # fmt: skip
