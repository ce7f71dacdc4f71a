"""Are queries asked several at a time, and again where they fail, each with its own outcome?"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.app.evaluation_request import EvaluationRequest
from assay.app.workspace import Workspace
from assay.errors import InputError, TooManyErrorsError, UnreachableError, UsageError
from assay.evaluation.execution import LONGEST_PAUSE_S, Retries, execute
from assay.evaluation.result import result_of
from assay.model.answers import Usage
from assay.model.runs import ASKED_AGAIN, QueryOutcome
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.render.evaluation import result_tables
from assay.settings import configure

MANY = TestSet("many", "v1", tuple(
    GoldenQuery(f"q{at:02}", f"text {at}", relevant_docs=(Judgment(f"d{at}", 1),))
    for at in range(20)
))  # fmt: skip
LONG = 60.0


def found(query: GoldenQuery) -> list[str]:
    return [f"d{int(query.query_id[1:])}"]


def test_several_queries_are_under_way_at_once_and_outcomes_keep_their_order() -> None:
    meeting = threading.Barrier(4)  # which only four calls at the same time can pass

    def retrieve(query: GoldenQuery) -> list[str]:
        meeting.wait(LONG)
        return found(query)

    outcomes = list(execute(retrieve, MANY.queries, timeout_s=LONG, concurrency=4))
    assert [one.query_id for one in outcomes] == [query.query_id for query in MANY.queries]
    assert not any(one.failed for one in outcomes)
    assert [one.results[0].chunk_id for one in outcomes] == [f"d{at}" for at in range(20)]


def test_never_more_than_so_many_are_under_way() -> None:
    lock, under_way, most = threading.Lock(), [0], [0]

    def retrieve(query: GoldenQuery) -> list[str]:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        threading.Event().wait(0.002)
        with lock:
            under_way[0] -= 1
        return found(query)

    assert len(list(execute(retrieve, MANY.queries, timeout_s=LONG, concurrency=3))) == 20
    assert 1 <= most[0] <= 3


def test_what_keeps_its_own_time_is_asked_several_at_once_too() -> None:
    meeting = threading.Barrier(4)

    async def retrieve(query: GoldenQuery) -> list[str]:
        meeting.wait(LONG)
        return found(query)

    outcomes = list(execute(retrieve, MANY.queries, timeout_s=None, concurrency=4))
    assert [one.results[0].chunk_id for one in outcomes] == [f"d{at}" for at in range(20)]


def test_coroutines_of_one_client_share_a_loop() -> None:
    """Connections belong to the loop that made them."""
    loops: set[int] = set()

    async def retrieve(query: GoldenQuery) -> list[str]:
        loops.add(id(asyncio.get_running_loop()))
        await asyncio.sleep(0)
        return found(query)

    outcomes = list(execute(retrieve, MANY.queries, timeout_s=LONG, concurrency=4))
    assert not any(one.failed for one in outcomes)
    assert len(loops) == 1


def test_a_coroutine_that_blocks_the_loop_is_left_behind() -> None:
    over = threading.Event()

    async def retrieve(query: GoldenQuery) -> list[str]:
        if query.query_id == "q00":
            over.wait(LONG)
        return found(query)

    try:
        outcomes = execute(retrieve, MANY.queries, timeout_s=0.2, concurrency=2, max_errors=None)
        by_id = {one.query_id: one for one in outcomes}
    finally:
        over.set()
    assert "no answer within" in (by_id["q00"].error or "")
    assert by_id["q19"].error is None


def test_errors_end_a_run_that_asks_several_at_once() -> None:
    def retrieve(query: GoldenQuery) -> list[str]:
        raise ValueError("broken")

    seen: list[QueryOutcome] = []
    with pytest.raises(TooManyErrorsError, match="3 queries failed"):
        seen.extend(execute(retrieve, MANY.queries, max_errors=2, concurrency=4))
    assert [one.query_id for one in seen] == ["q00", "q01", "q02"]


def test_a_query_that_fails_is_asked_again_after_growing_pauses() -> None:
    pauses: list[float] = []
    asked: Counter[str] = Counter()

    def retrieve(query: GoldenQuery) -> list[str]:
        asked[query.query_id] += 1
        if query.query_id == "q03" or (query.query_id == "q01" and asked["q01"] < 3):
            raise ConnectionError("reset")
        return found(query)

    outcomes = list(execute(retrieve, MANY.queries[:4], retries=Retries(2, pauses.append)))
    assert [one.error for one in outcomes] == [None, None, None, "ConnectionError: reset"]
    assert asked == {"q00": 1, "q01": 3, "q02": 1, "q03": 3}
    assert pauses == [0.5, 1.0, 0.5, 1.0]
    assert [ASKED_AGAIN in one.warnings for one in outcomes] == [False, True, False, False]
    few = TestSet("few", "v1", MANY.queries[:4])
    said = result_of(few, outcomes).warnings()
    assert any("1 of 4 queries" in line and ASKED_AGAIN in line for line in said)


def test_batches_answer_in_order_and_one_that_fails_is_asked_query_by_query() -> None:
    batches: list[int] = []
    alone: list[str] = []

    def many(queries: Sequence[GoldenQuery]) -> list[QueryOutcome]:
        batches.append(len(queries))
        if any(one.query_id == "q09" for one in queries):
            raise ConnectionError("reset")
        return [QueryOutcome(one.query_id) for one in queries]

    def retrieve(query: GoldenQuery) -> list[str]:
        alone.append(query.query_id)
        if query.query_id == "q09":
            raise ConnectionError("reset")
        return found(query)

    outcomes = [*execute(retrieve, MANY.queries, timeout_s=None, concurrency=8, retrieve_many=many)]
    assert [one.query_id for one in outcomes] == [one.query_id for one in MANY.queries]
    assert batches == [8, 8, 4]
    assert alone == [f"q{at:02d}" for at in range(8, 16)]
    assert [one.query_id for one in outcomes if one.error] == ["q09"]


def test_what_says_when_to_come_back_is_asked_then() -> None:
    pauses: list[float] = []
    asked: list[str] = []

    def retrieve(query: GoldenQuery) -> list[str]:
        asked.append(query.query_id)
        raise UnreachableError("HTTP 429", retry_after=7 if len(asked) == 1 else 9_999)

    list(execute(retrieve, MANY.queries[:1], retries=Retries(2, pauses.append)))
    assert pauses == [7.0, LONGEST_PAUSE_S]


@pytest.mark.parametrize("problem", [InputError("no id"), NotImplementedError(), SystemExit(1)])
def test_what_would_fail_again_is_not_asked_again(problem: BaseException) -> None:
    asked: list[str] = []

    def retrieve(query: GoldenQuery) -> list[str]:
        asked.append(query.query_id)
        raise problem

    list(execute(retrieve, MANY.queries[:1], retries=Retries(5, lambda seconds: None)))
    assert asked == ["q00"]


@pytest.mark.parametrize("options", [{"concurrency": 0}, {"concurrency": 65}, {"retries": 11}])
def test_numbers_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="a number from"):
        assay.evaluate(found, MANY, **options)
    with pytest.raises(UsageError):
        EvaluationRequest(test_set=MANY, retriever="mine:search", **options)


def test_our_own_search_is_not_asked_like_another_engine() -> None:
    with pytest.raises(UsageError, match="does not apply to a run file"):
        EvaluationRequest(test_set=MANY, run_file="a.run", concurrency=2)
    with pytest.raises(UsageError, match="retries applies only to another engine"):
        EvaluationRequest(test_set=MANY, retries=1)


def with_cost(text: str) -> dict[str, Any]:
    """What an engine that is paid for answers."""
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    return {"results": [f"d{text.removeprefix('text ')}"], "cost": 0.25, "usage": usage}


def test_cost_and_tokens_are_kept_in_the_run_and_shown(tmp_path: Path) -> None:
    request = EvaluationRequest(
        test_set=MANY, retriever=f"{__name__}:with_cost", concurrency=4, retries=1
    )
    with Workspace(configure({"home": tmp_path})) as workspace:
        recorded = workspace.carry_out(request).runs[0]
        stored = workspace.stored_run(recorded.info.run_id)
        assert workspace.carry_out(request).runs[0].info.run_id == recorded.info.run_id
    assert stored.info.config["concurrency"] == 4
    assert stored.info.config["retries"] == 1
    assert stored.outcomes[0].usage == Usage(0.25, 12, 10, 2)
    assert recorded.result["MRR"] == 1.0
    plain = recorded.result.to_dict()["usage"]
    assert plain == {"cost": 5.0, "tokens": 240, "input_tokens": 200, "output_tokens": 40}
    assert stored.info.aggregate["usage"] == plain
    notes = result_tables(recorded.result)[0].notes
    assert "cost, as the system says: 5 in all, 0.25 a query; 240 tokens" in notes


stopped = [False]


def stopping(text: str) -> list[str]:
    """A search during which somebody presses Ctrl-C, once."""
    if text == "text 13" and not stopped[0]:
        stopped[0] = True
        raise KeyboardInterrupt
    return [f"d{text.removeprefix('text ')}"]


def test_a_run_that_was_cut_short_goes_on_as_it_was_asked(tmp_path: Path) -> None:
    request = EvaluationRequest(
        test_set=MANY, retriever=f"{__name__}:stopping", concurrency=4, run_id="mine"
    )
    with Workspace(configure({"home": tmp_path})) as workspace:
        with pytest.raises(KeyboardInterrupt):
            workspace.carry_out(request)
        kept = workspace.stored_run("mine")
        assert [one.query_id for one in kept.outcomes] == [f"q{at:02}" for at in range(13)]
        resumed = workspace.carry_out(EvaluationRequest(resume="mine")).runs[0]
    assert resumed.info.config["concurrency"] == 4
    assert (resumed.reused, resumed.result["MRR"]) == (13, 1.0)
