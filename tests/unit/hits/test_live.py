"""Are live rankings put in order and matched by chunk, document and span?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from assay.errors import AssayError, FormatError, InputError, UsageError
from assay.hits.live import document_of, live_run, ordered
from assay.hits.qrels import load_qrels
from assay.hits.run import RunOptions, judge
from assay.measures.table import JudgedHits
from assay.model.judgments import Qrels, Span
from assay.model.ranking import Match, RankBy, Result, Ties

from .tables import ranks


def judged(
    grades: dict[str, int],
    ranking: Any,
    spans: Mapping[str, tuple[Span, ...]] | None = None,
    **more: Any,
) -> list[tuple[int, int]]:
    return ranks(table_of(grades, ranking, spans, **more), "q")


def table_of(
    grades: dict[str, int],
    ranking: Any,
    spans: Mapping[str, tuple[Span, ...]] | None = None,
    **more: Any,
) -> JudgedHits:
    plain = load_qrels({"q": grades})
    rows = {list(grades).index(doc): places for doc, places in (spans or {}).items()}
    qrels = Qrels(plain.queries, plain.query, plain.docs, plain.grade, rows)
    return judge(qrels, {"q": ranking}, RunOptions(**more))


def refusal(ranking: Any, kind: type[AssayError] = FormatError, **options: Any) -> str:
    with pytest.raises(kind) as caught:
        judge(load_qrels({"q": {"a": 1}}), {"q": ranking}, RunOptions(**options))
    assert caught.type is kind
    return str(caught.value)


# Order


@pytest.mark.parametrize(
    ("ranking", "order"),
    [
        (["c", "a", "b"], "cab"),
        ([("c", 1), ("a", 3), ("b", 2)], "abc"),
        ([("c", 1), ("a", 1), ("b", 1)], "cab"),
        ([{"id": "c", "rank": 2}, {"id": "a", "rank": 3}, {"id": "b", "rank": 1}], "bca"),
        ([{"id": "c", "rank": 1}, {"id": "a", "rank": 1}, {"id": "b", "rank": 0}], "bca"),
        (
            [
                {"id": "c", "score": 1, "rank": 3},
                {"id": "a", "score": 1, "rank": 2},
                {"id": "b", "score": 2, "rank": 9},
            ],
            "bac",
        ),
        ([Result("c", score=-1.0), Result("a", score=-2.0), Result("b", score=0.0)], "bca"),
        ([Result("c", score=0.0), Result("a", score=-0.0), Result("b", score=0.0)], "cab"),
        ((Result("c"), Result("a"), Result("b")), "cab"),
        (["c", "a", {"doc_id": "b"}], "cab"),
    ],
)
def test_score_then_given_rank_then_place(ranking: Any, order: str) -> None:
    for place, doc in enumerate(order, 1):
        assert judged({doc: 1}, ranking, rank_by="score") == [(place, 1)]


@pytest.mark.parametrize(
    ("ranking", "order"),
    [
        ([("c", 0.1), ("a", 0.3), ("b", 0.2)], "cab"),
        ([{"id": "c", "score": 1, "rank": 3}, {"id": "a", "score": 2, "rank": 1}], "ac"),
        ([Result("c", score=0.0), Result("a", score=5.0)], "ca"),
    ],
)
def test_the_order_of_the_engine_is_the_ranking(ranking: Any, order: str) -> None:
    """Distances rise, and the nearest is the best."""
    for place, doc in enumerate(order, 1):
        assert judged({doc: 1}, ranking) == [(place, 1)]


def test_scores_that_contradict_the_order_are_mentioned() -> None:
    (note,) = table_of({"a": 1}, [("a", 0.1), ("b", 0.5)]).notes
    assert note.startswith("the scores of 1 of 1 query do not fall along the list")
    assert table_of({"a": 1}, [("a", 0.5), ("b", 0.5), ("c", 0.1)]).notes == ()
    assert table_of({"a": 1}, [("a", 0.1), ("b", 0.5)], rank_by="score").notes == ()
    assert table_of({"a": 1}, {"a": 0.1, "b": 0.5}).notes == ()


def test_a_mapping_of_scores_may_be_ranked_as_it_stands() -> None:
    assert judged({"a": 1}, {"a": 0.1, "b": 0.5}) == [(2, 1)]
    assert judged({"a": 1}, {"a": 0.1, "b": 0.5}, rank_by="order") == [(1, 1)]


def test_ordering_changes_nothing() -> None:
    results = [Result("b", score=1.0), Result("a", score=2.0)]
    assert [result.id for result in ordered(results, "q", RankBy.SCORE)] == ["a", "b"]
    assert [result.id for result in ordered(results, "q")] == ["b", "a"]
    assert [result.id for result in results] == ["b", "a"]
    assert ordered([], "q") == []


def test_what_only_some_results_have() -> None:
    message = refusal([{"id": "a", "score": 1}, {"id": "b"}], InputError)
    assert message.startswith("query 'q': some results have a score and some do not (give")
    message = refusal([{"id": "a", "rank": 1}, {"id": "b"}], InputError)
    assert message.startswith("query 'q': some results have a rank and some do not (give")


def test_a_repeated_result_keeps_its_place_and_earns_nothing() -> None:
    table = table_of({"a": 1, "b": 1}, ["a", "a", "b", "a"])
    assert ranks(table, "q") == [(1, 1), (3, 1)]
    assert table.retrieved.tolist() == [4]
    assert judged({"a": 1}, [("a", 1.0), ("a", 3.0), ("b", 2.0)]) == [(1, 1)]


def test_ties_are_counted() -> None:
    assert table_of({"a": 1, "b": 1}, [("a", 1), ("b", 1), ("c", 0)]).tied.tolist() == [2]
    assert table_of({"a": 1, "b": 1}, [("a", 3), ("b", 1), ("c", 1)]).tied.tolist() == [1]
    assert table_of({"a": 1, "b": 1}, ["a", "b", "c"]).tied.tolist() == [0]


def test_scores_as_lists() -> None:
    run = {"q": {"a": 1.0, "c": 1.0, "b": 2.0}}
    assert [result.id for result in live_run(run)["q"]] == ["c", "b", "a"]
    assert [result.id for result in live_run(run, Ties.GIVEN)["q"]] == ["a", "c", "b"]


def test_top_scores() -> None:
    ranking = [("a", 1.5), ("b", 2.5)]
    assert table_of({"a": 1}, ranking, rank_by="score").top_score.tolist() == [2.5]
    assert table_of({"a": 1}, ranking[::-1]).top_score.tolist() == [2.5]
    assert table_of({"a": 1}, ranking).top_score.tolist() == [-np.inf]  # a distance is no score
    assert table_of({"a": 1}, ["a"]).top_score.tolist() == [-np.inf]
    assert table_of({"a": 1}, []).top_score.tolist() == [-np.inf]


def test_scores_in_32_bits() -> None:
    ranking = [("z", 1.0), ("a", 1.00000001)]
    assert judged({"a": 1}, ranking, rank_by="score") == [(1, 1)]
    assert judged({"a": 1}, ranking, rank_by="score", float32=True) == [(2, 1)]
    assert judged({"a": 1}, ["z", "a"], float32=True) == [(2, 1)]
    assert judged({"a": 1}, [], float32=True) == []
    message = refusal([("a", 1.0), ("b", 1e300)], InputError, float32=True)
    assert message.startswith("query 'q', document 'b': the score 1e+300 does not fit into 32 bits")


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (Result("a", score=float("nan")), "the score nan is not a finite number"),
        (Result("a", score="1"), "the score '1' is not a number"),  # type: ignore[arg-type]
        (Result("a", score=True), "the score True is not a number"),
        (Result(5), "the id 5 is not text"),  # type: ignore[arg-type]
        (Result(""), "the id '' is not text"),
        (Result("\ud800"), "the id '\\ud800' holds half a surrogate pair"),
        (Result("a", rank=-1), "the rank -1 is not a whole number"),
        (Result("a", rank=1.5), "the rank 1.5 is not a whole number"),  # type: ignore[arg-type]
        (Result("a", rank=float("inf")), "the rank inf is not a whole"),  # type: ignore[arg-type]
        (Result("a", doc_id=5), "the id 5 is not text"),  # type: ignore[arg-type]
        (Result("a", spans=((5, 1),)), "a span is [start, end) with 0 <= start < end, not (5, 1)"),
        (("a", float("inf")), "the score inf is not a finite number"),
        (("a", None), "the score None is not a number"),
        (("a", 10**5000), "the score with too many digits to show is not a finite number"),
        (5, "a result is an id, [id, score] or an object, not 5"),
        (None, "a result is an id, [id, score] or an object, not None"),
        (b"a", "a result is an id, [id, score] or an object, not b'a'"),
    ],
    ids=[str(number) for number in range(17)],
)
def test_a_result_that_is_refused(result: Any, says: str) -> None:
    assert refusal([result]).startswith(f"run: query 'q': {says}")


# Documents

CHUNKS = ["d1:chunk_7", "d2:chunk_1", "d1:chunk_3", "d3"]


def test_matching_by_document() -> None:
    grades = {"d1:chunk_1": 1, "d1:chunk_2": 3, "d3:chunk_0": 2, "d9:chunk_1": 1}
    table = table_of(grades, CHUNKS, match="doc")
    assert ranks(table, "q") == [(1, 3), (4, 2)]  # the best grade of a document is its grade
    assert table.ideal_grade.tolist() == [3, 2, 1]
    assert judged(grades, CHUNKS) == []
    assert judged({"d1": 1}, {"x": 9.0, "d1:chunk_5": 1.0, "y": 1.0}, match="doc") == [(3, 1)]


def test_what_is_the_document_of_a_chunk() -> None:
    assert document_of(Result("d:chunk_1"), ":chunk_") == "d"
    assert document_of(Result("d:chunk_1:chunk_2"), ":chunk_") == "d:chunk_1"
    assert document_of(Result("d"), ":chunk_") == "d"
    assert document_of(Result("d:chunk_1", doc_id="e"), ":chunk_") == "e"
    assert judged({"d#1": 1}, ["d#2"], match="doc", separator="#") == [(1, 1)]


def test_judgments_that_name_their_documents_tell_those_of_results() -> None:
    """As a golden list does: any query may say which document doc7#3 is of."""
    plain = load_qrels({"q1": {"doc7#3": 1}, "q2": {"doc7": 2}, "q3": {"c1": 1}, "q4": {"c1": 1}})
    qrels = replace(plain, documents={0: "doc7", 2: "a", 3: "b"})
    run = {"q1": ["doc7#3"], "q2": ["x", "doc7#3"], "q3": ["c1"], "q4": ["c1"]}
    table = judge(qrels, run, RunOptions(match=Match.DOC))
    assert ranks(table, "q1") == [(1, 1)]
    assert ranks(table, "q2") == [(2, 2)]
    assert ranks(table, "q3") == ranks(table, "q4") == []  # c1 is judged under two documents
    given = {"q2": [Result("doc7#3", doc_id="other")]}
    assert ranks(judge(qrels, given, RunOptions(match=Match.DOC)), "q2") == []


# Spans


def spanned(*results: tuple[str, *tuple[Span, ...]]) -> list[Result]:
    return [Result(id_, spans=spans) for id_, *spans in results]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("covering", "found"),
    [
        ([(0, 100)], True),
        ([(10, 15)], True),  # exactly half
        ([(10, 14)], False),
        ([(0, 14), (16, 17)], True),
        ([(0, 13), (12, 14)], False),  # no character counts twice
        ([(0, 13), (11, 14), (13, 15)], True),
        ([(18, 30), (0, 12), (14, 15)], True),
        ([(20, 30)], False),
        ([(0, 10)], False),
        ([], False),
    ],
)
def test_half_of_a_span_is_enough(covering: list[Span], found: bool) -> None:
    ranking = [*spanned(("d:chunk_1", *covering)), *spanned(("e", (0, 1)))]
    hits = judged({"d:chunk_9": 2}, ranking, {"d:chunk_9": ((10, 20),)}, match="span")
    assert hits == ([(1, 2)] if found else [])


def test_one_result_that_covers_several_spans() -> None:
    """One result, several judgments found: the rank counts once, each judgment is found."""
    spans = {"d": ((0, 10), (10, 20)), "d:chunk_2": ((20, 30),), "d:chunk_3": ((90, 99),)}
    grades = {"d": 1, "d:chunk_2": 3, "d:chunk_3": 1}
    ranking = spanned(("e", (0, 5)), ("d:chunk_8", (0, 30)), ("d:chunk_9", (0, 99)))
    table = table_of(grades, ranking, spans, match="span")
    assert ranks(table, "q") == [(2, 3), (2, 1), (2, 1), (3, 1)]
    assert table.lead.tolist() == [True, False, False, True]
    assert table.ideal_grade.tolist() == [3, 1, 1, 1]


def test_the_same_span_judged_twice() -> None:
    spans = {"d:chunk_1": ((0, 10),), "d:chunk_2": ((0, 10),)}
    table = table_of({"d:chunk_1": 1, "d:chunk_2": 1}, spanned(("d", (0, 10))), spans, match="span")
    assert ranks(table, "q") == [(1, 1), (1, 1)]
    assert table.lead.tolist() == [True, False]


def test_judgments_without_spans_match_by_document() -> None:
    spans = {"d:chunk_1": ((0, 10),)}
    ranking = spanned(("e:chunk_5", (3, 4)), ("d:chunk_5", (50, 60)), ("d:chunk_6", (0, 10)))
    grades = {"d:chunk_1": 1, "e:chunk_1": 2}
    assert judged(grades, ranking, spans, match="span") == [(1, 2), (3, 1)]


def test_a_judgment_may_name_the_document_that_its_id_does_not_tell() -> None:
    plain = load_qrels({"q": {"talk-07": 2, "talk-09": 3}})
    qrels = replace(plain, spans={0: ((70, 80),), 1: ((90, 99),)}, documents={0: "talk", 1: "talk"})
    run = {"q": [Result("e"), Result("talk:chunk_0", doc_id="talk", spans=((0, 85),))]}
    assert ranks(judge(qrels, run, RunOptions(match=Match.SPAN)), "q") == [(2, 2)]
    assert ranks(judge(qrels, run, RunOptions(match=Match.DOC)), "q") == [(2, 3)]
    assert ranks(judge(qrels, run, RunOptions()), "q") == []


def test_span_matching_needs_spans() -> None:
    message = refusal(["a"], UsageError, match="span")
    assert message.startswith("span matching needs the spans of the results, and the run has none")
    assert refusal({"a": 1.0}, UsageError, match="span").startswith("span matching needs")


def test_many_spans_of_one_document() -> None:
    """Thousands of spans, found one by one, take no time to speak of."""
    count = 2000
    spans = {"d": tuple((n * 10, n * 10 + 10) for n in range(count))}
    ranking = spanned(*((f"d:chunk_{n}", (n * 10, n * 10 + 10)) for n in range(count)))
    hits = judged({"d": 1}, ranking, spans, match="span")
    assert hits == [(n + 1, 1) for n in range(count)]


# Queries


def test_missing_and_extra_queries() -> None:
    qrels = load_qrels({"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}})
    table = judge(qrels, {"q3": ["c"], "q1": [], "q9": ["a"]})
    assert table.missing.tolist() == [False, True, False]
    assert table.extra_queries == 1
    assert table.retrieved.tolist() == [0, 0, 1]
