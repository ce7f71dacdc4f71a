"""Does ``assay.evaluate`` run any retrieval function over a test set?"""

from __future__ import annotations

import asyncio
import logging
import math
import sqlite3
import statistics
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import assay
from assay.errors import TooManyErrorsError, UsageError
from assay.evaluation.result import EvaluationResult
from assay.model.answers import Expect
from assay.model.runs import QueryOutcome
from assay.model.testset import GoldenQuery, HeldOut, Judgment, QueryType, SpeakerFilter, TestSet

TYPES = (
    [QueryType.EXACT_TERM] * 20 + [QueryType.PARAPHRASE] * 15 + [QueryType.COMPLEX_CLINICAL] * 15
)


def golden(at: int, kind: QueryType | None, **fields: Any) -> GoldenQuery:
    judged = (Judgment(f"d{at}", 3), Judgment(f"e{at}", 1))
    query = GoldenQuery(f"q{at:02}", f"question {at}", kind, relevant_docs=judged)
    return replace(query, **fields)


FIFTY = TestSet("fifty", "v1", tuple(golden(at, kind) for at, kind in enumerate(TYPES)))


def ranked(text: str) -> list[str]:
    """Finds the first relevant document at rank 1, 2 or 3, by the number of the question."""
    at = int(text.split()[1])
    return [*[f"x{n}" for n in range(at % 3)], f"d{at}", "y", f"e{at}"]


@pytest.mark.req("E5")
def test_scenario_run_evaluation_on_test_set() -> None:
    asked: list[str] = []

    def retrieval(text: str) -> list[str]:
        asked.append(text)
        return ranked(text)

    result = assay.evaluate(retrieval, FIFTY)
    assert len(asked) == 50
    assert [str(m) for m in result.scores.measures] == [
        "Recall@5", "Recall@10", "Recall@20", "nDCG@10", "MRR",
    ]  # fmt: skip
    assert len(result.scores.per_query("MRR")) == 50
    ranks = [1 / (at % 3 + 1) for at in range(50)]
    found = result.scores.aggregate("MRR")
    assert found.mean == pytest.approx(statistics.mean(ranks))
    assert found.median == pytest.approx(statistics.median(ranks))
    assert found.std == pytest.approx(statistics.stdev(ranks))
    interval = result.scores.interval("MRR")
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low < statistics.mean(ranks) < interval.high


@pytest.mark.req("E10")
def test_the_response_has_metrics_and_query_types() -> None:
    plain = assay.evaluate(ranked, FIFTY).to_dict()
    assert list(plain)[:2] == ["metrics", "per_query_type"]
    assert set(plain["metrics"]) >= {"recall_at_10", "ndcg_at_10", "mrr"}
    assert set(plain["per_query_type"]) == {"exact_term", "paraphrase", "complex_clinical"}
    assert plain["per_query_type"]["exact_term"]["recall_at_10"] == 1.0
    assert plain["total_queries"] == 50


async def awaited(text: str) -> list[str]:
    await asyncio.sleep(0)
    return ranked(text)


def scored(text: str) -> list[tuple[str, float]]:
    names = ranked(text)
    return [(name, 1.0 / at) for at, name in enumerate(names, 1)]


FORMS: dict[str, Callable[[str], Any]] = {
    "ids": ranked,
    "coroutine": awaited,
    "pairs": scored,
    "scores": lambda text: dict(scored(text)),
    "numpy scores": lambda text: [(name, np.float32(s)) for name, s in scored(text)],
    "dicts": lambda text: [{"id": name, "score": score} for name, score in scored(text)],
    "chunk dicts": lambda text: [
        {"chunk_id": n, "doc_id": "doc", "score": s} for n, s in scored(text)
    ],
    "ranks": lambda text: [{"id": n, "rank": at} for at, n in enumerate(ranked(text), 1)][::-1],
    "results": lambda text: [assay.Result(name, score) for name, score in scored(text)],
    "response": lambda text: SimpleNamespace(
        results=[
            SimpleNamespace(
                chunk=SimpleNamespace(
                    chunk_id=n, doc_id="doc", spans=((0, 5),), chunker_version="v"
                ),
                score=s,
                component_scores={"bm25": s, "dense": None},
                ranks={"bm25": 1, "dense": None},
            )
            for n, s in scored(text)
        ],
        degraded=False,
        component_errors=(),
    ),
    "response as JSON": lambda text: {"results": [{"id": n, "score": s} for n, s in scored(text)]},
    "generator": lambda text: (name for name in ranked(text)),
    "tuple": lambda text: tuple(ranked(text)),
}


@pytest.mark.req("E5")
@pytest.mark.parametrize("form", FORMS)
def test_any_form_of_answer_scores_the_same(form: str) -> None:
    wanted = assay.evaluate(ranked, FIFTY, "nDCG@10 MRR")
    result = assay.evaluate(FORMS[form], FIFTY, "nDCG@10 MRR")
    assert result.failed == ()
    for measure in ("nDCG@10", "MRR"):
        assert result.scores.per_query(measure) == wanted.scores.per_query(measure)


def test_a_coroutine_works_where_a_loop_runs_already() -> None:
    async def notebook() -> EvaluationResult:
        return assay.evaluate(awaited, FIFTY, "MRR")

    assert asyncio.run(notebook()).failed == ()


def test_a_coroutine_that_hangs_is_given_up() -> None:
    async def hangs(text: str) -> list[str]:
        await asyncio.sleep(30)
        return []

    two = replace(FIFTY, queries=FIFTY.queries[:2])
    result = assay.evaluate(hangs, two, "MRR", timeout_s=0.05, max_errors=None)
    assert result.failed == ("q00", "q01")
    assert "Timeout" in (result.outcomes[0].error or "")


def test_a_function_that_blocks_is_given_up_and_the_rest_is_asked() -> None:
    over = threading.Event()

    def blocks(text: str) -> list[str]:
        if text == "question 3":
            over.wait(60)
        return ranked(text)

    def blocks_later(text: str) -> Iterator[str]:  # not in the call, but in what it returns
        yield from blocks(text)

    async def blocks_its_loop(text: str) -> list[str]:
        return blocks(text)

    five = replace(FIFTY, queries=FIFTY.queries[:5])
    for function in (blocks, blocks_later, blocks_its_loop):
        result = assay.evaluate(function, five, "MRR", timeout_s=0.2)
        assert result.failed == ("q03",)
        assert result.outcomes[3].error == "TimeoutError: no answer within 0.2 s"
        assert [one.query_id for one in result.outcomes] == ["q00", "q01", "q02", "q03", "q04"]
    over.set()


def test_a_connection_that_belongs_to_its_thread_works() -> None:
    with closing(sqlite3.connect(":memory:")) as database:

        def search(text: str) -> list[str]:
            return [row[0] for row in database.execute("SELECT 'd0'")]

        assert assay.evaluate(search, FIFTY, "MRR").failed == ()


def test_a_response_keeps_what_comparing_needs() -> None:
    outcome = assay.evaluate(FORMS["response"], FIFTY).outcomes[0]
    first = outcome.results[0]
    assert (first.doc_id, first.spans, first.chunker_version) == ("doc", ((0, 5),), "v")
    assert (first.component_scores, first.ranks) == ({"bm25": 1.0}, {"bm25": 1})


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "return []"),
        ("d1", "not a list"),
        (7, "not a list"),
        ([("d1", math.nan)], "no order"),
        ([("d1", math.inf)], "no order"),
        ([("d1", "high")], "not a number"),
        ([("d1", True)], "not a number"),
        ([{"score": 1.0}], "has no id"),
        ([""], "has no id"),
        ([None], "has no id"),
        (["x" * 600], "longer than"),
        ([("d1", 1.0), "d2"], "some do not"),
        ([{"id": "d1", "spans": [1]}], "pairs of offsets"),
        (QueryOutcome("another"), "answered query 'another'"),
    ],
)
def test_what_cannot_be_a_ranking_is_an_error_of_its_query(returned: Any, message: str) -> None:
    one = replace(FIFTY, queries=FIFTY.queries[:1])
    result = assay.evaluate(lambda text: returned, one, "MRR", max_errors=None)
    assert message in (result.outcomes[0].error or "")
    assert result["MRR"] == 0.0


def test_an_exception_is_recorded_and_counts_as_zero(caplog: pytest.LogCaptureFixture) -> None:
    def fails_once(text: str) -> list[str]:
        if text == "question 3":
            raise RuntimeError("the engine\nis down")
        return ranked(text)

    result = assay.evaluate(fails_once, FIFTY, "MRR")
    assert result.failed == ("q03",)
    assert result.outcomes[3].error == "RuntimeError: the engine is down"
    assert result.scores.value("q03", "MRR") == 0.0
    assert result.to_dict()["failed_queries"] == 1
    assert "1 of 50 queries failed" in caplog.text


def test_too_many_errors_end_it() -> None:
    calls: list[str] = []

    def down(text: str) -> list[str]:
        calls.append(text)
        raise ConnectionError("refused")

    with pytest.raises(TooManyErrorsError, match="ConnectionError: refused"):
        assay.evaluate(down, FIFTY, max_errors=3)
    assert len(calls) == 4
    assert assay.evaluate(down, FIFTY, "MRR", max_errors=None)["MRR"] == 0.0


def test_the_whole_query_is_handed_over_on_request() -> None:
    seen: list[GoldenQuery] = []

    def retrieval(query: GoldenQuery) -> list[str]:
        seen.append(query)
        return []

    assay.evaluate(retrieval, FIFTY, wants="query")
    assert tuple(seen) == FIFTY.queries
    with pytest.raises(UsageError, match="wants"):
        assay.evaluate(retrieval, FIFTY, wants="all")  # type: ignore[arg-type]


# The evaluation workflow (seed 002)

FIVE = TestSet(
    "interviews",
    "v1",
    tuple(
        GoldenQuery(
            f"test_q{at}",
            f"question {at}",
            relevant_docs=tuple(Judgment(f"uuid-{at}-{n}", 1) for n in range(3)),
            speaker_filter=SpeakerFilter.PATIENT if at < 3 else SpeakerFilter.CLINICIAN,
        )
        for at in range(5)
    ),
)
WORKFLOW = "P@{1,3,5,10} Recall@{1,3,5,10} MAP nDCG@10"


def found(text: str) -> list[str]:
    at = int(text.split()[1])
    ids = [f"uuid-{at}-0", "other", f"uuid-{at}-1", "more", f"uuid-{at}-2"]
    return ids if at < 3 else ids[1:]


@pytest.mark.req("W4")
def test_checklist_small_dataset_completes_and_step_3_by_hand() -> None:
    result = assay.evaluate(found, FIVE, WORKFLOW)
    values = {str(m): result.scores.value("test_q0", m) for m in result.scores.measures}
    assert values == pytest.approx(
        {
            "P@1": 1.0, "P@3": 2 / 3, "P@5": 0.6, "P@10": 0.3,
            "Recall@1": 1 / 3, "Recall@3": 2 / 3, "Recall@5": 1.0, "Recall@10": 1.0,
            "MAP": (1 + 2 / 3 + 3 / 5) / 3,
            "nDCG@10": (1 + 1 / math.log2(4) + 1 / math.log2(6))
            / (1 + 1 / math.log2(3) + 1 / math.log2(4)),
        }
    )  # fmt: skip


@pytest.mark.req("W5")
def test_checklist_patient_and_clinician_differ() -> None:
    plain = assay.evaluate(found, FIVE, WORKFLOW).to_dict()
    speakers = plain["per_speaker"]
    assert speakers["PATIENT"]["num_queries"] == 3
    assert speakers["CLINICIAN"]["num_queries"] == 2
    assert speakers["PATIENT"]["precision_at_5"] > speakers["CLINICIAN"]["precision_at_5"]


@pytest.mark.req("W4")
def test_checklist_all_relevant_and_no_relevant() -> None:
    every = assay.evaluate(lambda text: [f"uuid-{text[-1]}-{n}" for n in range(3)], FIVE, WORKFLOW)
    assert every["Recall@3"] == 1.0
    none = assay.evaluate(lambda text: ["a", "b"], FIVE, WORKFLOW)
    assert none["P@5"] == 0.0


@pytest.mark.req("W4")
def test_checklist_the_same_dataset_again_is_the_same_result() -> None:
    def plain() -> dict[str, Any]:
        return {
            k: v
            for k, v in assay.evaluate(found, FIVE, WORKFLOW).to_dict().items()
            if k != "latency_ms"
        }

    assert plain() == plain()


@pytest.mark.req("W9")
def test_error_scenario_1_missing_ground_truth(caplog: pytest.LogCaptureFixture) -> None:
    asked: list[str] = []

    def retrieval(text: str) -> list[str]:
        asked.append(text)
        return found(text)

    lenient = replace(FIVE, queries=(*FIVE.queries, GoldenQuery("bare", "question 9")))
    with caplog.at_level(logging.WARNING, logger="assay.evaluation"):
        result = assay.evaluate(retrieval, lenient, WORKFLOW)
    assert "question 9" not in asked
    assert result.skipped == ("bare",)
    assert result.to_dict()["skipped_queries"] == 1
    assert "no ground truth" in caplog.text
    assert result["P@5"] == assay.evaluate(found, FIVE, WORKFLOW)["P@5"]


@pytest.mark.req("W9")
def test_error_scenario_2_zero_results_count() -> None:
    result = assay.evaluate(lambda text: [] if text[-1] == "0" else found(text), FIVE, WORKFLOW)
    assert result.scores.value("test_q0", "P@5") == 0.0
    assert result.scores.value("test_q0", "Recall@5") == 0.0
    assert result.empty == ("test_q0",)
    full = assay.evaluate(found, FIVE, WORKFLOW)
    assert (result["P@5"] or 0) < (full["P@5"] or 0)
    assert result.to_dict()["metrics"]["empty_result_rate"] == 0.2


def test_refusals_and_nothing_are_asked_and_left_out_of_ranking_measures() -> None:
    extra = (
        GoldenQuery("refuse", "question 7", expect=Expect.REFUSAL),
        GoldenQuery("nothing", "question 8", expect=Expect.NOTHING),
    )
    more = replace(FIVE, queries=(*FIVE.queries, *extra))
    result = assay.evaluate(lambda text: [(one, 0.5) for one in found(text)], more, "P@5 AUROC")
    assert len(result.outcomes) == 7
    assert result.scores.queries == tuple(query.query_id for query in FIVE.queries)
    assert result["AUROC"] == 0.5


def test_a_test_set_without_judged_queries_is_refused() -> None:
    with pytest.raises(UsageError, match="no query of bare"):
        assay.evaluate(found, TestSet("bare", "v1", (GoldenQuery("q", "question 1"),)))


@pytest.mark.slow
@pytest.mark.req("E13")
def test_a_named_test_set_is_asked_without_its_held_out_part(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def asked(test_set: TestSet | str, **options: Any) -> int:
        return len(assay.evaluate(lambda text: ["x"], test_set, "MRR", **options).outcomes)

    assert asked("test_set_v1") == 40
    assert [asked("test_set_v1", part=part) for part in ("evaluation", "holdout", "all")] == [
        *(40, 10, 50)
    ]
    assert "held-out" not in caplog.text
    whole = assay.load_test_set("test_set_v1")
    assert asked(whole) == 50
    assert '10 held-out queries were asked, too; part="evaluation" leaves them out' in caplog.text
    assert asked(whole, part="evaluation") == 40
    with pytest.raises(UsageError, match="not one of: evaluation, holdout, all"):
        asked(whole, part="rest")
    with pytest.raises(UsageError, match="no held-out part"):
        asked(FIFTY, part="holdout")


@pytest.mark.req("E13")
def test_a_warning_never_quotes_a_held_out_query() -> None:
    def failing(text: str) -> list[str]:
        raise RuntimeError(f"no answer for {text!r}")

    split = replace(FIFTY, held_out=HeldOut(1, ("q00", "q01")))
    (warning,) = assay.evaluate(failing, split, part="all", max_errors=None).warnings()
    assert "question 0" not in warning
    assert "question 2" in warning
    (warning,) = assay.evaluate(failing, split, part="holdout", max_errors=None).warnings()
    assert "2 of 2 queries failed, counted as 0: q00, q01" in warning


@pytest.mark.parametrize("count", [1, 3, 10])
def test_a_system_that_fails_on_every_query_is_not_scored(count: int) -> None:
    def broken(text: str) -> list[str]:
        raise KeyError(f"no index for {text}")

    few = replace(FIFTY, queries=FIFTY.queries[:count])
    with pytest.raises(TooManyErrorsError, match=r"the first one with: KeyError.*question 0"):
        assay.evaluate(broken, few)
    with pytest.raises(TooManyErrorsError, match="not a list of results"):
        assay.evaluate(lambda text: 7, few)
    secret = replace(few, held_out=HeldOut(1, tuple(one.query_id for one in few.queries)))
    with pytest.raises(TooManyErrorsError) as caught:
        assay.evaluate(broken, secret, part="all")
    assert "question" not in str(caught.value)
    shaky = assay.evaluate(
        lambda text: ranked(text) if text.endswith(" 0") else broken(text), FIFTY, max_errors=None
    )
    assert len(shaky.failed) == 49


@pytest.mark.parametrize("seconds", [-1, 0, math.nan, math.inf])
def test_a_time_limit_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(UsageError, match="timeout_s"):
        assay.evaluate(ranked, FIFTY, timeout_s=seconds)
