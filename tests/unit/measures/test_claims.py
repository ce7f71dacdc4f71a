"""Do the measures of claims count what they say, and nothing where they do not apply?"""

from __future__ import annotations

from typing import Any

import pytest

import assay
from assay.evaluation.answers import answer_interval
from assay.evaluation.defaults import JUDGED_MEASURES
from assay.measures.answers import AnswerRecord
from assay.measures.classification import MeasureValue
from assay.model.answers import Answer, Expect, NumberCheck
from assay.model.judges import JudgedAnswer, JudgedClaim, JudgedNugget, Opinion, Support, graded
from assay.stats.shares import wilson

YES, NO = Opinion(Support.SUPPORTED, 1.0), Opinion(Support.UNSUPPORTED, 0.1)
AGAINST = Opinion(Support.CONTRADICTED, 0.0)
UNREADABLE = Opinion("", reason="unreadable reply")
JUDGED_BY_OPINION = (
    "Faithfulness", "CitationPrecision", "AnswerRelevance", "Correctness", "ContextPrecision",
    "ContextRecall",
)  # fmt: skip


def claim(cited: str, **opinions: Opinion) -> JudgedClaim:
    return JudgedClaim("It is so.", tuple(cited), opinions)


def record(name: str, judged: JudgedAnswer | None = None, **fields: Any) -> AnswerRecord:
    fields = {"answer": Answer("It is so [1].", ("a", "b")), **fields}
    return AnswerRecord(name, judged=judged, **fields)


def answered(*claims: JudgedClaim, **fields: Any) -> JudgedAnswer:
    return JudgedAnswer("judge", claims, **fields)


def value(measure: str, *records: AnswerRecord) -> float | None:
    (found,) = assay.score_answers(records, measure).values()
    assert (found.value is None) == bool(found.reason)
    return found.value


def test_faithfulness_is_the_mean_share_of_supported_claims() -> None:
    half = record("q1", answered(claim("a", a=NO, b=YES), claim("b", a=AGAINST, b=NO)))
    whole = record("q2", answered(claim("a", a=YES)))
    assert value("Faithfulness", half, whole) == pytest.approx(0.75)


def test_a_citation_counts_for_its_own_sentence() -> None:
    judged = answered(claim("ab", a=YES, b=NO), claim("b", a=YES, b=NO), claim("z"))
    assert value("CitationPrecision", record("q", judged)) == pytest.approx(1 / 4)
    unmarked = answered(claim("ab", a=YES, b=NO), claim("ab", a=NO, b=NO), marked=False)
    assert value("CitationPrecision", record("q", unmarked)) == pytest.approx(1 / 2)
    assert value("CitationPrecision", record("q", answered(claim("")))) is None


def test_citation_recall_is_about_having_one() -> None:
    judged = answered(claim("a", a=NO), claim(""))
    assert value("CitationRecall", record("q", judged)) == pytest.approx(1 / 2)


def test_correctness_weighs_vital_nuggets_twice() -> None:
    nuggets = (
        JudgedNugget("vital", True, YES, YES),
        JudgedNugget("vital too", True, NO, YES),
        JudgedNugget("okay", False, YES, NO),
    )
    one = record("q", answered(nuggets=nuggets), to_say=True)
    assert value("Correctness", one) == pytest.approx(1.5 / 2.5)
    assert value("ContextRecall", one) == pytest.approx(2.0 / 2.5)
    refused = record("r", answered(nuggets=nuggets), to_say=True, answer=Answer("", grounded=False))
    assert value("Correctness", one, refused) == pytest.approx(0.3)
    assert value("ContextRecall", refused) == pytest.approx(0.8)  # it could have answered


def test_what_the_judge_said_unreadably_is_not_held_against_an_answer() -> None:
    claims = claim("a", a=UNREADABLE), claim("a", a=YES), claim("ab", a=UNREADABLE, b=YES)
    some = record("q", answered(*claims))
    assert value("Faithfulness", some) == 1.0
    assert value("CitationPrecision", some) == 1.0
    nuggets = (
        JudgedNugget("read", True, YES, NO),
        JudgedNugget("unread", True, UNREADABLE, UNREADABLE),
    )
    half = record("q", answered(nuggets=nuggets, context=(graded(1),)), to_say=True)
    assert value("Correctness", half) == 1.0
    assert value("ContextRecall", half) == 0.0
    nothing = answered(
        claim("a", a=UNREADABLE),
        relevance=UNREADABLE,
        context=(UNREADABLE,),
        nuggets=nuggets[1:],
    )
    for name in JUDGED_BY_OPINION:
        (found,) = assay.score_answers([record("q", nothing, to_say=True)], name).values()
        assert found.value is None
        assert found.reason == "what the judge said of 1 answer could not be read"


def test_relevance_and_context_come_from_grades() -> None:
    judged = answered(relevance=graded(2), context=(graded(3), graded(2), graded(1), UNREADABLE))
    one = record("q", judged)
    assert value("AnswerRelevance", one) == pytest.approx(2 / 3)
    assert value("ContextPrecision", one) == pytest.approx(2 / 3)
    assert value("AnswerRelevance", record("q", answered(relevance=UNREADABLE))) is None


def test_numbers_are_held_against_their_own_citations() -> None:
    some = record("q", numbers=NumberCheck(4, (), 1))
    assert value("NumberFidelity", some) == pytest.approx(3 / 4)
    assert value("NumberFidelity", record("q", numbers=NumberCheck(4, ()))) is None  # an older run
    assert value("NumberFidelity", record("q", numbers=NumberCheck(0, (), 0))) is None


def test_refusals_have_a_precision_and_a_recall() -> None:
    no = Answer("", grounded=False, refusal_reason="no")
    records = [
        record("q1", answer=no, expect=Expect.REFUSAL),
        record("q2", answer=no, expect=Expect.NOTHING),
        record("q3", answer=no),
        record("q4", expect=Expect.REFUSAL),
        record("q5"),
    ]
    assert value("RefusalPrecision", *records) == pytest.approx(2 / 3)
    assert value("RefusalRecall", *records) == pytest.approx(2 / 3)
    assert value("RefusalPrecision", records[4]) is None
    assert value("RefusalRecall", records[4]) is None


def test_an_answer_that_failed_is_wrong_where_answers_are_judged() -> None:
    failed = record("q2", answer=None, answer_failed=True, to_say=True)
    good = record("q1", answered(claim("a", a=YES), relevance=graded(3)))
    for measure in ("Faithfulness", "CitationPrecision", "CitationRecall", "AnswerRelevance"):
        assert value(measure, good, failed) == pytest.approx(1 / 2)
        assert value(measure, failed) is None  # nobody judged
    assert value("Correctness", good, failed) == 0.0


def test_nothing_is_said_where_nobody_judged() -> None:
    values = assay.score_answers([record("q")], JUDGED_MEASURES)
    assert {found.value for found in values.values()} == {None}
    assert all(found.reason for found in values.values())


def test_a_mean_of_shares_has_an_interval_of_its_own() -> None:
    shares = [answered(*[claim("a", a=YES)] * n, claim("a", a=NO)) for n in (1, 2, 3, 4)]
    records = [record(f"q{n}", one) for n, one in enumerate(shares)]
    (found,) = assay.score_answers(records, "Faithfulness").values()
    between = answer_interval(found, 0.95)
    assert between.low is not None
    assert between.high is not None
    assert found.value is not None
    assert between.low < found.value < between.high


def test_what_was_not_read_is_neither_faithful_nor_unfaithful() -> None:
    cited = {"known_citations": frozenset("a"), "results": 1, "to_say": True}
    judged = answered(claim("a"), nuggets=(JudgedNugget("vital", True, YES, None),))
    unread = record("q1", judged, **cited)
    for measure in ("Faithfulness", "CitationPrecision", "ContextRecall", "ContextPrecision"):
        assert value(measure, unread) is None
    (found,) = assay.score_answers([unread], "Faithfulness").values()
    assert found.reason == "1 answer cited passages whose text did not come back"
    assert value("Faithfulness", unread, record("q2", answered(claim("b", b=YES)))) == 1.0
    made_up = record("q3", answered(claim("z")))  # a citation that nothing was retrieved for
    assert value("Faithfulness", made_up) == 0.0


def test_a_reason_is_that_of_the_answers() -> None:
    (found,) = assay.score_answers([record("q", answered())], "Faithfulness").values()
    assert found.reason == "no judged answer claims anything"


def test_a_worse_answer_never_makes_an_interval_surer() -> None:
    def low(*values: float) -> float:
        found = answer_interval(MeasureValue(1.0, n=len(values), values=values), 0.95).low
        assert found is not None
        return found

    for n in (10, 30, 100):
        all_right = low(*[1.0] * n)
        assert low(*[1.0] * (n - 1), 0.9) < all_right
        assert low(*[1.0] * (n - 1), 0.0) < low(*[1.0] * (n - 1), 0.5) < low(*[1.0] * (n - 1), 0.9)
        assert all_right == pytest.approx(wilson(1.0, n, 0.95)[0])
    assert low(*[0.75] * 30) < 0.70  # thirty answers are not certainty
