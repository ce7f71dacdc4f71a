"""Which command lines must end in the right exit code, with words that help?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import assay
from tests.badinputs.case import Covered, Entry, Outcome, accepted, refused
from tests.badinputs.ways import QRELS, RUN, Bench, as_command, as_comparison, as_gate

MAIN = "tests/unit/cli/test_main.py"
SCORE = "score -q qrels -r "


def as_fifo(bench: Bench, given: str) -> Outcome:
    """A named pipe to which nobody writes; a command must not wait for ever."""
    os.mkfifo(bench.folder / "pipe")
    return bench.assay(*given.split())


def as_unreadable(bench: Bench, given: str) -> Outcome:
    """A file that may not be read."""
    with _elsewhere(bench):
        bench.write("qrels", QRELS).chmod(0o644)
        bench.write("sound.jsonl", RUN)
        bench.write("secret.jsonl", RUN).chmod(0)
        (bench.folder / "home").mkdir()
        (bench.folder / "home").chmod(0o777)
        bench.assay("--home", "first", *given.replace("secret", "sound").split())  # imports all
        with _nobody():
            return bench.assay("--home", "home", *given.split())


def as_stdin(bench: Bench, given: str) -> Outcome:
    """A run that comes through a pipe."""
    bench.write("qrels", QRELS)
    return bench.assay(*["score", "-q", "qrels", "-r", "-", "-m", "MRR"], stdin=given.encode())


def as_read_only(bench: Bench, given: str) -> Outcome:
    """A workspace that may not be written."""
    with _elsewhere(bench):
        bench.write("corpus.jsonl", '{"_id": "d1", "text": "warfarin"}\n').chmod(0o644)
        bench.assay("--home", "first", *given.split())
        (bench.folder / "home").mkdir(mode=0o555)
        with _nobody():
            return bench.assay("--home", "home", *given.split())


@contextmanager
def _elsewhere(bench: Bench) -> Iterator[None]:
    """A folder that other users may look into, which those of pytest are not."""
    before = bench.folder
    with tempfile.TemporaryDirectory(prefix="assay-bad-inputs-") as folder:
        bench.folder = Path(folder)
        bench.folder.chmod(0o755)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            bench.folder = before


@contextmanager
def _nobody() -> Iterator[None]:
    """Root may read and write everything, so it becomes somebody else for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def interrupted(bench: Bench, seconds: str) -> Outcome:
    """Ctrl-C after so many seconds of an ingestion of 80,000 documents and their index."""
    rows = (json.dumps({"_id": f"d{at}", "text": f"warfarin {at}"}) + "\n" for at in range(80_000))
    bench.write("corpus.jsonl", "".join(rows))
    script = (
        "import signal, sys; import assay.cli.main as main\n"
        "signal.signal(signal.SIGALRM, signal.default_int_handler)  # what Ctrl-C does\n"
        "begin = main._dispatch\n"
        "def later(arguments):\n"
        f"    signal.setitimer(signal.ITIMER_REAL, {seconds})\n"
        "    return begin(arguments)\n"
        "main._dispatch = later\n"
        "sys.exit(main.run(['ingest', 'corpus.jsonl']))\n"
    )
    source = str(Path(assay.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": source},
        cwd=bench.folder, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    sound = bench.assay("index", "check")
    expected = ("behind the store", "no workspace", "no index")  # what an end in the middle leaves
    assert not sound.code or any(words in sound.said for words in expected), sound.said
    return Outcome(done.returncode, done.stdout + done.stderr)


def baseline(value: float | None) -> str:
    return json.dumps({"metrics": {"recall_at_10": value}})


LATENCY = "eval gate --baseline good --current good --limit "
GATE = "tests/unit/evaluation/test_gate.py::test_recall_may_drop_by_5_percent"

CASES: tuple[Entry, ...] = (
    refused("missing-file", as_command, SCORE + "nowhere.run", "'nowhere.run' cannot be read: No such"),
    refused("missing-file/ingest", as_command, "ingest nowhere", "'nowhere' does not exist"),
    refused("missing-file/set", as_command, "testset validate nowhere.yaml", "no file 'nowhere.yaml'"),
    refused("missing-file/restore", as_command, "restore nowhere.tar.gz", "nowhere.tar.gz"),
    refused("folder", as_command, SCORE + "folder", "folder is a folder"),
    refused("folder/ingest", as_command, "ingest folder", "folder: the folder is empty"),
    refused("folder/set", as_command, "testset validate folder/", "folder"),
    refused("folder/restore", as_command, "restore folder", "folder"),
    refused("fifo/ingest", as_fifo, "ingest pipe", "pipe is not a plain file"),
    refused("fifo/set", as_fifo, "testset validate ./pipe", "pipe is not a regular file"),
    refused("fifo/restore", as_fifo, "restore pipe", "pipe is not a plain file"),
    refused("fifo/device", as_command, "ingest /dev/null", "/dev/null is not a plain file"),
    refused("fifo/device-score", as_command, SCORE + "/dev/null", "/dev/null is a device"),
    refused("fifo/device-set", as_command, "testset validate /dev/null", "/dev/null is not a regular"),
    refused("fifo/device-restore", as_command, "restore /dev/null", "/dev/null is not a plain file"),
    refused("unreadable", as_unreadable, SCORE + "secret.jsonl", "secret.jsonl cannot be read: permission denied"),
    refused("unreadable/ingest", as_unreadable, "ingest secret.jsonl", "secret.jsonl"),
    accepted("dash", as_stdin, RUN, "1.0000"),
    refused("dash/empty", as_stdin, "", "standard input is empty"),
    refused("dash/twice", as_command, "score -q - -r -", "only one of qrels and runs"),
    refused("dash/ingest", as_command, "ingest -", "cannot be read from a pipe"),
    Covered("closed-stdout", f"{MAIN}::test_a_closed_stdout"),
    Covered("closed-stdout/reader", f"{MAIN}::test_a_reader_that_goes_away"),
    refused("ctrl-c/begin", interrupted, "0.01", "interrupted", 130),
    refused("ctrl-c/reading", interrupted, "0.8", "interrupted", 130),
    refused("ctrl-c/later", interrupted, "1.6", "interrupted", 130),
    Covered("ctrl-c/signal", f"{MAIN}::test_interrupt_by_signal"),
    Covered("ctrl-c/pull", "tests/unit/encode/test_pull.py::test_ctrl_c_leaves_nothing_behind"),
    accepted("compare-with-itself", as_comparison, "eval compare good good", "compared with itself"),
    accepted("compare-versions", as_comparison, "eval compare good newer", "different versions of golden"),
    accepted("compare-corpora", as_comparison, "eval compare good elsewhere", "no document in common"),
    refused("compare-corpora/unknown", as_comparison, "eval compare good nowhere", "nowhere"),
    refused("baseline-0", as_gate, (baseline(0.0), "good"), "inconclusive", 4),
    refused("baseline-null", as_gate, (baseline(None), "good"), "inconclusive", 4),
    refused("baseline-null/text", as_gate, ('{"metrics": {"recall_at_10": "0.8"}}', "good"), "baseline.json"),
    Covered("drop-of-5-percent", GATE),
    refused("latency-limit", as_comparison, LATENCY + "'latency_p99=5%'", "is not a limit of latency"),
    refused("latency-limit/share-at-all", as_comparison, LATENCY + "'latency_p95<5%'", "is not a limit of latency"),
    refused("latency-limit/no-unit", as_comparison, LATENCY + "latency_p95=5", "is not a limit of latency"),
    refused("latency-limit/twice", as_comparison, LATENCY + "latency_p95=5% --limit latency_p95=9ms", "has two limits"),
    refused("latency-limit/repeats", as_comparison, LATENCY + "latency_p95=5% --latency-repeats 1000000", "latency-repeats"),
    refused("baseline-null/times", as_gate, ('{"metrics": {}, "latency_ms": {"p95": "fast"}}', "good"), "latency_ms.p95"),
    refused("read-only-home", as_read_only, "ingest corpus.jsonl --no-index", "home", 1),
    Covered("no-home-variable", f"{MAIN}::test_no_home_variable"),
    Covered("c-locale", f"{MAIN}::test_a_locale_without_utf8"),
    Covered("two-processes", "tests/unit/store/test_corpus.py::test_several_processes_write_at_once"),
)  # fmt: skip
