"""Are queries drawn by the strategy that was asked for, new, and in the set's proportions?"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from assay.annotation.candidates import QueryCandidate
from assay.annotation.draw import Strategy, draw, next_ids, order, wanted
from assay.errors import InputError, UsageError
from assay.model.arrays import FloatArray
from assay.model.testset import GoldenQuery, Judgment, QueryType, TestSet

KINDS = list(QueryType)


def golden(number: int, kind: QueryType, text: str = "") -> GoldenQuery:
    words = text or f"golden{number} topic{number}"
    return GoldenQuery(f"q{number:03}", words, kind, relevant_docs=(Judgment("d:chunk_0", 3),))


def a_set(exact: int = 2, plain: int = 1, case: int = 1) -> TestSet:
    kinds = [KINDS[0]] * exact + [KINDS[1]] * plain + [KINDS[2]] * case
    return TestSet("set_v1", "v1", tuple(golden(at, kind) for at, kind in enumerate(kinds, 1)))


def classify(text: str) -> QueryType:
    """The first letter tells the type."""
    return {"e": KINDS[0], "p": KINDS[1], "c": KINDS[2]}[text[0].lower()]


def candidates(*counts: int) -> list[QueryCandidate]:
    letters = "epc"
    return [
        QueryCandidate(f"{letter}word{at} about{letter}{at}", times=1 + at)
        for letter, count in zip(letters, counts, strict=True)
        for at in range(count)
    ]


@pytest.mark.req("E12")
def test_types_have_the_shares_of_the_set() -> None:
    assert wanted(a_set(20, 15, 15), 20) == {KINDS[2]: 6, KINDS[0]: 8, KINDS[1]: 6}
    found = draw(candidates(30, 30, 30), a_set(20, 15, 15), classify, count=20)
    assert Counter(query.query_type for query in found.queries) == found.wanted
    assert found.missing == {}


def test_what_is_missing_of_a_type_is_said_and_not_made_up() -> None:
    found = draw(candidates(30, 1, 30), a_set(), classify, count=8)
    assert found.missing == {KINDS[1]: 1}
    assert len(found.queries) == 7


@pytest.mark.parametrize("strategy", list(Strategy))
def test_the_seed_and_the_words_decide_not_the_order_of_the_log(strategy: Strategy) -> None:
    every = [
        QueryCandidate(one.text, one.times, zero_results=one.times % 2, top_score=1 / one.times)
        for one in candidates(9, 9, 9)
    ]
    assert order(every, strategy, 3) == order(reversed(every), strategy, 3)


def test_frequent_wordings_are_drawn_in_proportion() -> None:
    pair = [QueryCandidate("common", times=9), QueryCandidate("rare", times=1)]
    first = Counter(order(pair, Strategy.FREQUENCY, seed)[0].text for seed in range(2_000))
    assert first["common"] / 2_000 == pytest.approx(0.9, abs=0.03)
    evenly = Counter(order(pair, Strategy.RANDOM, seed)[0].text for seed in range(2_000))
    assert evenly["common"] / 2_000 == pytest.approx(0.5, abs=0.04)


def test_top_zero_result_and_low_confidence() -> None:
    every = [
        QueryCandidate("a", times=5, zero_results=0, top_score=0.9),
        QueryCandidate("b", times=2, zero_results=2, top_score=None),
        QueryCandidate("c", times=9, zero_results=0, top_score=0.1),
        QueryCandidate("d", times=2, zero_results=1, top_score=0.1),
    ]
    assert [one.text for one in order(every, Strategy.TOP, 1)] == ["c", "a", "b", "d"]
    assert {one.text for one in order(every, Strategy.ZERO_RESULT, 1)} == {"b", "d"}
    assert [one.text for one in order(every, Strategy.LOW_CONFIDENCE, 1)] == ["c", "d", "a"]


def test_near_duplicates_of_the_set_and_of_each_other_are_left_out() -> None:
    there = TestSet("s", "v1", (golden(1, KINDS[0], "elevated potassium in dialysis"),))
    every = [
        QueryCandidate("Elevated POTASSIUM, dialysis", times=9),
        QueryCandidate("ecg changes of hyperkalemia", times=8),
        QueryCandidate("ecg change of the hyperkalemia", times=7),
        QueryCandidate("embolism after surgery", times=6),
    ]
    found = draw(every, there, classify, count=3, strategy=Strategy.TOP)
    assert [query.query_text for query in found.queries] == [every[1].text, every[3].text]
    assert [one.reason for one in found.left_out] == [
        "shares words 1.00 with q001",
        "shares words 1.00 with q002",
    ]


def test_a_dense_model_finds_what_words_do_not() -> None:
    def encode(texts: list[str]) -> FloatArray:
        return np.array(
            [[1.0, 0.0] if "heart" in text or "ami" in text else [0.0, 1.0] for text in texts]
        )

    there = TestSet("s", "v1", (golden(1, KINDS[0], "heart attack"),))
    every = [QueryCandidate("early ami", times=2), QueryCandidate("early migraine")]
    found = draw(every, there, classify, count=1, strategy=Strategy.TOP, encode=encode)
    assert [query.query_text for query in found.queries] == ["early migraine"]
    assert "cosine 1.00 with q001" in found.left_out[0].reason


def test_identifiers_are_taken_out_and_named() -> None:
    every = [QueryCandidate("effects seen by Dr Smith, 555-123-4567"), QueryCandidate("a.b@c.org")]
    found = draw(every, a_set(1, 0, 0), classify, count=1)
    assert found.queries[0].query_text == "effects seen by [name], [number]"
    assert found.queries[0].scrubbed == ("name", "number")
    assert [one.reason for one in found.left_out] == ["nothing but identifiers"]


def test_ids_are_never_used_twice() -> None:
    told = TestSet("s", "v3", a_set().queries, provenance={"retired_before": ["q044", "q099"]})
    assert next_ids(told, 2) == ["q100", "q101"]
    assert next_ids(a_set(), 1, taken=["q051"]) == ["q052"]


def test_nothing_to_draw_from_is_said() -> None:
    with pytest.raises(InputError, match="zero-result"):
        draw(candidates(3, 0, 0), a_set(), classify, count=1, strategy=Strategy.ZERO_RESULT)
    untyped = TestSet("s", "v1", (GoldenQuery("q1", "x", relevant_docs=(Judgment("d", 1),)),))
    with pytest.raises(UsageError, match="type"):
        draw(candidates(3, 0, 0), untyped, classify, count=1)
