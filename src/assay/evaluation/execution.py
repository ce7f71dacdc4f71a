"""How are queries put to a retriever, one by one, without one failure ending them all?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, TypeAlias

from assay.errors import TooManyErrorsError
from assay.evaluation.returned import as_outcome
from assay.model.ranking import RankBy
from assay.model.runs import QueryOutcome
from assay.model.testset import GoldenQuery
from assay.plural import counted
from assay.time_limit import Resolve, TimeLimit, run_here

Retrieve: TypeAlias = Callable[[GoldenQuery], Any]
Call: TypeAlias = Callable[[Callable[[Resolve], QueryOutcome]], QueryOutcome]

MAX_ERRORS = 10
TIMEOUT_S = 120.0


def execute(
    retrieve: Retrieve,
    queries: Iterable[GoldenQuery],
    *,
    max_errors: int | None = MAX_ERRORS,
    timeout_s: float | None = TIMEOUT_S,
    rank_by: RankBy | None = None,
    timed: bool = True,
) -> Iterator[QueryOutcome]:
    """One outcome for each query, in their order.

    An exception becomes the outcome's error; more than ``max_errors`` queries that failed end the
    run, since then the queries are not at fault. A retriever that takes longer than ``timeout_s``
    seconds is left behind in its thread (``time_limit.py``) and its query failed; with None it is
    called in the caller's thread and waited for. ``rank_by`` says what ranks the results
    (``returned.py``). What is not ``timed`` has no latency.
    """
    errors = 0
    with nullcontext() if timeout_s is None else TimeLimit(timeout_s) as limit:
        call: Call = run_here if limit is None else limit.call
        for query in queries:
            outcome = ask(retrieve, query, call, rank_by)
            if not timed:
                outcome = replace(outcome, latency_ms=None)
            yield outcome
            errors += outcome.failed
            if max_errors is not None and errors > max_errors:
                raise TooManyErrorsError(
                    f"{counted(errors, 'query')} failed, the last one with: "
                    f"{outcome.error or outcome.answer_error}",
                    hint="fix the retriever or the answerer, or allow more errors (--max-errors)",
                )


def ask(
    retrieve: Retrieve, query: GoldenQuery, call: Call, rank_by: RankBy | None = None
) -> QueryOutcome:
    """Ask one query, and say how long it took."""
    started = time.perf_counter()
    took = [0.0]  # until the retriever returned; reading what it returned does not count

    def work(resolve: Resolve) -> QueryOutcome:
        returned = resolve(retrieve(query))
        took[0] = time.perf_counter() - started
        return as_outcome(query.query_id, returned, rank_by)

    try:
        outcome = call(work)
    except (Exception, SystemExit) as problem:  # whatever a retriever raises belongs to its query
        elapsed = 1000 * (time.perf_counter() - started)
        return QueryOutcome(query.query_id, latency_ms=elapsed, error=describe(problem))
    # a retriever that measured its own time knows better
    return (
        outcome if outcome.latency_ms is not None else replace(outcome, latency_ms=1000 * took[0])
    )


def describe(problem: BaseException) -> str:
    """An exception in one line."""
    text = " ".join(str(problem).split())
    return f"{type(problem).__name__}: {text}"[:500] if text else type(problem).__name__
