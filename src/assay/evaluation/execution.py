"""How are queries put to a retriever, one by one, without one failure ending them all?"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

from assay.errors import TooManyErrorsError
from assay.evaluation.returned import as_outcome
from assay.model.ranking import RankBy
from assay.model.runs import QueryOutcome
from assay.model.testset import GoldenQuery
from assay.plural import counted

Retrieve: TypeAlias = Callable[[GoldenQuery], Any]
Wait: TypeAlias = Callable[[Awaitable[Any]], Any]

MAX_ERRORS = 10
TIMEOUT_S = 120.0


def execute(
    retrieve: Retrieve,
    queries: Iterable[GoldenQuery],
    *,
    max_errors: int | None = MAX_ERRORS,
    timeout_s: float = TIMEOUT_S,
    rank_by: RankBy | None = None,
) -> Iterator[QueryOutcome]:
    """One outcome for each query, in their order.

    An exception becomes the outcome's error; more than ``max_errors`` of them end the run, since
    then the queries are not at fault. A coroutine is waited for ``timeout_s`` seconds. ``rank_by``
    says what ranks the results (``returned.py``).
    """
    errors = 0
    with waiting(timeout_s) as wait:
        for query in queries:
            outcome = ask(retrieve, query, wait, rank_by)
            yield outcome
            errors += outcome.error is not None
            if max_errors is not None and errors > max_errors:
                raise TooManyErrorsError(
                    f"{counted(errors, 'query')} failed, the last one with: {outcome.error}",
                    hint="fix the retriever, or allow more errors (--max-errors)",
                )


def ask(
    retrieve: Retrieve, query: GoldenQuery, wait: Wait, rank_by: RankBy | None = None
) -> QueryOutcome:
    """Ask one query, and say how long it took."""
    started = time.perf_counter()
    try:
        returned = retrieve(query)
        if inspect.isawaitable(returned):
            returned = wait(returned)
        elapsed = 1000 * (time.perf_counter() - started)
        outcome = as_outcome(query.query_id, returned, rank_by)
    except Exception as problem:  # whatever a foreign retriever raises belongs to its query
        elapsed = 1000 * (time.perf_counter() - started)
        return QueryOutcome(query.query_id, latency_ms=elapsed, error=describe(problem))
    # a retriever that measured its own time knows better
    return outcome if outcome.latency_ms is not None else replace(outcome, latency_ms=elapsed)


def describe(problem: Exception) -> str:
    """An exception in one line."""
    text = " ".join(str(problem).split())
    return f"{type(problem).__name__}: {text}"[:500] if text else type(problem).__name__


@contextmanager
def waiting(timeout_s: float) -> Iterator[Wait]:
    """A function that waits for a coroutine, also where an event loop runs already (notebooks)."""
    runner: asyncio.Runner | None = None
    aside: ThreadPoolExecutor | None = None

    def run(awaitable: Awaitable[Any]) -> Any:
        nonlocal runner
        if runner is None:
            runner = asyncio.Runner()
        return runner.run(_within(awaitable, timeout_s))

    def wait(awaitable: Awaitable[Any]) -> Any:
        nonlocal aside
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return run(awaitable)
        if aside is None:
            aside = ThreadPoolExecutor(1, thread_name_prefix="assay-evaluate")
        return aside.submit(run, awaitable).result()

    try:
        yield wait
    finally:
        if runner is not None:
            (aside.submit(runner.close).result() if aside else runner.close())
        if aside is not None:
            aside.shutdown()


async def _within(awaitable: Awaitable[Any], timeout_s: float) -> Any:
    async with asyncio.timeout(timeout_s):
        return await awaitable
