"""Who is asked, and who answered in time?

Components search side by side, each in a lane of its own with its own deadline. One that fails or
is late is left out and named; the answers of the others count. One that reached only a part of its
data is named too, and what it found there counts.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from assay.model.query import Component, Filters, Hit, PartialAnswerError, SearchesMany
from assay.search.checked import check_hits
from assay.search.deadline import CallResult, Failure, Lane, Stop, begin_all
from assay.search.snapshot import Snapshot

log = logging.getLogger("assay.search")

HERE_MS, REMOTE_MS = 300.0, 5000.0
"""What components may take: with a model of this machine, and with one behind a service."""
Found: TypeAlias = tuple[tuple[Hit, ...], str]
"""Hits, and what they lack in words."""
Work: TypeAlias = Callable[[Stop], Found]


@dataclass(frozen=True, slots=True)
class ComponentRequest:
    """What one component is asked; the same request to the same generation has the same hits."""

    query: str
    depth: int
    filters: Filters


@dataclass(frozen=True, slots=True)
class Answers:
    """What came back: a list per component that answered, a failure for each that did not.

    A component that answered in part has both.
    """

    lists: Mapping[str, tuple[Hit, ...]]
    failures: Mapping[str, Failure]
    reasons: Mapping[str, str]
    seconds: Mapping[str, float]

    @property
    def errors(self) -> tuple[str, ...]:
        """The failures as responses name them: ``splade_timeout``."""
        return tuple(f"{name}_{failure}" for name, failure in self.failures.items())


def begin(
    requests: Mapping[str, ComponentRequest],
    snapshot: Snapshot,
    lanes: Mapping[str, Lane],
    timeout_ms: float | None = None,
) -> Callable[[], Answers]:
    """Ask every component of ``requests`` at once; each gets what it usually does, or so long.

    They search while the caller does something else. What is returned waits for them.
    """
    works = _works(requests, snapshot)
    seconds = _seconds(works, snapshot, timeout_ms)
    calls = {name: (lanes[name], work, seconds[name]) for name, work in works.items()}
    ended = begin_all(calls)
    return lambda: _answers(requests, ended(), snapshot.absent)


async def agather(
    requests: Mapping[str, ComponentRequest],
    snapshot: Snapshot,
    lanes: Mapping[str, Lane],
    timeout_ms: float | None = None,
) -> Answers:
    """The same from a coroutine, which holds no thread while it waits."""
    works = _works(requests, snapshot)
    seconds = _seconds(works, snapshot, timeout_ms)
    calls = (lanes[name].call(work, seconds[name]) for name, work in works.items())
    found = dict(zip(works, await asyncio.gather(*calls), strict=True))
    return _answers(requests, found, snapshot.absent)


def takes_many(names: Iterable[str], snapshot: Snapshot) -> bool:
    """Whether these components answer many questions at once: no service, nobody's own code."""
    return not snapshot.remote and all(
        isinstance(snapshot.components[name], SearchesMany)
        for name in names
        if name in snapshot.components
    )


def gather_many(
    requests: Sequence[Mapping[str, ComponentRequest]], snapshot: Snapshot
) -> list[Answers]:
    """The answers to many questions at once, without deadlines: nobody waits for a single one."""
    found: list[dict[str, CallResult[Found]]] = [{} for _ in requests]
    alike: dict[tuple[str, int, Filters], list[int]] = defaultdict(list)
    for at, asked in enumerate(requests):
        for name, one in asked.items():
            alike[name, one.depth, one.filters].append(at)
    for (name, depth, filters), places in alike.items():
        component: object = snapshot.components.get(name)
        if component is None:
            continue
        assert isinstance(component, SearchesMany), name
        lists = component.search_many([requests[at][name].query for at in places], depth, filters)
        for at, hits in zip(places, lists, strict=True):
            check_hits(hits, depth, snapshot.chunk_ids)
            found[at][name] = CallResult((tuple(hits), ""))
    return [
        _answers(asked, here, snapshot.absent) for asked, here in zip(requests, found, strict=True)
    ]


def _seconds(
    names: Iterable[str], snapshot: Snapshot, timeout_ms: float | None
) -> dict[str, float]:
    """What each component may take; a model behind a service needs longer than one here."""
    usual = {name: REMOTE_MS if name in snapshot.remote else HERE_MS for name in names}
    return {name: (timeout_ms or own) / 1000 for name, own in usual.items()}


def _answers(
    requests: Mapping[str, ComponentRequest],
    found: Mapping[str, CallResult[Found]],
    absent: Mapping[str, str],
) -> Answers:
    outcomes = {name: _outcome(name, found.get(name), absent) for name in requests}
    failed = {name: one for name, one in outcomes.items() if one.failure is not None}
    for name, one in failed.items():
        # what is known to be gone is not worth a line for every search
        level = logging.DEBUG if one.failure is Failure.UNAVAILABLE else logging.WARNING
        effect = "left out of fusion" if one.value is None else "incomplete"
        log.log(level, "%s_%s: %s: %s", name, one.failure, effect, one.reason)
    return Answers(
        lists={name: one.value for name, one in outcomes.items() if one.value is not None},
        failures={name: one.failure for name, one in failed.items() if one.failure},
        reasons={name: one.reason for name, one in failed.items()},
        seconds={name: one.seconds for name, one in outcomes.items()},
    )


def _outcome(
    name: str,
    found: CallResult[Found] | None,
    absent: Mapping[str, str],
) -> CallResult[tuple[Hit, ...]]:
    """The hits of one component; a part of them is a failure, too."""
    if found is None:
        reason = absent.get(name, f"{name} is not part of this index")
        return CallResult(failure=Failure.UNAVAILABLE, reason=reason)
    if found.value is None:
        return CallResult(failure=found.failure, reason=found.reason, seconds=found.seconds)
    hits, missing = found.value
    if missing:
        return CallResult(hits, Failure.PARTIAL, f"{name}: {missing}", found.seconds)
    return CallResult(hits, seconds=found.seconds)


def _works(requests: Mapping[str, ComponentRequest], snapshot: Snapshot) -> dict[str, Work]:
    """What is to be done in the lane of each component that is there."""
    return {
        name: _search(snapshot.components[name], request, snapshot.chunk_ids)
        for name, request in requests.items()
        if name in snapshot.components
    }


def _search(
    component: Component, request: ComponentRequest, chunk_ids: Mapping[int, str] | None
) -> Work:
    """Work for a lane: the hits, and what they lack in words."""

    def work(stop: Stop) -> Found:
        hits: Sequence[Hit]
        try:
            hits, missing = component.search(request.query, request.depth, request.filters), ""
        except PartialAnswerError as part:
            hits, missing = part.hits, part.message
        check_hits(hits, request.depth, chunk_ids)
        return tuple(hits), missing

    return work
