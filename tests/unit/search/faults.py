"""Components that misbehave: real ones underneath, a fault in front."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from assay.model.query import Component, Filters, Hit, PartialAnswerError
from assay.search.request import SearchOptions
from assay.search.rerank import Rerankers
from assay.search.searcher import Searcher, Source
from assay.search.snapshot import Snapshot

FAULTS = ("slow", "hang", "raise", "nan", "empty")
BROKEN = {
    "unknown key": "no chunk of this index has the key 999999999",
    "another id": "the key of 'somewhere:chunk_9' is that of",
    "out of order": "out of order",
    "twice": "a chunk comes twice",
    "too many": "hits, asked for",
}
"""Promises of a component that may be broken, and what is said of each."""
SLOW_S = 0.4


class Faulty:
    """A component with a fault that can be switched on; ``release`` lets hung calls end."""

    def __init__(self, inner: Component, fault: str = "") -> None:
        self._inner = inner
        self.fault = fault
        self.calls = 0
        self.before: Callable[[], object] = lambda: None
        self.release = threading.Event()

    @property
    def name(self) -> str:
        return self._inner.name

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Hit]:
        self.calls += 1
        self.before()
        fault = self.fault
        if fault == "hang":
            self.release.wait(60)
        elif fault == "slow":
            self.release.wait(SLOW_S)
        elif fault == "raise":
            raise RuntimeError("the disk is on fire")
        elif fault == "empty":
            return []
        hits = self._inner.search(query, k, filters)
        if fault == "nan":
            hits[0] = hits[0]._replace(score=math.nan)
        if fault in BROKEN:
            hits = _broken(fault, hits, k)
        if fault == "partial":
            raise PartialAnswerError("1 of 3 shards did not answer", hits[::2])
        return hits


def _broken(fault: str, hits: list[Hit], k: int) -> list[Hit]:
    """Hits that break one promise."""
    best, last = hits[0], hits[-1]
    return {
        "unknown key": [*hits[:-1], last._replace(key=999_999_999)],
        "another id": [*hits[:-1], last._replace(chunk_id="somewhere:chunk_9")],
        "out of order": hits[::-1],
        "twice": [best, best, *hits[2:]],
        "too many": [*hits, *([last] * k)],
    }[fault]


class Rig:
    """A searcher over real components, each behind a switch."""

    def __init__(self, snapshot: Snapshot, rerankers: Rerankers, **options: object) -> None:
        self.parts = {name: Faulty(inner) for name, inner in snapshot.components.items()}
        faulty: Mapping[str, Component] = self.parts
        broken = replace(snapshot, components=faulty)
        self.searcher = Searcher(
            Source(lambda: broken.generation, lambda: broken),
            rerankers,
            defaults=SearchOptions(**options),  # type: ignore[arg-type]
        )

    def __enter__(self) -> Rig:
        return self

    def __exit__(self, *problem: object) -> None:
        for part in self.parts.values():
            part.release.set()
        self.searcher.close()


def no_reranker() -> Rerankers:
    def load(name: str) -> object:
        raise AssertionError("nothing is reranked here")

    return Rerankers(load, lambda name: True)  # type: ignore[arg-type]
