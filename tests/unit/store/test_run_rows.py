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


def test_half_a_surrogate_pair_is_kept() -> None:
    before = replace(outcome(2), error="cannot read \ud800", warnings=("naïve NaN ∞",))
    assert run_rows.outcome("q1", run_rows.result_json(before)).error == before.error
    assert run_rows.outcome("q1", run_rows.result_json(before)).warnings == before.warnings


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_a_score_without_order_is_not_written(score: float) -> None:
    (one,) = outcome(1).results
    with pytest.raises(ValueError, match="not JSON compliant"):
        run_rows.result_json(replace(outcome(0), results=(replace(one, score=score),)))


@pytest.mark.parametrize("score", [1e22, 5e-324, 0.1 + 0.2, -0.0, 1e-05, 123456789.123456789])
def test_scores_are_read_back_to_the_last_bit(score: float) -> None:
    (one,) = outcome(1).results
    before = replace(outcome(0), results=(replace(one, score=score),))
    after = run_rows.outcome("q1", run_rows.result_json(before)).results[0].score
    assert after is not None
    assert after.hex() == score.hex()
