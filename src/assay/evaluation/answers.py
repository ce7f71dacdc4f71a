"""How good are stored answers?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.errors import UsageError
from assay.evaluation.defaults import ANSWER_MEASURES
from assay.evaluation.scope import answerable
from assay.evaluation.scores import ends, rounded
from assay.evidence.numbers import numbers
from assay.measures.answers import AnswerRecord
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measures
from assay.stats.shares import share_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay.measures.classification import MeasureValue
    from assay.model.runs import QueryOutcome
    from assay.model.testset import TestSet
    from assay.stats.interval import Interval


def score_answers(
    records: Sequence[AnswerRecord], measures: str | Iterable[str | Measure] = ANSWER_MEASURES
) -> dict[Measure, MeasureValue]:
    """Each answer measure over the records; None with a reason where it applies to none of them."""
    results: dict[Measure, MeasureValue] = {}
    records = [replace(one, number_expected=any(map(numbers, one.must_contain))) for one in records]
    for measure in parse_measures(measures):
        if measure.definition.family is not Family.ANSWER or measure.definition.answer is None:
            raise UsageError(f"{measure} is not a measure of answers", hint=ANSWER_MEASURES)
        results[measure] = measure.definition.answer(records)
    return results


def answer_interval(outcome: MeasureValue, level: float) -> Interval:
    """Between which two values the true share lies; each answer counts by itself."""
    return share_interval(outcome.value, outcome.n or 0, level)


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
        )
        for outcome in outcomes
        if (query := test_set.by_id.get(outcome.query_id)) is not None
    ]
    return [*found, *unasked]
