"""Does reading in pieces lose, repeat or misplace nothing, and stay within its caps?"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay import limits
from assay.errors import LimitError
from assay.hits import trec_stream
from assay.hits.qrels import load_qrels
from assay.hits.run import judge
from assay.hits.trec_stream import duplicate_in_run

from .conftest import make_careful, make_stream
from .tables import assert_same, ranks

pytestmark = pytest.mark.usefixtures("loops")

Write = Callable[[str, bytes | str], Path]

QRELS = load_qrels({"q1": {"a": 1}, "q2": {"x": 1}})


@pytest.mark.parametrize("chunk", [1, 7, 16, 17, 18, 33, 64, 100, 4096])
def test_borders_of_pieces_do_not_matter(
    write: Write, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    lines = [
        f"q{query} Q0 d{doc} 1 {(doc * 7) % 5} t\n"
        for query, docs in enumerate((1, 5, 1, 12, 3, 3, 1, 8))
        for doc in range(docs)
    ]
    qrels = load_qrels({f"q{n}": {"d0": 1, "d2": 2, "d7": 1} for n in range(9)})
    for name, text in (
        ("a", "".join(lines)),
        ("b", "".join(lines[::3] + lines[1::3] + lines[2::3])),
    ):
        path = write(name, text)
        with monkeypatch.context() as patch:
            make_careful(patch)
            expected = judge(qrels, path)
        with monkeypatch.context() as patch:
            make_stream(patch, chunk)
            assert_same(judge(qrels, path), expected)


def test_the_careful_reader_is_not_needed(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """For every kind of blanks; it would be ten times slower."""
    make_stream(monkeypatch, 1 << 20)
    monkeypatch.setattr(trec_stream, "read_run_lines", None)
    run = "q1 Q0 b 1 2.5 t\nq1 Q0 a 2 1e-3 t\nq2 Q0 x 1 -7 t\n"
    for content in (
        run,
        "\ufeff" + run,
        run.replace(" ", "\t"),
        run.replace(" ", "  "),
        run.replace(" Q0 ", "\tQ0 "),
        run.replace("\n", "\r\n"),
        run.replace("\n", " \n"),
        run.replace("\n", "\n\n"),
        run.replace("Q0", "#"),
        run.replace("q2", "#2"),
    ):
        assert ranks(judge(QRELS, write("a", content)), "q1") == [(2, 1)]


@pytest.fixture
def large(write: Write) -> Path:
    """One query that fills many pieces, then another, then the first again."""
    rows = "".join(f"q1 Q0 d{n} 1 {n} t\n" for n in range(600))
    return write("a", rows + "q2 Q0 x 1 1 t\n" + "q1 Q0 a 1 0.5 t\n")


def test_a_query_that_is_too_large(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_stream(monkeypatch)
    monkeypatch.setattr(limits, "SCATTERED_MAX_BYTES", 3_000)
    with pytest.raises(LimitError, match=r"one query alone takes more than .*keep the first"):
        judge(QRELS, large)


def test_scattered_rows_that_are_too_many_to_sort(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_stream(monkeypatch)
    monkeypatch.setattr(limits, "SCATTERED_MAX_BYTES", 10_000)
    content = "".join(f"q{n % 300} Q0 d{n} 1 {n} t\n" for n in range(900))
    with pytest.raises(LimitError, match=r"are not together.*sort -s -k1,1"):
        judge(QRELS, write("a", content))


def test_scattered_rows_within_the_cap(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_stream(monkeypatch)
    assert ranks(judge(QRELS, large), "q1") == [(600, 1)]


def test_a_file_that_changes_while_it_is_read() -> None:
    """The second look for line numbers may find less than the first; the refusal stands."""
    assert "a.run: query 'q' has document 'd' again (a ranking" in str(
        duplicate_in_run("a.run", "q", "d", [])
    )
    assert "a.run: query 'q' has document 'd' again (first on line 3)" in str(
        duplicate_in_run("a.run", "q", "d", [3])
    )


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """A run of 60 MB takes hardly more memory than one of 6 MB."""
    docs = [f"{n}" for n in np.random.default_rng(1).permutation(2000)]
    ranking = "".join(f"Q Q0 {doc} 1 {2000 - at}.5 t\n" for at, doc in enumerate(docs))
    script = (
        "import sys, resource\n"
        "from assay.hits.qrels import load_qrels\n"
        "from assay.hits.run import judge\n"
        "table = judge(load_qrels({'q7': {'5': 1}}), sys.argv[1])\n"
        "assert len(table.rank) == 1\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    peaks = []
    for queries in (200, 1200):
        path = tmp_path / f"{queries}.run"
        with path.open("w") as file:
            for query in range(queries):
                file.write(ranking.replace("Q Q0", f"q{query} Q0"))
        done = subprocess.run(
            [sys.executable, "-c", script, str(path)], capture_output=True, check=True, timeout=120
        )
        peaks.append(int(done.stdout))
    unit = 1 << 10 if sys.platform == "linux" else 1 << 20
    assert resource.getpagesize()
    assert peaks[1] - peaks[0] < 40 * unit
