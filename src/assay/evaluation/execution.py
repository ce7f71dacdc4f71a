"""How are queries put to a retriever, several at a time, without one failure ending them all?"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from queue import SimpleQueue
from typing import Any, TypeAlias

from assay.errors import AssayError, TooManyErrorsError, UnreachableError
from assay.evaluation.returned import as_outcome
from assay.model.ranking import RankBy
from assay.model.runs import ASKED_AGAIN, QueryOutcome
from assay.model.testset import GoldenQuery
from assay.plural import counted
from assay.time_limit import Resolve, TimeLimit, run_here

Retrieve: TypeAlias = Callable[[GoldenQuery], Any]
RetrieveMany: TypeAlias = Callable[[Sequence[GoldenQuery]], Sequence[QueryOutcome]]
Finish: TypeAlias = Callable[[GoldenQuery, QueryOutcome], QueryOutcome]
Call: TypeAlias = Callable[[Callable[[Resolve], QueryOutcome]], QueryOutcome]
_Jobs: TypeAlias = "SimpleQueue[tuple[GoldenQuery, Future[QueryOutcome]] | None]"

log = logging.getLogger("assay.evaluation")

MAX_ERRORS = 10
TIMEOUT_S = 120.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0
AHEAD = 4  # queries handed out for each that is asked at the same time


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a query that failed is asked again; each pause is twice the one before.

    Pauses grow from half a second to half a minute, unless the error says how long to wait
    (``retry_after``, in seconds).
    """

    times: int = 0
    pause: Callable[[float], None] = time.sleep

    def allow(self, problem: BaseException, made: int) -> bool:
        """Whether to ask again after so many attempts, once it has paused.

        What we refused ourselves, such as an unknown shape of results, would be refused again.
        """
        lasting = isinstance(problem, (AssayError, SystemExit, NotImplementedError))
        if made > self.times or (lasting and not isinstance(problem, UnreachableError)):
            return False
        said = getattr(problem, "retry_after", None)
        usual = FIRST_PAUSE_S * 2 ** (made - 1)
        seconds = float(said) if isinstance(said, (int, float)) and said >= 0 else usual
        self.pause(min(seconds, LONGEST_PAUSE_S))
        return True


ONCE = Retries()


def execute(
    retrieve: Retrieve,
    queries: Iterable[GoldenQuery],
    *,
    max_errors: int | None = MAX_ERRORS,
    timeout_s: float | None = TIMEOUT_S,
    rank_by: RankBy | None = None,
    timed: bool = True,
    concurrency: int = 1,
    retries: Retries = ONCE,
    finish: Finish | None = None,
    retrieve_many: RetrieveMany | None = None,
) -> Iterator[QueryOutcome]:
    """One outcome for each query, in their order.

    An exception becomes the outcome's error; more than ``max_errors`` queries that failed end the
    run, since then the queries are not at fault. A retriever that takes longer than ``timeout_s``
    seconds is left behind in its thread (``time_limit.py``) and its query failed; with None it is
    called in the caller's thread and waited for. ``rank_by`` says what ranks the results
    (``returned.py``). What is not ``timed`` has no latency. ``concurrency`` queries at most are
    asked at the same time; coroutines then share one event loop, and ``retrieve_many`` is handed so
    many at once. What ``finish`` adds to an outcome
    has no limit of time, and its errors end the run.
    """
    errors = 0
    limited = None if timeout_s is None else TimeLimit(timeout_s, shared_loop=concurrency > 1)
    with nullcontext() if limited is None else limited as limit:
        call: Call = run_here if limit is None else limit.call

        def asked(query: GoldenQuery) -> QueryOutcome:
            found = ask(retrieve, query, call, rank_by, retries)
            return found if finish is None else finish(query, found)

        if retrieve_many is None or concurrency == 1 or limited is not None:
            outcomes = _in_order(asked, queries, concurrency)
        else:
            outcomes = _in_batches(retrieve_many, asked, finish, queries, concurrency)
        for outcome in outcomes:
            yield outcome if timed else replace(outcome, latency_ms=None)
            errors += outcome.failed
            if max_errors is not None and errors > max_errors:
                raise TooManyErrorsError(
                    f"{counted(errors, 'query')} failed, the last one with: "
                    f"{outcome.error or outcome.answer_error}",
                    hint="fix the retriever or the answerer, or allow more errors (--max-errors)",
                )


def require_an_answer(outcomes: Sequence[QueryOutcome], held_out: Collection[str]) -> None:
    """Refuse to score a system that failed on every query: 0 would say that it found nothing.

    The error of a held-out query may quote it, and is not told.
    """
    if outcomes and all(one.error is not None for one in outcomes):
        every = "the only query" if len(outcomes) == 1 else f"all {len(outcomes)} queries"
        first = next((one.error for one in outcomes if one.query_id not in held_out), None)
        raise TooManyErrorsError(
            f"{every} failed" + ("" if first is None else f", the first one with: {first}"),
            hint="fix the retriever; nothing was scored",
        )


def _in_order(
    asked: Callable[[GoldenQuery], QueryOutcome], queries: Iterable[GoldenQuery], concurrency: int
) -> Iterator[QueryOutcome]:
    """The outcomes in the order of the queries, however many are asked at the same time."""
    if concurrency == 1:
        yield from map(asked, queries)
        return
    jobs: _Jobs = SimpleQueue()
    waiting: deque[Future[QueryOutcome]] = deque()
    for _ in range(concurrency):  # a call that hangs must not keep the process alive
        threading.Thread(target=_work, args=(jobs, asked), name="assay-ask", daemon=True).start()
    try:
        for query in queries:
            waiting.append(Future())
            jobs.put((query, waiting[-1]))
            if len(waiting) >= AHEAD * concurrency:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for one in waiting:
            one.cancel()
        for _ in range(concurrency):
            jobs.put(None)


def _in_batches(
    retrieve_many: RetrieveMany,
    asked: Callable[[GoldenQuery], QueryOutcome],
    finish: Finish | None,
    queries: Iterable[GoldenQuery],
    size: int,
) -> Iterator[QueryOutcome]:
    """The outcomes of batches; one that fails as a whole is asked query by query."""
    rest = iter(queries)
    while batch := [*islice(rest, size)]:
        try:
            outcomes = retrieve_many(batch)
        except Exception as problem:  # one query is at fault, and the others are not
            log.debug("asked one by one, since a batch failed: %s", describe(problem))
            yield from map(asked, batch)
            continue
        yield from outcomes if finish is None else map(finish, batch, outcomes)


def _work(jobs: _Jobs, asked: Callable[[GoldenQuery], QueryOutcome]) -> None:
    """Ask one query after the other, until there are no more."""
    while (job := jobs.get()) is not None:
        query, done = job
        if done.set_running_or_notify_cancel():
            try:
                done.set_result(asked(query))
            except BaseException as problem:  # belongs to whoever waits
                done.set_exception(problem)


def ask(
    retrieve: Retrieve,
    query: GoldenQuery,
    call: Call,
    rank_by: RankBy | None = None,
    retries: Retries = ONCE,
) -> QueryOutcome:
    """Ask one query, and say how long the last attempt took."""
    attempts = 0
    while True:
        attempts += 1
        started = time.perf_counter()
        took = [0.0]  # until the retriever returned; reading what it returned does not count

        def work(resolve: Resolve, started: float = started, took: list[float] = took) -> Any:
            returned = resolve(retrieve(query))
            took[0] = time.perf_counter() - started
            judged = (one.id for one in query.relevant_docs)
            return as_outcome(query.query_id, returned, rank_by, judged)

        try:
            outcome = call(work)
        except (Exception, SystemExit) as problem:  # whatever is raised belongs to its query
            elapsed = 1000 * (time.perf_counter() - started)
            if retries.allow(problem, attempts):
                continue
            return QueryOutcome(query.query_id, latency_ms=elapsed, error=describe(problem))
        break
    if attempts > 1:
        outcome = replace(outcome, warnings=(*outcome.warnings, ASKED_AGAIN))
    # a retriever that measured its own time knows better
    return (
        outcome if outcome.latency_ms is not None else replace(outcome, latency_ms=1000 * took[0])
    )


def describe(problem: BaseException) -> str:
    """An exception in one line."""
    text = " ".join(str(problem).split())
    return f"{type(problem).__name__}: {text}"[:500] if text else type(problem).__name__
