"""Is a call that blocks cut off, and does everything else go on?"""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator

import pytest

from assay import limits
from assay.time_limit import Resolve, TimeLimit, run_here

SHORT, LONG = 0.05, 60.0


@pytest.fixture
def held() -> Iterator[Callable[[], None]]:
    """Something that blocks until the test is over."""
    over = threading.Event()
    yield lambda: (over.wait(LONG), None)[1]
    over.set()


def test_values_and_errors_come_through_and_the_thread_stays_the_same() -> None:
    with TimeLimit(LONG) as limit:
        threads = {limit.call(lambda _: threading.get_ident()) for _ in range(5)}
        assert len(threads) == 1
        assert threads != {threading.get_ident()}
        with pytest.raises(KeyError, match="mine"):
            limit.call(lambda _: raised(KeyError("mine")))
        assert limit.call(lambda _: threading.get_ident()) in threads
        with pytest.raises(TimeoutError, match="my own"):
            limit.call(lambda _: raised(TimeoutError("my own")))
        with pytest.raises(SystemExit):
            limit.call(lambda _: raised(SystemExit(3)))


def raised(problem: BaseException) -> None:
    raise problem


def test_what_blocks_is_left_behind_and_the_next_call_is_made(held: Callable[[], None]) -> None:
    with TimeLimit(SHORT) as limit:
        with pytest.raises(TimeoutError, match=r"no answer within 0\.05 s"):
            limit.call(lambda _: held())
        assert limit.call(lambda _: 7) == 7


def test_only_so_many_are_left_behind(held: Callable[[], None]) -> None:
    with TimeLimit(0.001) as limit:
        for _ in range(limits.MAX_ABANDONED_CALLS):
            with pytest.raises(TimeoutError, match="no answer"):
                limit.call(lambda _: held())
        called: list[int] = []
        with pytest.raises(TimeoutError, match="not called: 8 earlier calls"):
            limit.call(lambda _: called.append(1))
        assert called == []


def test_coroutines_share_a_loop_and_end_in_time() -> None:
    async def loop_of() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    cancelled: list[bool] = []

    async def hangs() -> None:
        try:
            await asyncio.sleep(LONG)
        finally:
            cancelled.append(True)

    with TimeLimit(SHORT) as limit:
        first = limit.call(lambda resolve: resolve(loop_of()))
        with pytest.raises(TimeoutError, match="no answer"):
            limit.call(lambda resolve: resolve(hangs()))
        assert cancelled == [True]
        assert limit.call(lambda resolve: resolve(loop_of())) is first


def test_a_coroutine_that_blocks_is_cut_off_too(
    held: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.time_limit.CANCEL_S", SHORT)

    async def blocks() -> None:
        held()

    with TimeLimit(SHORT) as limit:
        with pytest.raises(TimeoutError, match="no answer"):
            limit.call(lambda resolve: resolve(blocks()))
        assert limit.call(lambda _: 7) == 7


def test_it_works_where_a_loop_runs_already() -> None:
    async def seven() -> int:
        return 7

    async def notebook() -> tuple[int, int]:
        with TimeLimit(LONG) as limit:
            return limit.call(lambda resolve: resolve(seven())), run_here(
                lambda resolve: resolve(seven())
            )

    assert asyncio.run(notebook()) == (7, 7)


@pytest.mark.parametrize("wrapped", [False, True])
def test_code_that_belongs_to_its_thread_is_called_there(
    wrapped: bool, caplog: pytest.LogCaptureFixture
) -> None:
    database = sqlite3.connect(":memory:")

    def ask(resolve: Resolve) -> int:
        try:
            (value,) = database.execute("SELECT 7").fetchone()
        except sqlite3.Error as problem:
            if wrapped:  # as libraries do
                raise KeyError("the store failed") from problem
            raise
        return int(value)

    with TimeLimit(LONG) as limit:
        assert limit.call(ask) == 7
        assert limit.call(lambda _: threading.get_ident()) == threading.get_ident()
    assert "not cut off" in caplog.text
    database.close()


def test_code_that_needs_the_main_thread_is_called_there() -> None:
    with TimeLimit(LONG) as limit:
        limit.call(lambda _: signal.signal(signal.SIGUSR1, signal.SIG_DFL))
        assert limit.call(lambda _: threading.get_ident()) == threading.get_ident()


def test_other_errors_that_speak_of_threads_change_nothing(held: Callable[[], None]) -> None:
    """OpenSearch says so where it is busy: the limit holds, and nothing is called twice."""
    called: list[int] = []

    def busy(_: Resolve) -> None:
        called.append(1)
        raise RuntimeError("rejected execution: the search thread pool is full")

    with TimeLimit(SHORT) as limit:
        with pytest.raises(RuntimeError, match="thread pool is full"):
            limit.call(busy)
        assert called == [1]
        with pytest.raises(TimeoutError, match="no answer"):
            limit.call(lambda _: held())


def test_threads_may_share_a_limit() -> None:
    both = threading.Barrier(2, timeout=LONG)
    with TimeLimit(LONG) as limit:
        other = threading.Thread(target=lambda: limit.call(lambda _: both.wait()))
        other.start()
        limit.call(lambda _: both.wait())  # would never end if calls waited for one another
        other.join()
    assert not both.broken
