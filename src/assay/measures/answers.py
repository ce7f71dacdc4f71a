"""Did the system answer well: cited, grounded, and refusing where it should?

Each measure is a share over the answers it applies to; with none of them it is undefined and says
so.

- ``CitationCoverage``: grounded answers with at least one citation, all of which resolve to a chunk
  of the index that the run was made with.
- ``Groundedness``: answers whose text holds every ``must_contain`` and no ``forbidden`` string;
  queries that configure neither, and those that should be refused, are left out.
- ``NumberSupport``: answers that state numbers, each of which stands in a cited passage
  (``evidence/numbers.py`` says when two numbers are the same).
- ``RefusalCorrectness``: queries that should be refused whose answer says ``grounded = false``.
- ``EmptyResultRate``: queries for which nothing came back.

An answerer that fails must not look better than one that answers badly. So a query that failed,
in searching or in answering, counts as a wrong answer, in the measures of what the test set
expects of it: citations and required strings where there is evidence, numbers where a required
string holds one, a refusal where that is the right answer.
``EmptyResultRate`` leaves out queries whose search failed; ``failed_queries`` counts them. A query
that a run never came to ask, since it was cut short, counts as one without results, and as an
answer that failed.
"""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.measures.base import Definition, Family
from assay.measures.classification import MeasureValue
from assay.model.answers import Answer, Expect, NumberCheck

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from assay.model.judges import JudgedAnswer


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """One query: what was expected, what came back, and which citations resolve.

    ``results`` is how many passages the search found; ``failed`` says that the search ended in an
    error, ``answer_failed`` that answering did, ``unasked`` that the run was cut short before it.
    ``known_citations`` are the cited ids that exist in the index the run was made with, and
    ``numbers`` what came of checking its numbers. ``number_expected``: a required string holds one
    (``score_answers`` sees to it). ``judged`` is what a judge said of it, ``judging`` that the run
    has a judge, and ``to_say`` that the test set knows what a right answer says.
    """

    query_id: str
    expect: Expect = Expect.EVIDENCE
    answer: Answer | None = None
    results: int = 0
    failed: bool = False
    must_contain: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    known_citations: frozenset[str] = frozenset()
    answer_failed: bool = False
    numbers: NumberCheck | None = None
    unasked: bool = False
    number_expected: bool = False
    judged: JudgedAnswer | None = None
    to_say: bool = False
    judging: bool = False

    @property
    def said(self) -> Answer | None:
        """The answer; None of one that failed."""
        return None if self.failed or self.answer_failed or self.unasked else self.answer

    @property
    def unread(self) -> frozenset[str]:
        """The passages that a judged answer cites and whose text nobody had."""
        if self.judged is None or not self.judged.claims:
            return frozenset()
        return self.known_citations.difference(self.judged.claims[0].opinions)

    @property
    def counts(self) -> bool:
        """Whether there is an answer to look at, or one that failed."""
        return self.said is not None or self.failed or self.answer_failed or self.unasked


def measure_answers(definition: Definition, records: Sequence[AnswerRecord]) -> MeasureValue:
    """The mean over the answers that a measure applies to; None with the reason without any."""
    values = tuple(value for _, value in values_of(definition, records))
    if not values:
        found = definition.why(records) if definition.why is not None else ""
        return MeasureValue(None, found or definition.without, n=0)
    return MeasureValue(math.fsum(values) / len(values), n=len(values), values=values)


def values_of(definition: Definition, records: Sequence[AnswerRecord]) -> list[tuple[str, float]]:
    """The value of each answer that a measure applies to, with its query.

    Where nothing was answered and no answer failed, the system was not to answer.
    """
    assert definition.answer is not None
    judging = any(r.judged is not None for r in records)
    records = [replace(one, judging=judging) for one in records]
    to_answer = any(r.answer is not None or r.answer_failed for r in records)
    if definition.needs_answers and not to_answer:
        return []
    return [
        (r.query_id, float(value))
        for r in records
        if (r.counts or not definition.needs_answers)
        and (value := definition.answer(r)) is not None
    ]


def citation_coverage(r: AnswerRecord) -> bool | None:
    """Whether a grounded answer has citations, all of which resolve."""
    if not (r.expect is Expect.EVIDENCE if r.said is None else r.said.grounded):
        return None
    return (
        r.said is not None
        and bool(r.said.citations)
        and r.known_citations.issuperset(r.said.citations)
    )


def groundedness(r: AnswerRecord) -> bool | None:
    """Whether an answer has all required and no forbidden strings."""
    if r.expect is Expect.REFUSAL or not (r.must_contain or r.forbidden):
        return None
    return r.said is not None and _holds(r.said.text, r.must_contain, r.forbidden)


def number_support(r: AnswerRecord) -> bool | None:
    """Whether all numbers of an answer stand in a cited passage."""
    if r.said is None:
        return False if r.number_expected and r.expect is Expect.EVIDENCE else None
    return not r.numbers.unsupported if r.numbers is not None and r.numbers.stated else None


def refusal_correctness(r: AnswerRecord) -> bool | None:
    """Whether a query to refuse was refused."""
    if r.expect is not Expect.REFUSAL:
        return None
    return r.said is not None and not r.said.grounded


def empty_result_rate(r: AnswerRecord) -> bool | None:
    """Whether nothing came back."""
    return None if r.failed else r.results == 0


def _holds(text: str, required: Sequence[str], forbidden: Sequence[str]) -> bool:
    """Literal containment; only the Unicode form (composed or not) is evened out."""
    text = _composed(text)
    return all(_composed(item) in text for item in required) and not any(
        _composed(item) in text for item in forbidden
    )


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _define(
    name: str,
    key: str,
    text: str,
    answer: Callable[[AnswerRecord], float | None],
    without: str,
) -> Definition:
    return Definition(
        name=name, key=key, help=text, family=Family.ANSWER, answer=answer, without=without
    )


ANSWER_DEFINITIONS: tuple[Definition, ...] = (
    _define(
        "CitationCoverage",
        "citation_coverage",
        "share of grounded answers whose citations all resolve",
        citation_coverage,
        "no grounded answer was stored",
    ),
    _define(
        "Groundedness",
        "groundedness",
        "share of answers with all required and no forbidden strings",
        groundedness,
        "no answered query configures must_contain or forbidden",
    ),
    _define(
        "NumberSupport",
        "number_support",
        "share of answers with numbers, all of which stand in a cited passage",
        number_support,
        "no answer states a number that was checked",
    ),
    _define(
        "RefusalCorrectness",
        "refusal_correctness",
        "share of queries to refuse that were refused",
        refusal_correctness,
        "no query that should be refused has an answer",
    ),
    Definition(
        name="EmptyResultRate",
        key="empty_result_rate",
        help="share of queries for which nothing came back",
        family=Family.ANSWER,
        lower_is_better=True,
        answer=empty_result_rate,
        without="no query was run",
        needs_answers=False,
    ),
)
