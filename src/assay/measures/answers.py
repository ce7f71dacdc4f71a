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

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.measures.base import Definition, Family
from assay.measures.classification import MeasureValue
from assay.model.answers import Answer, Expect, NumberCheck

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """One query: what was expected, what came back, and which citations resolve.

    ``results`` is how many passages the search found; ``failed`` says that the search ended in an
    error, ``answer_failed`` that answering did, ``unasked`` that the run was cut short before it.
    ``known_citations`` are the cited ids that exist in the index the run was made with, and
    ``numbers`` what came of checking its numbers. ``number_expected``: a required string holds one
    (``score_answers`` sees to it).
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


def citation_coverage(records: Sequence[AnswerRecord]) -> MeasureValue:
    """Share of grounded answers whose every citation resolves, and which have one."""
    return _share(
        answer is not None
        and bool(answer.citations)
        and r.known_citations.issuperset(answer.citations)
        for r, answer in _answers(records)
        if (r.expect is Expect.EVIDENCE if answer is None else answer.grounded)
    ).or_because("no grounded answer was stored")


def groundedness(records: Sequence[AnswerRecord]) -> MeasureValue:
    """Share of answers with all required and no forbidden strings."""
    return _share(
        answer is not None and _holds(answer.text, r.must_contain, r.forbidden)
        for r, answer in _answers(records)
        if r.expect is not Expect.REFUSAL and (r.must_contain or r.forbidden)
    ).or_because("no answered query configures must_contain or forbidden")


def number_support(records: Sequence[AnswerRecord]) -> MeasureValue:
    """Share of answers with numbers, all of which stand in a cited passage."""
    return _share(
        answer is not None and r.numbers is not None and not r.numbers.unsupported
        for r, answer in _answers(records)
        if (_expects_number(r) if answer is None else r.numbers is not None and r.numbers.stated)
    ).or_because("no answer states a number that was checked")


def _expects_number(record: AnswerRecord) -> bool:
    return record.number_expected and record.expect is Expect.EVIDENCE


def refusal_correctness(records: Sequence[AnswerRecord]) -> MeasureValue:
    """Share of queries to refuse that were refused."""
    return _share(
        answer is not None and not answer.grounded
        for r, answer in _answers(records)
        if r.expect is Expect.REFUSAL
    ).or_because("no query that should be refused has an answer")


def _answers(records: Sequence[AnswerRecord]) -> Iterator[tuple[AnswerRecord, Answer | None]]:
    """The records that count, with their answers; None for one that failed.

    Where nothing was answered and no answer failed, the system was not to answer.
    """
    if not any(r.answer is not None or r.answer_failed for r in records):
        return
    for r in records:
        if r.failed or r.answer_failed or r.unasked:
            yield r, None
        elif r.answer is not None:
            yield r, r.answer


def empty_result_rate(records: Sequence[AnswerRecord]) -> MeasureValue:
    """Share of queries with zero results."""
    return _share(r.results == 0 for r in records if not r.failed).or_because("no query was run")


@dataclass(frozen=True, slots=True)
class _Share:
    yes: int
    of: int

    def or_because(self, reason: str) -> MeasureValue:
        return (
            MeasureValue(self.yes / self.of, n=self.of)
            if self.of
            else MeasureValue(None, reason, n=0)
        )


def _share(items: Iterable[bool]) -> _Share:
    flags = list(items)
    return _Share(sum(flags), len(flags))


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
    answer: Callable[[Sequence[AnswerRecord]], MeasureValue],
    *,
    lower_is_better: bool = False,
) -> Definition:
    return Definition(
        name=name,
        key=key,
        help=text,
        family=Family.ANSWER,
        lower_is_better=lower_is_better,
        answer=answer,
    )


ANSWER_DEFINITIONS: tuple[Definition, ...] = (
    _define(
        "CitationCoverage",
        "citation_coverage",
        "share of grounded answers whose citations all resolve",
        citation_coverage,
    ),
    _define(
        "Groundedness",
        "groundedness",
        "share of answers with all required and no forbidden strings",
        groundedness,
    ),
    _define(
        "NumberSupport",
        "number_support",
        "share of answers with numbers, all of which stand in a cited passage",
        number_support,
    ),
    _define(
        "RefusalCorrectness",
        "refusal_correctness",
        "share of queries to refuse that were refused",
        refusal_correctness,
    ),
    _define(
        "EmptyResultRate",
        "empty_result_rate",
        "share of queries for which nothing came back",
        empty_result_rate,
        lower_is_better=True,
    ),
)
