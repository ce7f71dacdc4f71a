"""Which judged passages does a ranking bring, and what is the best that it can score?

Properties of matching by characters, on documents that two chunkers cut in different ways.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.evaluation.compare import compare_runs
from assay.evaluation.match import Listed, graded_ranks, judge_outcomes, judgment_ranks
from assay.evaluation.outcomes import score_outcomes
from assay.evaluation.stored_run import StoredRun
from assay.hits.run import RunOptions, judge
from assay.model.document import ChunkPlace
from assay.model.judgments import Span
from assay.model.ranking import Match, Result
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.testset import GoldenQuery, Judgment, Level
from assay.testsets.load import parse_test_set
from tests.unit.evaluation.stored import golden, outcome, stored, suite

LENGTH = 60
PERFECT = "nDCG@10 nDCG nDCG(gain=linear)@3 MAP AP@1 AP@3 Rprec bpref infAP Recall RR@10 Success@1"
RISING = f"{PERFECT} P@1 P@3 Recall@2 RBP ERR"
BY_RESULT = {"P@1", "P@3"}  # one wide result in place of two narrow ones is one relevant result


def query_of(judged: list[tuple[str, Span, int]]) -> GoldenQuery:
    marks = (
        Judgment(f"{doc}#{at}", grade, (span,), doc) for at, (doc, span, grade) in enumerate(judged)
    )
    return golden("q", relevant_docs=tuple(marks))


def ranking_of(results: list[tuple[str, Span]]) -> QueryOutcome:
    found = (
        RankedResult(f"{doc}/{at}", doc, None, (span,)) for at, (doc, span) in enumerate(results)
    )
    return QueryOutcome("q", tuple(found))


def values(query: GoldenQuery, ranking: QueryOutcome, measures: str) -> dict[str, float]:
    scores = score_outcomes(suite(query), [ranking], measures, match=Match.SPAN)
    found = {str(measure): scores[measure] for measure in scores.measures}
    return {name: value for name, value in found.items() if value is not None}


@st.composite
def cuts(draw: st.DrawFn) -> list[Span]:
    """A document of LENGTH characters, cut into chunks."""
    edges = draw(st.sets(st.integers(1, LENGTH - 1), max_size=6))
    return list(pairwise([0, *sorted(edges), LENGTH]))


@st.composite
def judged_cuts(draw: st.DrawFn) -> list[tuple[str, Span, int]]:
    """Judged chunks of one or two documents, at least one of them relevant."""
    found = [
        (doc, span, draw(st.integers(0, 3)))
        for doc in draw(st.sampled_from([["A"], ["A", "B"]]))
        for span in draw(cuts())
    ]
    kept = [one for one in found if draw(st.booleans())] or found[:1]
    return kept if any(grade for *_, grade in kept) else [(*kept[0][:2], 2), *kept[1:]]


spans = st.tuples(st.integers(0, LENGTH - 1), st.integers(1, LENGTH)).filter(lambda s: s[0] < s[1])
rankings = st.lists(st.tuples(st.sampled_from(["A", "B", "X"]), spans), max_size=8)


def covered(judged: tuple[str, Span, int], result: tuple[str, Span]) -> bool:
    """The contract, spelled out: the same document, and half of the characters of one span."""
    (doc, (start, end), _), (other, (low, high)) = judged, result
    return doc == other and 2 * max(0, min(end, high) - max(start, low)) >= end - start


@pytest.mark.req("K14")
@given(judged=judged_cuts(), results=rankings)
def test_a_judgment_is_found_at_the_first_single_result_that_covers_half(
    judged: list[tuple[str, Span, int]], results: list[tuple[str, Span]]
) -> None:
    expected = tuple(
        next((rank for rank, one in enumerate(results, 1) if covered(mark, one)), None)
        for mark in judged
    )
    query, ranking = query_of(judged), ranking_of(results)
    assert judgment_ranks(query, ranking, Match.SPAN, {}) == expected


def best_first(
    judged: list[tuple[str, Span, int]], chunks: list[tuple[str, Span]]
) -> list[tuple[str, Span]]:
    """The best ranking of some chunks: the best grade that is still missing comes first."""
    left = [mark for mark in judged if mark[2] > 0]
    ranking: list[tuple[str, Span]] = []
    while True:
        gains = [max((m[2] for m in left if covered(m, one)), default=0) for one in chunks]
        if not any(gains):
            return ranking
        chosen = chunks[gains.index(max(gains))]
        ranking.append(chosen)
        left = [mark for mark in left if not covered(mark, chosen)]


@pytest.mark.req("K14")
@settings(max_examples=300)
@given(judged=judged_cuts(), cut_a=cuts(), cut_b=cuts(), more=rankings)
def test_a_ranking_that_could_not_be_better_scores_1(
    judged: list[tuple[str, Span, int]],
    cut_a: list[Span],
    cut_b: list[Span],
    more: list[tuple[str, Span]],
) -> None:
    chunks = [*(("A", span) for span in cut_a), *(("B", span) for span in cut_b), *more]
    best = best_first(judged, chunks)
    findable = [mark for mark in judged if not mark[2] or any(covered(mark, one) for one in chunks)]
    if not any(grade for *_, grade in findable):
        return
    for name, value in values(query_of(findable), ranking_of(best), PERFECT).items():
        assert value == pytest.approx(1.0, abs=2e-4), name


@pytest.mark.req("K14")
@settings(max_examples=300)
@given(judged=judged_cuts(), results=rankings, data=st.data())
def test_no_value_falls_when_junk_moves_down_or_more_is_returned(
    judged: list[tuple[str, Span, int]], results: list[tuple[str, Span]], data: st.DataObject
) -> None:
    query = query_of(judged)
    at = data.draw(st.integers(0, len(results)))
    worse = [*results[:at], ("X", (0, 1)), *results[at:]]
    longer = [*results, data.draw(st.tuples(st.sampled_from(["A", "B"]), spans))]
    now = values(query, ranking_of(results), RISING)
    assert all(0.0 <= value <= 1.0 + 1e-9 for value in now.values())
    for name, value in values(query, ranking_of(worse), RISING).items():
        assert value <= now[name] + 1e-9, name
    graded = {grade for *_, grade in judged}
    if 0 not in graded:  # what is judged and not relevant may lower bpref and infAP
        for name, value in values(query, ranking_of(longer), RISING).items():
            assert value >= now[name] - 1e-9, name


@pytest.mark.req("K14")
@settings(max_examples=200)
@given(judged=judged_cuts(), results=rankings)
def test_a_result_that_covers_more_is_never_worse(
    judged: list[tuple[str, Span, int]], results: list[tuple[str, Span]]
) -> None:
    query = query_of([mark for mark in judged if mark[2]])
    wider = [(doc, (0, LENGTH)) for doc, _ in results]
    now = values(query, ranking_of(results), RISING)
    for name, value in values(query, ranking_of(wider), RISING).items():
        assert name in BY_RESULT or value >= now[name] - 1e-9, name


@pytest.mark.req("E1", "K14")
@settings(max_examples=200)
@given(judged=judged_cuts(), results=rankings, cutoff=st.integers(1, 5))
def test_a_result_counts_once_in_precision(
    judged: list[tuple[str, Span, int]], results: list[tuple[str, Span]], cutoff: int
) -> None:
    query, ranking = query_of(judged), ranking_of(results)
    ranks = judgment_ranks(query, ranking, Match.SPAN, {})
    relevant = {rank for rank, mark in zip(ranks, judged, strict=True) if mark[2] and rank}
    found = values(query, ranking, f"P@{cutoff}")[f"P@{cutoff}"]
    assert found == pytest.approx(sum(rank <= cutoff for rank in relevant) / cutoff)


@pytest.mark.req("K14")
@settings(max_examples=100)
@given(judged=judged_cuts(), results=rankings, others=rankings)
def test_what_a_run_scores_does_not_depend_on_the_run_beside_it(
    judged: list[tuple[str, Span, int]],
    results: list[tuple[str, Span]],
    others: list[tuple[str, Span]],
) -> None:
    tests = suite(query_of(judged))

    def run(name: str, ranking: list[tuple[str, Span]], version: str, at: str) -> StoredRun:
        found = ranking_of(ranking)
        cut = tuple(replace(one, chunker_version=version) for one in found.results)
        outcomes = [replace(found, results=cut)]
        return stored(name, tests, outcomes, versions=[version], created_at=at)

    old = run("old", results, "v1", "2024-01-01T00:00:00Z")
    new = run("new", others, "v2", "2024-01-02T00:00:00Z")
    again = run("again", [], "v2", "2024-01-03T00:00:00Z")
    pairs = compare_runs(old, new, measures=RISING), compare_runs(old, again, measures=RISING)
    if all(pair.matching is not None and pair.matching.rule is Match.SPAN for pair in pairs):
        assert pairs[0].aggregate_a == pairs[1].aggregate_a


def test_several_judgments_of_one_result_are_one_result_with_the_best_grade() -> None:
    query = query_of([("A", (0, 10), 1), ("A", (10, 20), 3), ("A", (50, 60), 2)])
    ranking = ranking_of([("X", (0, 9)), ("A", (0, 20))])
    assert graded_ranks(query, ranking, Match.SPAN, {}) == {2: 3}
    assert judgment_ranks(query, ranking, Match.SPAN, {}) == (2, 2, None)
    table = judge_outcomes([query], {"q": ranking}, Match.SPAN)
    assert (table.rank.tolist(), table.place.tolist()) == ([2, 2], [2, 3])
    found = values(query, ranking, "nDCG@10 P@2 Recall@2 RR@10")
    ideal = 7 + 3 / 1.584962500721156 + 1 / 2
    assert found["nDCG@10"] == pytest.approx((7 / 1.584962500721156 + 1 / 2) / ideal)
    assert found["P@2"] == 0.5
    assert found["Recall@2"] == pytest.approx(2 / 3)
    assert found["RR@10"] == 0.5


@pytest.mark.req("K1", "K2")
@pytest.mark.parametrize("chunk", ["c-17", "D1:chunk_17", "D1#17"])
@pytest.mark.parametrize("named", [("D1",), ("D1", "D10")])
def test_what_counts_where_chunks_are_expected_does_not_hang_on_their_ids(
    chunk: str, named: tuple[str, ...]
) -> None:
    entry = {"id": "q", "query": "x", "expected_doc_ids": named, "expected_chunk_ids": [chunk]}
    tests = parse_test_set(json.dumps([entry]).encode()).sound()
    asked = "Recall@5 P@5 nDCG@10 RR@10"
    found = QueryOutcome("q", (RankedResult(chunk, "D1"),))
    scores = score_outcomes(tests, [found], asked)
    assert [scores[name] for name in asked.split()] == [1.0, 0.2, 1.0, 1.0]
    other = QueryOutcome("q", (RankedResult("D10:chunk_0", "D10"),))  # a document, not the chunk
    scores = score_outcomes(tests, [other], asked)
    assert [scores[name] for name in asked.split()] == [0.0] * 4


@pytest.mark.parametrize(
    ("rule", "ranks"),
    [
        (Match.EXACT, [[2], [], [1, 2]]),
        (Match.DOC, [[1, 2], [3], [1, 2]]),
        (Match.SPAN, [[1, 2], [3], [1, 2]]),
    ],
)
def test_lists_are_looked_up_by_the_rule_of_the_run(rule: Match, ranks: list[list[int]]) -> None:
    listed = Listed(["A:chunk_1", "A:chunk_0", "B:chunk_5"], {}, rule)
    judged = (Judgment("A:chunk_0", 1), Judgment("B:chunk_0", 1), Judgment("A", 1))
    assert [listed.ranks(one) for one in judged] == ranks


def test_an_expected_chunk_is_not_found_as_a_document() -> None:
    chunk = golden("q", relevant_docs=(Judgment("c-1", 1, level=Level.CHUNK),))
    document = golden("q", relevant_docs=(Judgment("c-1", 1, level=Level.DOCUMENT),))
    other = QueryOutcome("q", (RankedResult("x", "c-1", 1.0),))
    assert graded_ranks(chunk, other, Match.EXACT, {}) == {}
    assert graded_ranks(document, other, Match.EXACT, {}) == {1: 1}
    assert graded_ranks(chunk, outcome("q", "c-1"), Match.EXACT, {}) == {1: 1}


def test_a_listed_place_counts_by_its_characters() -> None:
    places = {"a": ChunkPlace("A", ((0, 10),)), "b": ChunkPlace("A", ((90, 99),))}
    listed = Listed(["b", "a"], places, Match.SPAN)
    assert listed.ranks(Judgment("A:chunk_0", 1, ((0, 18),))) == [2]


# A document with several judged passages, and a chunk of several pieces


PASSAGES = golden("q", relevant_docs=(Judgment("A", 2, ((0, 100), (500, 900))),))


@pytest.mark.req("K14")
@pytest.mark.parametrize(
    ("results", "exact", "recall"),
    [
        ([("A", (0, 100))], 1, 0.5),  # the whole of one passage
        ([("X", (0, 9)), ("A", (0, 49)), ("A", (450, 700))], 3, 0.5),
        ([("A", (60, 120)), ("A", (600, 790))], None, 0.0),  # less than half of either
        ([("A", (0, 1000))], 1, 1.0),
    ],
)
def test_a_result_needs_half_of_one_judged_passage_of_a_document(
    results: list[tuple[str, Span]], exact: int | None, recall: float
) -> None:
    ranking = ranking_of(results)
    assert judgment_ranks(PASSAGES, ranking, Match.EXACT, {}) == (exact,)
    table = judge_outcomes([PASSAGES], {"q": ranking}, Match.SPAN)
    assert len(table.rank) / 2 == recall
    assert len(table.ideal_grade) == 2
    listed = Listed(
        [one.chunk_id for one in ranking.results],
        {one.chunk_id: ChunkPlace(one.doc_id, one.spans) for one in ranking.results},
        Match.SPAN,
    )
    assert bool(listed.ranks(PASSAGES.relevant_docs[0])) == (recall > 0)


HEAD = (0, 10)  # of a table, which every chunk of it repeats


@pytest.mark.req("K14")
def test_a_judged_chunk_of_several_pieces_is_one_passage() -> None:
    judged = golden("q", relevant_docs=(Judgment("A:chunk_1", 2, (HEAD, (100, 200))),))

    def found(*pieces: Span) -> tuple[int | None, ...]:
        outcome = QueryOutcome("q", (RankedResult("A:chunk_2", "A", 1.0, pieces),))
        live = {"q": [Result("A:chunk_2", doc_id="A", spans=pieces)]}
        qrels = suite(judged).qrels()
        table = judge(qrels, live, RunOptions(match=Match.SPAN))
        assert len(table.ideal_grade) == 1
        (rank,) = judgment_ranks(judged, outcome, Match.SPAN, {})
        assert table.rank.tolist() == ([] if rank is None else [rank])  # as assay.score does
        return (rank,)

    assert found(HEAD, (200, 300)) == (None,)  # the next part of the table
    assert found(HEAD, (100, 145)) == (1,)  # exactly half
    assert found((100, 154)) == (None,)
    assert found((100, 155)) == (1,)
