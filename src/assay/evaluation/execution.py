"""How are queries put to a retriever, one by one, without one failure ending them all?

A retriever may return ids, ``(id, score)`` pairs, ``{id: score}``, dicts or objects with an id and
perhaps a score, rank, document and spans, a response that has ``results``, or a finished outcome.
The order is score descending, then the rank that the engine gave, then the place in its list.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NoReturn, TypeAlias

from assay import limits
from assay.errors import InputError, TooManyErrorsError
from assay.hits.live import ordered
from assay.model.judgments import Span
from assay.model.ranking import Result, document_id
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.testset import GoldenQuery
from assay.plural import counted
from assay.time_limit import Resolve, TimeLimit, run_here

Retrieve: TypeAlias = Callable[[GoldenQuery], Any]
Call: TypeAlias = Callable[[Callable[[Resolve], QueryOutcome]], QueryOutcome]

MAX_ERRORS = 10
TIMEOUT_S = 120.0
ID_NAMES = ("chunk_id", "id", "doc_id", "segment_id", "document_id")


def execute(
    retrieve: Retrieve,
    queries: Iterable[GoldenQuery],
    *,
    max_errors: int | None = MAX_ERRORS,
    timeout_s: float | None = TIMEOUT_S,
) -> Iterator[QueryOutcome]:
    """One outcome for each query, in their order.

    An exception becomes the outcome's error; more than ``max_errors`` queries that failed end the
    run, since then the queries are not at fault. A retriever that takes longer than ``timeout_s``
    seconds is left behind in its thread (``time_limit.py``) and its query failed; with None it is
    called in the caller's thread and waited for.
    """
    errors = 0
    with nullcontext() if timeout_s is None else TimeLimit(timeout_s) as limit:
        call: Call = run_here if limit is None else limit.call
        for query in queries:
            outcome = ask(retrieve, query, call)
            yield outcome
            errors += outcome.failed
            if max_errors is not None and errors > max_errors:
                raise TooManyErrorsError(
                    f"{counted(errors, 'query')} failed, the last one with: "
                    f"{outcome.error or outcome.answer_error}",
                    hint="fix the retriever or the answerer, or allow more errors (--max-errors)",
                )


def ask(retrieve: Retrieve, query: GoldenQuery, call: Call) -> QueryOutcome:
    """Ask one query, and say how long it took."""
    started = time.perf_counter()
    took = [0.0]  # until the retriever returned; reading what it returned does not count

    def work(resolve: Resolve) -> QueryOutcome:
        returned = resolve(retrieve(query))
        took[0] = time.perf_counter() - started
        return as_outcome(query.query_id, returned)

    try:
        outcome = call(work)
    except Exception as problem:  # whatever a foreign retriever raises belongs to its query
        elapsed = 1000 * (time.perf_counter() - started)
        return QueryOutcome(query.query_id, latency_ms=elapsed, error=describe(problem))
    # a retriever that measured its own time knows better
    return (
        outcome if outcome.latency_ms is not None else replace(outcome, latency_ms=1000 * took[0])
    )


def describe(problem: Exception) -> str:
    """An exception in one line."""
    text = " ".join(str(problem).split())
    return f"{type(problem).__name__}: {text}"[:500] if text else type(problem).__name__


def as_outcome(query_id: str, returned: Any) -> QueryOutcome:
    """The outcome of a query, from whatever the retriever returned."""
    if isinstance(returned, QueryOutcome):
        if returned.query_id != query_id:
            _refuse(query_id, f"the retriever answered query {returned.query_id!r:.80}")
        return returned
    listed = _field(returned, "results") if _is_response(returned) else returned
    return QueryOutcome(
        query_id,
        results=_ranked(query_id, listed),
        degraded=bool(_field(returned, "degraded", default=False)),
        component_errors=_words(_field(returned, "component_errors", default=())),
        warnings=_words(_field(returned, "warnings", default=())),
        timings_ms=_numbers(_field(returned, "timings_ms", default=None)),
    )


def _is_response(returned: Any) -> bool:
    if isinstance(returned, Mapping):
        return "results" in returned and not _is_number(returned["results"])
    return hasattr(returned, "results")


def _ranked(query_id: str, listed: Any) -> tuple[RankedResult, ...]:
    if isinstance(listed, Mapping):
        listed = listed.items()  # {id: score}
    if listed is None or isinstance(listed, (str, bytes)) or not isinstance(listed, Iterable):
        _refuse(query_id, f"the retriever returned {type(listed).__name__}, not a list of results")
    found: list[RankedResult] = []
    ranks: list[int | None] = []
    for at, one in enumerate(listed):
        if at >= limits.MAX_STORED_RESULTS:
            break
        result, rank = _result(query_id, at, one)
        found.append(result)
        ranks.append(rank)
    places = [
        Result(str(at), score=one.score, rank=rank)
        for at, (one, rank) in enumerate(zip(found, ranks, strict=True))
    ]
    return tuple(found[int(place.id)] for place in ordered(places, query_id))


def _result(query_id: str, at: int, one: Any) -> tuple[RankedResult, int | None]:
    """One result and the rank that the engine gave it."""
    place = f"result {at + 1}"
    if isinstance(one, str):
        return RankedResult(_id(query_id, place, one), document_id(one)), None
    if isinstance(one, (tuple, list)) and len(one) == 2:
        name = _id(query_id, place, one[0])
        return RankedResult(name, document_id(name), _score(query_id, place, one[1])), None
    whole = _field(one, "chunk", default=None) or one  # a search hit holds its chunk
    named = next((found for name in ID_NAMES if (found := _field(whole, name, default=None))), None)
    name = _id(query_id, place, named)
    document = _field(whole, "doc_id", default=None)
    rank = _field(one, "rank", default=None)
    return RankedResult(
        chunk_id=name,
        doc_id=document if isinstance(document, str) else document_id(name),
        score=_score(query_id, place, _field(one, "score", default=None)),
        spans=_spans(query_id, place, _field(whole, "spans", default=())),
        chunker_version=str(_field(whole, "chunker_version", default="")),
        component_scores=_numbers(_field(one, "component_scores", default=None)),
        ranks={
            key: int(value) for key, value in _numbers(_field(one, "ranks", default=None)).items()
        },
    ), rank if isinstance(rank, int) and not isinstance(rank, bool) else None


def _field(thing: Any, name: str, **otherwise: Any) -> Any:
    """A key of a mapping or an attribute of an object."""
    if isinstance(thing, Mapping):
        return thing.get(name, otherwise.get("default"))
    return getattr(thing, name, otherwise.get("default"))


def _id(query_id: str, place: str, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value:
        _refuse(query_id, f"{place} has no id ({value!r:.80})")
    if len(value.encode("utf-8", "surrogatepass")) > limits.MAX_ID_BYTES:
        _refuse(query_id, f"the id of {place} is longer than {limits.MAX_ID_BYTES} bytes")
    return value


def _score(query_id: str, place: str, value: Any) -> float | None:
    if value is None:
        return None
    if not _is_number(value):
        _refuse(query_id, f"the score of {place} is {value!r:.80}, not a number")
    number = float(value)
    if not math.isfinite(number):
        _refuse(query_id, f"the score of {place} is {number}, which has no order")
    return number


def _spans(query_id: str, place: str, value: Any) -> tuple[Span, ...]:
    try:
        return tuple((int(start), int(end)) for start, end in value or ())
    except (TypeError, ValueError):
        _refuse(query_id, f"the spans of {place} are not pairs of offsets")


def _is_number(value: Any) -> bool:
    # numpy's scalars are numbers, too
    return not isinstance(value, (bool, str, bytes)) and hasattr(value, "__float__")


def _numbers(value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping):
        return {}
    return {
        str(name): float(number)
        for name, number in value.items()
        if _is_number(number) and math.isfinite(float(number))
    }


def _words(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, (list, tuple)) else ()


def _refuse(query_id: str, what: str) -> NoReturn:
    raise InputError(
        f"query {query_id!r}: {what}",
        hint="return ids, (id, score) pairs, {id: score}, dicts with id and score, or Result",
    )
