"""Does what is computed in another process come back, cost what it took, and end when it must?"""

from __future__ import annotations

import itertools
import os
import pickle
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay import interrupt
from assay.app.workspace import Workspace
from assay.errors import AssayError, FormatError, Problem, ProblemsError, SearchUnavailableError
from assay.http.edge.problems import ProblemError
from assay.http.workers import TooLongError, Workers
from assay.settings import configure
from tests.waiting import eventually


def squared(workspace: Workspace, number: int) -> tuple[str, int]:
    return str(workspace.home), number * number


def refused(workspace: Workspace) -> None:
    raise FormatError("no number", source="a.csv", line=3, hint="write one")


def broken(workspace: Workspace) -> None:
    raise ZeroDivisionError


def forever(workspace: Workspace) -> None:
    while True:
        pass


def asleep(workspace: Workspace, seconds: float) -> None:
    threading.Event().wait(seconds)


def ended(workspace: Workspace, code: int) -> None:
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    made = Workers(configure({"home": tmp_path}, environ={}, folder=tmp_path), 2)
    yield made
    made.close()
    assert not made.pids


def run(workers: Workers, function: Any, *given: Any, caller: str = "a", most: float = 20) -> Any:
    return workers.run(caller, most, lambda seconds: None, function, *given)


def test_an_answer_comes_back_and_the_process_is_used_again(
    workers: Workers, tmp_path: Path
) -> None:
    held = bytearray(500 << 20)  # a large service hands its peak of memory down to its processes
    assert run(workers, squared, 7) == (str(tmp_path), 49)
    del held
    first = workers.pids
    assert run(workers, squared, 8) == (str(tmp_path), 64)
    assert workers.pids == first
    with pytest.raises(FormatError) as error:
        run(workers, refused)
    assert (str(error.value), error.value.line) == ("a.csv:3: no number (write one)", 3)
    with pytest.raises(ZeroDivisionError) as defect:
        run(workers, broken)
    assert "in broken" in defect.value.__notes__[0]
    assert workers.pids == first


def test_work_that_nobody_waits_for_is_ended_and_paid(workers: Workers) -> None:
    run(workers, squared, 1)
    looks = itertools.count()
    paid: list[float] = []
    with (
        pytest.raises(interrupt.GivenUpError),
        interrupt.until(lambda: next(looks) > 10),
    ):
        workers.run("a", 20, paid.append, forever)
    assert not workers.pids
    assert 0 < paid[0] < 10
    assert run(workers, squared, 2)[1] == 4


def test_more_of_a_core_than_is_allowed_ends_it(workers: Workers) -> None:
    with pytest.raises(TooLongError):
        run(workers, forever, most=1)
    assert not workers.pids


@pytest.mark.parametrize("code", [-signal.SIGKILL, 3, 0])
def test_a_process_that_dies_is_a_refusal_and_the_next_is_fresh(
    workers: Workers, code: int
) -> None:
    with pytest.raises(ProblemError, match="ended unexpectedly") as error:
        run(workers, ended, code)
    assert error.value.status_code == 503
    assert run(workers, squared, 3)[1] == 9


def test_one_caller_leaves_a_process_to_others(workers: Workers) -> None:
    gone = threading.Event()

    def crowd() -> None:
        with interrupt.until(gone.is_set), pytest.raises(interrupt.GivenUpError):
            run(workers, asleep, 60, caller="greedy")

    threads = [threading.Thread(target=crowd) for _ in range(4)]
    for thread in threads:
        thread.start()
    eventually(lambda: bool(workers.pids))
    assert run(workers, squared, 5, caller="other")[1] == 25
    gone.set()
    for thread in threads:
        thread.join(10)


def test_closing_ends_what_is_computed(workers: Workers) -> None:
    found: list[BaseException] = []

    def ask() -> None:
        try:
            run(workers, asleep, 60)
        except ProblemError as problem:
            found.append(problem)

    thread = threading.Thread(target=ask)
    thread.start()
    eventually(lambda: bool(workers.pids))
    workers.close()
    thread.join(10)
    assert found


def test_every_error_comes_through_whole() -> None:
    problem = Problem("bad", "f.yaml", 2, "q1")
    for error in (
        ProblemsError("f.yaml", [problem], hint="mend it"),
        SearchUnavailableError("none answered", component_errors=("bm25_timeout",)),
        FormatError("bad", source="f", line=1),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert isinstance(again, AssayError)
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
