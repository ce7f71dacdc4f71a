"""Small stored runs, written the short way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.evaluation.stored_run import StoredRun
from assay.model.answers import Answer, Expect
from assay.model.judgments import Span
from assay.model.runs import QueryOutcome, RankedResult, RunInfo, RunStatus
from assay.model.testset import GoldenQuery, Judgment, QueryType, TestSet

TYPES = tuple(QueryType)


def golden(query_id: str, *ids: str, expect: Expect = Expect.EVIDENCE, **more: Any) -> GoldenQuery:
    judged = tuple(Judgment(one, 1) for one in ids)
    more.setdefault("relevant_docs", judged)
    return GoldenQuery(query_id, f"question {query_id}", expect=expect, **more)


def suite(*queries: GoldenQuery, name: str = "golden", version: str = "v1") -> TestSet:
    return TestSet(name, version, queries)


def result(
    chunk_id: str, score: float = 1.0, *, spans: Sequence[Span] = (), version: str = "text-1"
) -> RankedResult:
    doc_id = chunk_id.rpartition(":chunk_")[0] or chunk_id
    return RankedResult(chunk_id, doc_id, score, tuple(spans), version)


def outcome(query_id: str, *ids: str, **more: Any) -> QueryOutcome:
    results = tuple(result(one, 1.0 / rank) for rank, one in enumerate(ids, 1))
    return QueryOutcome(query_id, results, latency_ms=more.pop("latency_ms", 10.0), **more)


def hit_at(query_id: str, rank: int | None, **more: Any) -> QueryOutcome:
    """A ranking of ten whose judged chunk, ``D<query>:chunk_0``, stands at this rank."""
    ids = [f"X{at}:chunk_0" for at in range(1, 11)]
    if rank is not None:
        ids[rank - 1] = f"D{query_id}:chunk_0"
    return outcome(query_id, *ids, **more)


def stored(
    name: str,
    tests: TestSet,
    outcomes: Sequence[QueryOutcome],
    *,
    config: Mapping[str, Any] | None = None,
    versions: Sequence[str] = ("text-1",),
    **more: Any,
) -> StoredRun:
    info = RunInfo(
        run_id=name,
        suite=tests.name,
        test_set_version=tests.version,
        test_set_checksum=tests.checksum,
        config=config or {},
        config_hash=f"hash-{name}",
        cache_key=f"key-{name}",
        created_at=more.pop("created_at", "2024-03-15T16:00:00Z"),
        status=more.pop("status", RunStatus.COMPLETE),
        chunker_versions=tuple(versions),
        queries=len(outcomes),
        **more,
    )
    return StoredRun(info, tests, tuple(outcomes))


def ranks(
    name: str, places: Mapping[str, int | None], *, types: bool = False, **more: Any
) -> StoredRun:
    """A run whose first hits stand at these ranks."""
    queries = [golden(query, f"D{query}:chunk_0") for query in places]
    if types:
        queries = [
            replace(query, query_type=TYPES[at % len(TYPES)]) for at, query in enumerate(queries)
        ]
    outcomes = [hit_at(query, rank) for query, rank in places.items()]
    return stored(name, suite(*queries), outcomes, **more)


__all__ = ["Answer", "golden", "hit_at", "outcome", "ranks", "result", "stored", "suite"]
