"""Are stored outcomes scored as live ones are?"""

from __future__ import annotations

from dataclasses import replace

import pytest

import assay
from assay.errors import UsageError
from assay.evaluation.answers import answer_records, score_answers
from assay.evaluation.outcomes import latency, outcomes_digest, score_outcomes
from assay.model.answers import Answer, Expect
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.testset import GoldenQuery, Judgment, QueryType, TestSet


def found(query_id: str, *ids: str, **fields: object) -> QueryOutcome:
    results = tuple(RankedResult(one, one, 1.0 / at) for at, one in enumerate(ids, 1))
    return replace(QueryOutcome(query_id, results), **fields)  # type: ignore[arg-type]


TEST_SET = TestSet(
    "small",
    "v1",
    (
        GoldenQuery(
            "q1", "a", QueryType.EXACT_TERM, relevant_docs=(Judgment("d1", 3), Judgment("d2", 1))
        ),
        GoldenQuery("q2", "b", QueryType.PARAPHRASE, relevant_docs=(Judgment("d3", 1),)),
        GoldenQuery("q3", "c", expect=Expect.NOTHING),
        GoldenQuery("q4", "d", expect=Expect.REFUSAL),
        GoldenQuery("q5", "e"),
    ),
)
OUTCOMES = [
    found("q1", "d9", "d1"),
    found("q2", "d3"),
    replace(found("q3", "d8"), results=(RankedResult("d8", "d8", 0.1),)),
    found("q4"),
    found("q5", "d1"),
    found("q6", "d1"),
]


@pytest.mark.req("E5")
def test_the_values_are_those_of_score() -> None:
    run = {"q1": ["d9", "d1"], "q2": ["d3"]}
    qrels = {"q1": {"d1": 3, "d2": 1}, "q2": {"d3": 1}}
    wanted = assay.score(qrels, run, "nDCG@10 MRR P@5 Recall@5")
    scores = score_outcomes(TEST_SET, OUTCOMES, "nDCG@10 MRR P@5 Recall@5")
    for measure in wanted.measures:
        assert scores.per_query(measure) == wanted.per_query(measure)


@pytest.mark.req("M1")
def test_queries_with_nothing_to_find_count_in_decisions_only() -> None:
    scores = score_outcomes(TEST_SET, OUTCOMES, "AUROC P@1")
    assert scores.queries == ("q1", "q2")
    assert scores["AUROC"] == 1.0
    assert scores["P@1"] == 0.5
    assert score_outcomes(TEST_SET, OUTCOMES, "AUROC", protocol="all_queries")["AUROC"] == 1.0


@pytest.mark.req("W4")
def test_a_query_that_failed_or_was_not_reached_counts_as_zero() -> None:
    failed = found("q1", "d1", error="boom")
    scores = score_outcomes(TEST_SET, [failed], "MRR")
    assert scores.per_query("MRR") == {"q1": 0.0, "q2": 0.0}
    assert score_outcomes(TEST_SET, [], "MRR")["MRR"] == 0.0


def test_the_order_of_results_without_scores_is_their_rank() -> None:
    outcome = QueryOutcome("q1", (RankedResult("zz", "zz"), RankedResult("d1", "d1")))
    assert score_outcomes(TEST_SET, [outcome], "RR@10").value("q1", "RR@10") == 0.5


def test_spans_match_where_ids_do_not() -> None:
    judged = GoldenQuery("q", "t", relevant_docs=(Judgment("d:chunk_0", 1, ((0, 100),)),))
    test_set = TestSet("spans", "v1", (judged,))
    outcome = QueryOutcome("q", (RankedResult("d:chunk_7", "d", 1.0, ((40, 120),)),))
    assert score_outcomes(test_set, [outcome], "MRR")["MRR"] == 0.0
    assert score_outcomes(test_set, [outcome], "MRR", match="span")["MRR"] == 1.0


def test_nothing_to_measure_is_refused() -> None:
    with pytest.raises(UsageError, match="no ranking measure"):
        score_outcomes(TEST_SET, OUTCOMES, "Groundedness")
    with pytest.raises(UsageError, match="no query of empty"):
        score_outcomes(TestSet("empty", "v1", ()), OUTCOMES, "MRR")


@pytest.mark.req("K4", "K6")
def test_answers_are_held_against_what_the_query_expects() -> None:
    answered = [
        found("q1", "d1", answer=Answer("x", ("d1",)), known_citations=frozenset({"d1"})),
        found("q4", answer=Answer("", grounded=False)),
    ]
    asked = replace(TEST_SET, queries=(TEST_SET.queries[0], TEST_SET.queries[3]))
    values = score_answers(answer_records(asked, answered))
    by_key = {measure.key: outcome.value for measure, outcome in values.items()}
    assert by_key == {
        "citation_coverage": 1.0,
        "groundedness": None,
        "number_support": None,
        "refusal_correctness": 1.0,
        "empty_result_rate": 0.5,
    }


def test_latency_is_that_of_queries_which_came_through() -> None:
    times = [found(f"q{n}", latency_ms=float(n)) for n in range(1, 102)]
    slow = found("q0", latency_ms=1e9, error="late")
    measured = latency([*times, slow, found("untimed")])
    assert (measured.n, measured.p50, measured.p95) == (101, 51.0, 96.0)
    assert latency([]).p50 is None


@pytest.mark.req("E5")
def test_the_digest_sees_results_and_not_times() -> None:
    digest = outcomes_digest(OUTCOMES)
    assert outcomes_digest([replace(one, latency_ms=5.0) for one in OUTCOMES[::-1]]) == digest
    assert outcomes_digest(OUTCOMES[1:]) != digest


def posts(size: int) -> tuple[TestSet, list[QueryOutcome]]:
    """Six posts, every other one with evidence; queries of one post score alike."""
    heights = (0.9, 0.2, 0.7, 0.65, 0.6, 0.8)
    queries, outcomes = [], []
    for post, height in enumerate(heights):
        for at in range(size):
            name = f"{post}-{at}"
            judged = (Judgment("d", 1),) if post % 2 == 0 else ()
            expect = Expect.EVIDENCE if judged else Expect.NOTHING
            queries.append(
                GoldenQuery(name, "x", expect=expect, relevant_docs=judged, group=f"post {post}")
            )
            result = RankedResult("d", "d", height + at / 10_000)
            outcomes.append(QueryOutcome(name, (result,)))
    return TestSet("posts", "v1", tuple(queries)), outcomes


@pytest.mark.req("M5")
def test_decisions_are_drawn_by_group_beside_rankings() -> None:
    test_set, outcomes = posts(10)
    both = score_outcomes(test_set, outcomes, "nDCG@10 AUROC", by_group=True)
    only = score_outcomes(test_set, outcomes, "AUROC", by_group=True)
    assert both.interval("AUROC") == only.interval("AUROC")
    assert both.interval("AUROC").clusters == 6
    assert both.interval("nDCG@10").clusters == 3


@pytest.mark.req("M6")
def test_decisions_count_the_queries_without_evidence_too() -> None:
    test_set, outcomes = posts(10)
    both = score_outcomes(test_set, outcomes, "nDCG@10 AUROC Sensitivity")
    assert both.aggregate("nDCG@10").n == 30
    assert both.aggregate("AUROC").n == 60
    assert both.to_dict()["aggregates"]["auroc"]["n"] == 60
    only = score_outcomes(test_set, outcomes, "AUROC", protocol="all_queries")
    assert only.aggregate("AUROC").n == 60
