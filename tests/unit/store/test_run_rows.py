"""Is an outcome read back as it was written, whole and in part?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.model.answers import Answer
from assay.model.runs import QueryOutcome, RankedResult
from assay.store import run_rows


def outcome(count: int) -> QueryOutcome:
    ids = [f"D{at}:chunk_1" for at in range(count)]
    results = tuple(
        RankedResult(
            one,
            one.split(":")[0],
            1 / (at + 1),
            ((at, at + 9), (at + 20, at + 30)),
            f"v{at // 30}",
            {"bm25": 3.5 - at, "reranker": 0.5},
            {"bm25": at + 1},
        )
        for at, one in enumerate(ids)
    )
    return QueryOutcome(
        "q1",
        results,
        latency_ms=2.5,
        component_lists={"bm25": tuple(ids)},
        fused=tuple(ids),
        answer=Answer("Yes.", ("D1:chunk_1",), grounded=True),
        known_citations=frozenset({"D1:chunk_1"}),
        warnings=("slow",),
    )


@pytest.mark.parametrize("count", [0, 1, run_rows.HEAD, run_rows.HEAD + 1, 100])
def test_head_and_tail_make_the_whole(count: int) -> None:
    written = outcome(count)
    row = (run_rows.head_json(written), run_rows.stages_json(written), run_rows.tail_json(written))
    assert run_rows.outcome("q1", *row) == written
    assert (row[2] is None) == (count <= run_rows.HEAD)


@pytest.mark.parametrize("depth", [1, 10, run_rows.HEAD])
def test_the_head_is_enough_for_few_results(depth: int) -> None:
    written = outcome(100)
    bare = tuple(replace(one, component_scores={}, ranks={}) for one in written.results[:depth])
    read = run_rows.outcome("q1", run_rows.head_json(written), depth=depth)
    assert read == replace(written, results=bare, component_lists={}, fused=())


@pytest.mark.parametrize("depth", [5, 50, None])
def test_rows_from_before_there_were_tails_hold_all_results(depth: int | None) -> None:
    written = outcome(60)
    stages = run_rows.stages_json(written)
    read = run_rows.outcome("q1", run_rows.result_json(written), stages, depth=depth)
    assert read == replace(written, results=written.results[:depth])
