"""How good are stored answers?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay.measures.answers import AnswerRecord
    from assay.measures.classification import Outcome

ANSWER_MEASURES = "CitationCoverage Groundedness RefusalCorrectness EmptyResultRate"


def score_answers(
    records: Sequence[AnswerRecord], measures: str | Iterable[str | Measure] = ANSWER_MEASURES
) -> dict[Measure, Outcome]:
    """Each answer measure over the records; None with a reason where it applies to none of them."""
    results: dict[Measure, Outcome] = {}
    for measure in parse_measures(measures):
        if measure.definition.family is not Family.ANSWER or measure.definition.answer is None:
            raise UsageError(f"{measure} is not a measure of answers", hint=ANSWER_MEASURES)
        results[measure] = measure.definition.answer(records)
    return results
