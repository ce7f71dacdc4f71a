"""How good are stored answers?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.errors import UsageError
from assay.evaluation.defaults import ANSWER_MEASURES, JUDGED_MEASURES, RUN_MEASURES
from assay.evaluation.scope import answerable
from assay.evaluation.scores import ends, rounded
from assay.evidence.numbers import numbers
from assay.measures.answers import AnswerRecord, measure_answers, values_of
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measures
from assay.stats.bounded import bounded_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.measures.classification import MeasureValue
    from assay.model.runs import QueryOutcome
    from assay.model.testset import GoldenQuery, TestSet
    from assay.stats.interval import Interval


def score_answers(
    records: Sequence[AnswerRecord], measures: str | Iterable[str | Measure] = ANSWER_MEASURES
) -> dict[Measure, MeasureValue]:
    """Each answer measure over the records; None with a reason where it applies to none of them."""
    results: dict[Measure, MeasureValue] = {}
    records = expecting_numbers(records)
    for measure in parse_measures(measures):
        if measure.definition.family is not Family.ANSWER or measure.definition.answer is None:
            raise UsageError(f"{measure} is not a measure of answers", hint=ANSWER_MEASURES)
        results[measure] = measure_answers(measure.definition, records)
    return results


def answer_values(
    records: Sequence[AnswerRecord], measures: Iterable[Measure]
) -> dict[Measure, dict[str, float]]:
    """The value of each answer by query, for every measure; without those it does not apply to."""
    expecting = expecting_numbers(records)
    return {measure: dict(values_of(measure.definition, expecting)) for measure in measures}


def expecting_numbers(records: Sequence[AnswerRecord]) -> list[AnswerRecord]:
    """The records, which know whether an answer should state a number."""
    return [replace(one, number_expected=any(map(numbers, one.must_contain))) for one in records]


def usual_answer_measures(outcomes: Iterable[QueryOutcome]) -> str:
    """The measures of answers that are computed unless others are asked for."""
    listed = tuple(outcomes)
    if any(one.judged is not None for one in listed):
        return f"{ANSWER_MEASURES} {JUDGED_MEASURES}"
    return ANSWER_MEASURES if any(one.was_to_answer for one in listed) else RUN_MEASURES


def answer_interval(outcome: MeasureValue, level: float) -> Interval:
    """Between which two values the true mean lies; each answer counts by itself.

    A share of answers has Wilson's interval, a mean of shares within answers one that becomes it
    where all are 0 or 1 (``stats/bounded.py``): a worse answer never makes it surer.
    """
    return bounded_interval(outcome.values, level=level)


def answers_to_dict(answers: Mapping[Measure, MeasureValue], level: float) -> dict[str, Any]:
    """JSON-ready."""
    return {
        measure.key: {
            "value": rounded(found.value),
            "ci": ends(answer_interval(found, level)),
            "reason": found.reason,
            "n": found.n,
        }
        for measure, found in answers.items()
    }


def to_say(query: GoldenQuery) -> bool:
    """Whether the test set knows what a right answer to a query says."""
    return bool(query.reference or query.nuggets)


def answer_records(test_set: TestSet, outcomes: Iterable[QueryOutcome]) -> list[AnswerRecord]:
    """What the measures of answers look at, for the queries of the test set.

    A query that was not asked counts as one without results, whose answer failed.
    """
    outcomes = tuple(outcomes)
    asked = {outcome.query_id for outcome in outcomes}
    unasked = (
        AnswerRecord(
            query_id=query.query_id,
            expect=query.expect,
            unasked=True,
            must_contain=query.must_contain,
            forbidden=query.forbidden,
            to_say=to_say(query),
        )
        for query in answerable(test_set)
        if query.query_id not in asked
    )
    found = [
        AnswerRecord(
            query_id=outcome.query_id,
            expect=query.expect,
            answer=outcome.answer,
            results=len(outcome.results),
            failed=outcome.error is not None,
            must_contain=query.must_contain,
            forbidden=query.forbidden,
            known_citations=outcome.known_citations,
            answer_failed=outcome.answer_error is not None,
            numbers=outcome.numbers,
            judged=outcome.judged,
            to_say=to_say(query),
        )
        for outcome in outcomes
        if (query := test_set.by_id.get(outcome.query_id)) is not None
    ]
    return [*found, *unasked]
