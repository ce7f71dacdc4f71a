"""What changed between two runs? The test plan of the metrics and compare contract (001)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from assay.errors import InputError, UsageError
from assay.evaluation.chunker_match import ChunkerMatch, ChunkerMismatchError
from assay.evaluation.compare import (
    AggregateMetrics,
    ComparisonKind,
    aggregate_metrics,
    classify_ranks,
    compare_runs,
    depth_for,
)
from assay.evaluation.match import covers_enough
from assay.evaluation.stored_run import StoredRun
from assay.measures.parse import parse_measures
from assay.model.answers import Answer, Expect
from assay.model.document import ChunkPlace
from assay.model.runs import QueryOutcome, RankedResult, RunStatus
from assay.model.testset import GoldenQuery, Judgment, Level, level_of_chunk
from tests.unit.evaluation.stored import golden, hit_at, outcome, ranks, result, stored, suite

SNAPSHOT = Path(__file__).with_name("compare-1.json")


def aggregate(queries: list[GoldenQuery], outcomes: list[QueryOutcome]) -> AggregateMetrics:
    run = stored("run", suite(*queries), outcomes)
    return compare_runs(run, run).aggregate_a


THREE = ranks("run", {"q1": 1, "q2": 4, "q3": None})


@pytest.mark.req("K1")
def test_hit_at_k_on_ranks_1_4_miss() -> None:
    found = compare_runs(THREE, THREE).aggregate_a
    assert found.hit_at_k == pytest.approx({1: 1 / 3, 3: 1 / 3, 5: 2 / 3, 10: 2 / 3})


@pytest.mark.req("K2")
def test_mrr_is_the_mean_of_one_over_the_rank() -> None:
    assert compare_runs(THREE, THREE).aggregate_a.mrr == pytest.approx((1 + 0.25) / 3)


@pytest.mark.req("K2")
def test_a_hit_below_rank_10_counts_nothing() -> None:
    far = outcome("q", *(f"X{at}:chunk_0" for at in range(10)), "Dq:chunk_0")
    assert aggregate([golden("q", "Dq:chunk_0")], [far]).mrr == 0.0


@pytest.mark.req("K3")
def test_recall_by_document_counts_documents_in_the_top_k() -> None:
    query = golden("q", "A:chunk_1", "B:chunk_2")
    found = aggregate([query], [outcome("q", "A:chunk_9", "X:chunk_0", "X:chunk_1", "B:chunk_7")])
    assert found.recall_at_k_doc == {1: 0.5, 3: 0.5, 5: 1.0, 10: 1.0}
    assert found.hit_at_k[10] == 0.0  # other chunks of the right documents


@pytest.mark.req("K4")
def test_a_broken_citation_marks_coverage_0() -> None:
    answer = Answer("text", citations=("A:chunk_1", "gone:chunk_1"))
    out = outcome("q", "A:chunk_1", answer=answer, known_citations=frozenset({"A:chunk_1"}))
    assert aggregate([golden("q", "A:chunk_1")], [out]).citation_coverage == 0.0


@pytest.mark.req("K5")
def test_a_forbidden_string_makes_an_answer_ungrounded() -> None:
    query = golden("q", "A:chunk_1", must_contain=("aspirin",), forbidden=("cure",))
    out = outcome("q", "A:chunk_1", answer=Answer("aspirin is a cure"))
    assert aggregate([query], [out]).groundedness == 0.0


@pytest.mark.req("K7")
def test_refusal_correctness_is_1_when_all_were_refused() -> None:
    queries = [golden(name, expect=Expect.REFUSAL) for name in ("q1", "q2")]
    outs = [outcome(name, "A", answer=Answer("no", grounded=False)) for name in ("q1", "q2")]
    assert aggregate(queries, outs).refusal_correctness == 1.0


@pytest.mark.req("K7")
def test_a_run_without_answers_has_no_refusal_correctness() -> None:
    found = aggregate([golden("q", expect=Expect.REFUSAL)], [outcome("q")])
    assert found.refusal_correctness is None
    assert found.reasons["refusal_correctness"]


@pytest.mark.req("K6")
def test_the_rate_of_empty_results_leaves_failures_out() -> None:
    queries = [golden(name, "A") for name in ("q1", "q2", "q3")]
    outs = [outcome("q1"), outcome("q2", "A"), outcome("q3", error="boom")]
    found = aggregate(queries, outs)
    assert found.empty_result_rate == 0.5
    assert (found.total_queries, found.failed_queries) == (3, 1)


@pytest.mark.req("K8")
def test_zero_denominators_are_null_in_json() -> None:
    found = aggregate([golden("q", expect=Expect.NOTHING)], [outcome("q")]).to_dict()
    text = json.dumps(found, allow_nan=False)
    for key in ("mrr", "citation_coverage", "groundedness", "refusal_correctness"):
        assert found[key] is None
        assert f'"{key}": null' in text
    assert set(found["hit_at_k"].values()) == {None}


@pytest.mark.req("K9")
def test_stored_values_have_4_decimals() -> None:
    assert compare_runs(THREE, THREE).aggregate_a.to_dict()["mrr"] == 0.4167


@pytest.mark.req("K9")
def test_computing_twice_gives_the_same() -> None:
    one = compare_runs(THREE, THREE).aggregate_a
    assert one == compare_runs(THREE, THREE).aggregate_a


@pytest.mark.req("K11")
@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        (None, 3, "Win"),
        (4, 2, "Win"),
        (2, 4, "Loss"),
        (3, None, "Regression"),
        (3, 3, "Draw"),
        (None, None, "Draw"),
    ],
)
def test_what_becomes_of_a_query(a: int | None, b: int | None, kind: str) -> None:
    assert classify_ranks(a, b).value == kind
    report = compare_runs(ranks("a", {"q": a}), ranks("b", {"q": b}))
    (query,) = report.per_query
    assert (query.kind.value, query.a_hit_rank, query.b_hit_rank) == (kind, a, b)


PLACES_A = {"q1": 1, "q2": 4, "q3": None, "q4": 2, "q5": 7}
PLACES_B = {"q1": 1, "q2": 2, "q3": 5, "q4": None, "q5": 9}


def pair() -> tuple[object, object]:
    return (
        ranks("run-a", PLACES_A, config={"fusion_method": "rrf", "weights": {"bm25": 0.3}}),
        ranks("run-b", PLACES_B, config={"fusion_method": "weighted", "weights": {"bm25": 0.5}}),
    )


@pytest.mark.req("K12")
def test_the_json_of_a_report_is_stable() -> None:
    a = ranks("run-a", PLACES_A, config={"fusion_method": "rrf", "weights": {"bm25": 0.3}})
    b = ranks("run-b", PLACES_B, config={"fusion_method": "weighted", "weights": {"bm25": 0.5}})
    report = compare_runs(a, b, measures="nDCG@10").to_dict()
    text = json.dumps(report, indent=1, allow_nan=False) + "\n"
    assert text == SNAPSHOT.read_text(encoding="utf-8")
    assert text == json.dumps(compare_runs(a, b, measures="nDCG@10").to_dict(), indent=1) + "\n"


@pytest.mark.req("K11")
def test_deltas_are_b_minus_a_and_null_where_a_side_is_undefined() -> None:
    a = ranks("a", {"q1": 1, "q2": 4})
    b = ranks("b", {"q1": 1, "q2": 2})
    report = compare_runs(a, b)
    assert report.deltas["mrr"] == pytest.approx(0.125)
    assert report.deltas["groundedness"] is None
    assert report.to_dict()["deltas"]["groundedness"] is None


@pytest.mark.req("K13")
def test_notes_name_the_settings_that_differ_one_by_one() -> None:
    a = ranks("a", {"q": 1}, config={"fusion_method": "rrf", "answerer": {"prompt": "v1"}})
    b = ranks(
        "b",
        {"q": 3},
        config={"fusion_method": "weighted", "answerer": {"prompt": "v2"}},
        models={"dense": "minilm"},
    )
    (query,) = compare_runs(a, b).per_query
    assert query.note is not None
    assert "config: fusion_method rrf → weighted" in query.note
    assert "prompt: answerer.prompt v1 → v2" in query.note
    assert "embedding: dense — → minilm" in query.note
    assert query.own is None, "the runs as a whole differ in this, and the report says so once"


@pytest.mark.req("K13")
def test_a_draw_has_no_causes_to_explain() -> None:
    a, b = ranks("a", {"q": 1}, config={"k": 1}), ranks("b", {"q": 1}, config={"k": 2})
    assert compare_runs(a, b).per_query[0].note is None


@pytest.mark.req("K13")
def test_degraded_and_failed_queries_say_so() -> None:
    tests = suite(golden("q1", "Dq1:chunk_0"), golden("q2", "Dq2:chunk_0"))
    a = stored("a", tests, [hit_at("q1", 1), hit_at("q2", 1)])
    b = stored(
        "b",
        tests,
        [
            hit_at("q1", 1, degraded=True, component_errors=("splade_timeout",)),
            QueryOutcome("q2", error="boom"),
        ],
    )
    report = compare_runs(a, b)
    assert report.degraded
    assert any("DEGRADED: 1 of 2" in line and "splade_timeout" in line for line in report.warnings)
    notes = [query.note for query in report.per_query]
    assert notes == ["b degraded: splade_timeout", "b failed: boom"]
    assert [query.own for query in report.per_query] == notes


def test_a_run_compared_with_itself_draws_everywhere_and_says_so() -> None:
    report = compare_runs(THREE, THREE)
    assert report.counts[ComparisonKind.DRAW] == 3
    assert {value for value in report.deltas.values() if value is not None} == {0.0}
    assert any("with itself" in line for line in report.warnings)


def test_another_test_set_is_refused() -> None:
    other = stored("b", suite(golden("q1", "A"), name="other"), [outcome("q1", "A")])
    with pytest.raises(UsageError, match="test set"):
        compare_runs(THREE, other)


def test_another_version_compares_common_queries_with_a_warning() -> None:
    old = suite(golden("q1", "A"), golden("q2", "A"))
    new = suite(golden("q1", "B"), golden("q3", "A"), version="v2")
    a = stored("a", old, [outcome("q1", "A"), outcome("q2", "A")])
    b = stored("b", new, [outcome("q1", "A", "B"), outcome("q3", "A")])
    report = compare_runs(a, b)
    assert [query.query_id for query in report.per_query] == ["q1"]
    assert "judgments of v2, which differ for 1" in report.warnings[0]
    assert report.per_query[0].kind is ComparisonKind.WIN


def test_a_query_of_the_same_id_and_another_text_is_another_query() -> None:
    new = suite(replace(golden("q1", "A"), query_text="other"), version="v2")
    a = stored("a", suite(golden("q1", "A")), [outcome("q1", "A")])
    with pytest.raises(InputError, match="no query in common"):
        compare_runs(a, stored("b", new, [outcome("q1", "A")]))


@pytest.mark.req("K11")
@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (outcome("q1", "Z"), "no document in common"),
        (outcome("q1"), "b returned nothing at all"),
        (QueryOutcome("q1", error="down"), "b returned nothing at all"),
    ],
)
def test_a_run_that_fails_altogether_is_shown_as_regressions(
    failure: QueryOutcome, said: str
) -> None:
    tests = suite(golden("q1", "A"))
    report = compare_runs(stored("a", tests, [outcome("q1", "A")]), stored("b", tests, [failure]))
    assert report.counts[ComparisonKind.REGRESSION] == 1
    assert any(said in line for line in report.warnings)


@pytest.mark.req("K11")
def test_what_an_unfinished_run_did_not_ask_it_did_not_find() -> None:
    rest = THREE.outcomes[1:]
    part = stored("b", THREE.test_set, rest, status=RunStatus.INTERRUPTED)
    report = compare_runs(THREE, part)
    assert len(report.per_query) == 3
    assert report.counts[ComparisonKind.REGRESSION] == 1
    assert report.per_query[0].note == "b did not ask it"
    assert (report.incomplete, report.aggregate_b.unasked_queries) == (True, 1)
    assert any("2 of 3 queries were asked" in line for line in report.warnings)


def test_only_the_results_that_count_are_read() -> None:
    assert depth_for("") == 10
    assert depth_for("Recall@{5,20}") == 20
    assert depth_for("nDCG@10 MRR") is None


# --- chunkers that differ (K14)

OLD, NEW = "text-1-old", "text-1-new"


def rechunked() -> tuple[QueryOutcome, QueryOutcome]:
    """The judged chunk D:chunk_3 is [300, 400); the new chunker has D:chunk_1 as [200, 360)."""
    before = RankedResult("D:chunk_3", "D", 1.0, ((300, 400),), OLD)
    after = RankedResult("D:chunk_1", "D", 1.0, ((200, 360),), NEW)
    return QueryOutcome("q", (before,)), QueryOutcome("q", (after,))


@pytest.mark.req("K14")
def test_archived_spans_keep_hits_that_ids_would_lose() -> None:
    before, after = rechunked()
    tests = suite(golden("q", "D:chunk_3"))
    a = stored("a", tests, [before], versions=[OLD])
    b = stored("b", tests, [after], versions=[NEW])
    report = compare_runs(a, b)
    assert report.chunker_version_match is ChunkerMatch.FALLBACK_DOC_SPAN
    assert report.to_dict()["deltas"]["chunker_version_match"] == "fallback_doc_span"
    assert report.per_query[0].kind is ComparisonKind.DRAW
    assert report.aggregate_b.hit_at_k[1] == 1.0
    same = compare_runs(a, stored("b", tests, [after], versions=[OLD]))
    assert same.per_query[0].kind is ComparisonKind.REGRESSION


@pytest.mark.req("K14")
def test_an_archive_knows_chunks_that_no_run_returned() -> None:
    _, after = rechunked()
    tests = suite(golden("q", "D:chunk_3"))
    a = stored("a", tests, [outcome("q", "D:chunk_9")], versions=[OLD])
    b = stored("b", tests, [after], versions=[NEW])
    asked: list[object] = []

    def archive(ids: object, versions: frozenset[str]) -> dict[str, ChunkPlace]:
        asked.append(versions)
        return {"D:chunk_3": ChunkPlace("D", ((300, 400),))}

    report = compare_runs(a, b, archive=archive)
    assert asked == [frozenset({OLD})]
    assert report.chunker_version_match is ChunkerMatch.FALLBACK_DOC_SPAN
    assert report.per_query[0].b_hit_rank == 1


@pytest.mark.req("K14")
def test_less_than_half_of_the_span_is_a_miss() -> None:
    tests = suite(golden("q", relevant_docs=(Judgment("D:chunk_3", 1, ((300, 400),), doc_id="D"),)))
    a = stored("a", tests, [rechunked()[0]], versions=[OLD])
    b_result = replace(result("D:chunk_1", spans=((200, 349),)), chunker_version=NEW)
    b = stored("b", tests, [QueryOutcome("q", (b_result,))], versions=[NEW])
    assert compare_runs(a, b).per_query[0].kind is ComparisonKind.REGRESSION


@pytest.mark.req("K14")
def test_without_spans_only_documents_are_compared() -> None:
    tests = suite(golden("q", "D:chunk_3"))
    a = stored("a", tests, [outcome("q", "D:chunk_3")], versions=[OLD])
    b = stored("b", tests, [outcome("q", "X:chunk_0", "D:chunk_1")], versions=[NEW])
    report = compare_runs(a, b)
    assert report.chunker_version_match is ChunkerMatch.FALLBACK_DOC
    assert report.per_query[0].kind is ComparisonKind.LOSS


@pytest.mark.req("K14")
def test_strict_refuses_different_chunkers() -> None:
    tests = suite(golden("q", "D:chunk_3"))
    before, after = rechunked()
    a, b = stored("a", tests, [before], versions=[OLD]), stored("b", tests, [after], versions=[NEW])
    with pytest.raises(ChunkerMismatchError, match=OLD) as refused:
        compare_runs(a, b, strict_chunker_version=True)
    assert refused.value.exit_code == 2
    assert compare_runs(a, a, strict_chunker_version=True).chunker_version_match == "exact"


@pytest.mark.req("K14")
def test_runs_that_name_no_chunker_are_told_apart_by_their_results() -> None:
    tests = suite(golden("q", "D:chunk_3"))
    before, after = rechunked()
    a, b = stored("a", tests, [before], versions=[]), stored("b", tests, [after], versions=[])
    assert compare_runs(a, b).chunker_version_match is ChunkerMatch.FALLBACK_DOC_SPAN


@pytest.mark.req("K14")
def test_parts_of_several_results_are_not_added_up() -> None:
    tests = suite(golden("q", "D:chunk_0"))
    whole = replace(result("D:chunk_0", spans=((0, 60),)), chunker_version=OLD)
    parts = [
        replace(result(f"D:chunk_{at}", 1 / (at + 1), spans=(span,)), chunker_version=NEW)
        for at, span in enumerate(((0, 20), (20, 40), (40, 60)))
    ]
    a = stored("a", tests, [QueryOutcome("q", (whole,))], versions=[OLD])
    b = stored("b", tests, [QueryOutcome("q", tuple(parts))], versions=[NEW])
    report = compare_runs(a, b)
    assert report.chunker_version_match is ChunkerMatch.FALLBACK_DOC_SPAN
    assert report.per_query[0].kind is ComparisonKind.REGRESSION
    assert report.aggregate_b.hit_at_k[10] == 0.0


@pytest.mark.req("K14")
def test_a_result_that_covers_two_judged_chunks_serves_both() -> None:
    tests = suite(golden("q", "D:chunk_0", "D:chunk_1"))
    small = [
        replace(result(f"D:chunk_{at}", 1 / (at + 1), spans=(span,)), chunker_version=OLD)
        for at, span in enumerate(((0, 30), (30, 60)))
    ]
    large = replace(result("D:chunk_0", spans=((0, 60),)), chunker_version=NEW)
    a = stored("a", tests, [QueryOutcome("q", tuple(small))], versions=[OLD])
    b = stored("b", tests, [QueryOutcome("q", (large,))], versions=[NEW])
    measures = "nDCG@10 nDCG(gain=linear)@10 MAP AP@1 AP@10 Rprec P@1 Recall@1 bpref infAP"
    report = compare_runs(a, b, measures=measures)
    assert set(report.aggregate_b.measures) == {str(m) for m in parse_measures(measures)}
    for name, value in report.aggregate_b.measures.items():
        assert value == pytest.approx(1.0, abs=1e-4), name
    assert report.per_query[0].kind is ComparisonKind.DRAW
    precise = compare_runs(a, b, measures="P@2 P@5")
    assert precise.aggregate_a.measures == {"P@2": 1.0, "P@5": 0.4}
    assert precise.aggregate_b.measures == {"P@2": 0.5, "P@5": 0.2}  # one result is one result


@pytest.mark.req("K14")
def test_a_document_that_nobody_judged_does_not_make_chunkers_differ() -> None:
    tests = suite(golden("q", "D:chunk_3"))
    kept = replace(result("D:chunk_3", spans=((300, 400),)), chunker_version=OLD)
    note = replace(result("N:chunk_0", 0.5, spans=((0, 9),)), chunker_version=NEW)
    a = stored("a", tests, [QueryOutcome("q", (kept,))], versions=[OLD])
    b = stored("b", tests, [QueryOutcome("q", (kept, note))], versions=[OLD, NEW])
    report = compare_runs(a, b, strict_chunker_version=True)
    assert report.chunker_version_match is ChunkerMatch.EXACT
    assert not [one for one in report.differences if one.kind == "chunker"]


@pytest.mark.req("K14")
def test_a_judged_document_that_was_cut_anew_makes_chunkers_differ() -> None:
    before, after = rechunked()
    tests = suite(golden("q", "D:chunk_3"))
    a = stored("a", tests, [before], versions=[OLD])
    for b in (
        stored("b", tests, [after], versions=[OLD, NEW]),  # others kept the old chunker
        stored("b", tests, [QueryOutcome("q")], versions=[NEW]),  # nothing came back
    ):
        assert compare_runs(a, b).chunker_version_match is ChunkerMatch.FALLBACK_DOC_SPAN


# --- chunks and documents that are expected (seed 001)


def expecting(query_id: str, chunks: tuple[str, ...], documents: tuple[str, ...]) -> GoldenQuery:
    judged = (
        *(Judgment(one, 1, (), None, level_of_chunk(one, None)) for one in chunks),
        *(Judgment(one, 1, level=Level.DOCUMENT) for one in documents),
    )
    return golden(query_id, relevant_docs=judged)


EXPECTED = suite(
    expecting("q1", ("A:chunk_0",), ()),
    expecting("q2", ("B:chunk_3",), ("C",)),
    expecting("q3", (), ("E", "F")),
)


@pytest.mark.req("K1", "K2", "K3", "K11")
def test_hits_look_at_chunks_and_documents_count_in_the_recall_of_documents() -> None:
    a = stored(
        "a",
        EXPECTED,
        [
            outcome("q1", "X:chunk_0", "A:chunk_0"),
            outcome("q2", "C:chunk_1", "X:chunk_0", "X:chunk_1", "B:chunk_3"),
            outcome("q3", "E:chunk_4", "X:chunk_2", "F:chunk_0"),
        ],
    )
    b = stored(
        "b",
        EXPECTED,
        [
            outcome("q1", "A:chunk_7"),
            outcome("q2", "B:chunk_3"),
            outcome("q3", "X:chunk_0"),
        ],
    )
    report = compare_runs(a, b)
    one, other = report.aggregate_a, report.aggregate_b
    assert one.hit_at_k == pytest.approx({1: 0.0, 3: 0.5, 5: 1.0, 10: 1.0})
    assert one.mrr == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert one.recall_at_k_doc == pytest.approx({1: 1 / 3, 3: 5 / 6, 5: 1.0, 10: 1.0})
    assert other.hit_at_k == pytest.approx({1: 0.5, 3: 0.5, 5: 0.5, 10: 0.5})
    assert other.mrr == pytest.approx(1 / 2)
    kinds = {query.query_id: query.kind.value for query in report.per_query}
    assert kinds == {"q1": "Regression", "q2": "Win"}
    assert report.left_out == ("q3",)
    assert report.to_dict()["left_out"] == ["q3"]
    assert any(
        "expects documents and no chunk" in line and "q3" in line for line in report.warnings
    )


@pytest.mark.req("K1", "K8")
def test_a_set_that_expects_documents_alone_has_no_hits_and_says_why() -> None:
    tests = suite(expecting("q1", (), ("A",)))
    found = aggregate(list(tests.queries), [outcome("q1", "A:chunk_2")])
    assert set(found.hit_at_k.values()) == {None}
    assert found.mrr is None
    assert found.reasons["mrr"] == "the query expects documents and no chunk"
    assert found.recall_at_k_doc[1] == 1.0


@pytest.mark.req("K3")
def test_the_recall_of_documents_does_not_depend_on_the_other_run() -> None:
    """The document of the chunk c-17 is not in its id; it is one of those that are expected."""
    tests = suite(expecting("q", ("c-17",), ("D1", "D10")))

    def run(name: str, *found: tuple[str, str]) -> StoredRun:
        results = [RankedResult(chunk, doc, 1 / at) for at, (chunk, doc) in enumerate(found, 1)]
        return stored(name, tests, [QueryOutcome("q", tuple(results))], versions=[])

    lacks = run("lacks", ("c-99", "D1"), ("c-98", "D10"))
    partners = [run("has", ("c-17", "D1")), run("other", ("c-99", "D1")), run("none")]
    alone = aggregate_metrics(lacks)
    assert alone.recall_at_k_doc == {1: 0.5, 3: 1.0, 5: 1.0, 10: 1.0}
    assert alone.hit_at_k[10] == 0.0
    for partner in partners:
        assert compare_runs(lacks, partner).aggregate_a == alone
        assert compare_runs(partner, lacks).aggregate_b == alone


@pytest.mark.req("K3")
def test_a_chunk_of_an_unknown_document_is_left_out_of_the_recall_of_documents() -> None:
    tests = suite(expecting("q", ("c-17",), ()))
    run = stored("a", tests, [QueryOutcome("q", (RankedResult("c-17", "D1", 1.0),))], versions=[])
    found = aggregate_metrics(run)
    assert found.hit_at_k[1] == 1.0
    assert found.recall_at_k_doc[1] is None


def test_half_of_the_characters_is_enough_and_none_counts_twice() -> None:
    assert covers_enough([(0, 100)], [(0, 50)])
    assert not covers_enough([(0, 100)], [(0, 49), (0, 49)])
    assert covers_enough([(0, 10), (50, 60)], [(0, 10)])
    assert covers_enough([(0, 100)], [(90, 200), (10, 55)])
