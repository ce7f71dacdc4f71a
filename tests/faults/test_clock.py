"""What does a wall clock do that is far ahead, far behind, or jumps between two commands?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.warm import warm

pytestmark = pytest.mark.slow

AHEAD, BEHIND, BEYOND = 3_000_000_000, -1_000_000_000, 251_500_000_000
BEFORE_1970 = -2_500_000_000
SETTINGS = {"ASSAY_DENSE_MODEL": "none", "ASSAY_SPLADE_MODEL": "none", "ASSAY_RESAMPLES": "100"}
TEST_SET = """\
name: s
version: 1
queries:
- query_id: q1
  query_text: heart failure
  relevant_docs: [{doc_id: d1, grade: 1}]
"""
At = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def wrong_clock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The program ``assay``, whose time of day is wrong by what the file ``offset`` beside says."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("no C compiler here to make a wrong clock with")
    folder = tmp_path_factory.mktemp("clock")
    library, source = folder / "clock.so", Path(__file__).with_name("clock.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    offset = folder / "bin" / "offset"
    with warm(folder, {"LD_PRELOAD": str(library), "ASSAY_TEST_CLOCK": str(offset)}) as program:
        yield program


@pytest.fixture
def at(wrong_clock: Path, tmp_path: Path) -> At:
    """A command line at another time, in a workspace of its own."""
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "heart failure"}\n')
    (tmp_path / "s.yaml").write_text(TEST_SET)

    def call(seconds: int, *arguments: str) -> tuple[int, str]:
        offset = wrong_clock.with_name("offset")
        offset.write_text(str(seconds))
        done = subprocess.run(
            [wrong_clock, "--home", "home", *arguments],
            cwd=tmp_path, env={**os.environ, **SETTINGS, "ASSAY_TEST_CLOCK": str(offset)},
            timeout=120, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    return call


@pytest.mark.parametrize("seconds", [AHEAD, BEHIND, BEFORE_1970])
def test_a_day_with_a_wrong_clock(at: At, seconds: int) -> None:
    for command in (
        "ingest corpus.jsonl",
        "search heart",
        "eval run -t s.yaml",
        "eval history s",
        "keys create reader --days 5",
        "keys list",
        "backup b.tar.gz",
        "doctor",
    ):
        code, said = at(seconds, *command.split())
        assert code == 0, said


def test_a_clock_that_jumps_loses_nothing(at: At) -> None:
    """Forth, back and forth again, between the commands of one workspace."""
    for seconds in (0, AHEAD, BEFORE_1970, 0):
        assert at(seconds, "ingest", "corpus.jsonl")[0] == 0
        code, said = at(seconds, "eval", "run", "-t", "s.yaml", "--name", f"at{seconds}")
        assert code == 0, said
    code, listed = at(BEHIND, "eval", "list", "--json")
    assert code == 0
    assert json.loads(listed)["total"] == 3  # a run of each name; the last is the first again
    assert at(AHEAD, "doctor")[0] == at(BEHIND, "doctor")[0] == 0


def test_a_clock_beyond_what_can_be_reckoned_is_named(at: At) -> None:
    assert at(0, "ingest", "corpus.jsonl")[0] == 0
    code, said = at(BEYOND, "doctor")
    assert code == 1
    assert "the clock of this machine is wrong" in said
