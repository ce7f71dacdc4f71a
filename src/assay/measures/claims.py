"""Is what an answer claims true to its sources, right, and to the point?

A judge reads every claim beside every passage that the answer cites (``model/judges.py``); each
measure here is a mean over answers of a share within the answer. With s(c, p) = 1 where passage p
supports claim c:

    Faithfulness        claims c with s(c, p) = 1 for some cited p, of all claims
    CitationPrecision   citations p of a sentence c with s(c, p) = 1, of all such pairs; where the
                        text has no marks, citations that support some sentence, of all citations
    CitationRecall      claims that cite something, of all claims
    AnswerRelevance     the grade of the answer as a passage for the question, of the best grade
    Correctness         weight of the nuggets that the answer supports, of the weight of all: 1 if
                        vital, 1/2 if okay (TREC RAG 2024, weighted recall); the sentences of a
                        reference answer are vital nuggets
    ContextPrecision    retrieved passages with a grade of 2 or more, of those that were read
    ContextRecall       weight of the nuggets that some retrieved passage supports, of all
    NumberFidelity      numbers that stand, with their unit, in a passage that their own sentence
                        cites, of all numbers; no judge is needed
    RefusalPrecision    refusals of queries to which refusing is right, of all refusals
    RefusalRecall       queries to which refusing is right that were refused, of all such queries

A refusal claims nothing: of the first three and AnswerRelevance it is left out, and of Correctness
it is 0 where the test set knows what a right answer says. An answer that failed counts 0 where
there was evidence. Nothing is said of the support of an answer that cites passages whose text did
not come back, nor of a context without any text. What a judge said
unreadably is unknown: the claim, citation, nugget or passage is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.measures.base import Definition, Family
from assay.model.answers import Expect
from assay.model.judges import RELEVANT_GRADE
from assay.plural import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from assay.measures.answers import AnswerRecord
    from assay.model.judges import JudgedAnswer, JudgedClaim, JudgedNugget, Opinion

OKAY = 0.5  # the weight of a nugget that is good to have
UNREAD = "passages whose text did not come back"
_UNJUDGED = "no answer was judged; name a judge (--judge)"
_NO_CLAIM = "no judged answer claims anything"
_NO_CONTEXT = "no retrieved passage came back with its text"


def _unjudged(records: Sequence[AnswerRecord]) -> str:
    said = [r.judged for r in records if r.judged is not None]
    if unreadable := sum(bool(one.unreadable) for one in said):
        return f"what the judge said of {counted(unreadable, 'answer')} could not be read"
    return "" if said else _UNJUDGED


def _unread(records: Sequence[AnswerRecord]) -> str:
    count = sum(bool(r.unread) for r in records)
    return f"{counted(count, 'answer')} cited {UNREAD}" if count else _unjudged(records)


def _unread_context(records: Sequence[AnswerRecord]) -> str:
    known = any(r.to_say and r.judged is not None for r in records)
    return _unjudged(records) or (_NO_CONTEXT if known else "")


def _of_grounded(r: AnswerRecord, share: Callable[[JudgedAnswer], float | None]) -> float | None:
    """A share within a judged answer; 0 of one that failed, nothing of a refusal."""
    if r.said is None:
        return 0.0 if r.judging and r.expect is Expect.EVIDENCE else None
    return share(r.judged) if r.judged is not None and r.said.grounded else None


def faithfulness(r: AnswerRecord) -> float | None:
    """The share of claims that a cited passage supports."""
    return _of_grounded(
        r,
        lambda judged: None if r.unread else _claims_supported(judged),
    )


def _claims_supported(judged: JudgedAnswer) -> float | None:
    return _share(one.supported for one in judged.claims if not one.unknown)


def citation_precision(r: AnswerRecord) -> float | None:
    """The share of citations that support what they stand behind."""
    return _of_grounded(r, lambda judged: None if r.unread else _citations_right(judged))


def _citations_right(judged: JudgedAnswer) -> float | None:
    if judged.marked:
        return _share(_supports(one, cited) for one in judged.claims for cited in one.citations)
    every = dict.fromkeys(cited for one in judged.claims for cited in one.citations)
    return _share(_supports_any(judged.claims, cited) for cited in every)


def _supports_any(claims: Sequence[JudgedClaim], cited: str) -> bool | None:
    said = [_supports(one, cited) for one in claims]
    return True if True in said else None if None in said else False


def _supports(claim: JudgedClaim, cited: str) -> bool | None:
    """Whether a citation supports its sentence; None where the judge was not understood."""
    opinion = claim.opinions.get(cited)
    if opinion is None:
        return False
    return None if opinion.unreadable else opinion.supported


def citation_recall(r: AnswerRecord) -> float | None:
    """The share of claims that cite something."""
    return _of_grounded(r, lambda judged: _share(bool(one.citations) for one in judged.claims))


def answer_relevance(r: AnswerRecord) -> float | None:
    """How much the answer is to the point."""
    return _of_grounded(
        r,
        lambda judged: (
            None
            if judged.relevance is None or judged.relevance.unreadable
            else judged.relevance.score
        ),
    )


def correctness(r: AnswerRecord) -> float | None:
    """How much of what a right answer says the answer says."""
    if r.expect is not Expect.EVIDENCE or not r.to_say or not r.judging:
        return None
    if r.said is None or not r.said.grounded or r.judged is None:
        return None if r.said is not None and r.said.grounded else 0.0
    return _weighed(r.judged.nuggets, lambda nugget: nugget.answer)


def context_precision(r: AnswerRecord) -> float | None:
    """The share of retrieved passages that answer at least a part of the question."""
    if r.failed or r.unasked:
        return 0.0 if r.judging and r.expect is Expect.EVIDENCE else None
    if r.judged is None or r.expect is not Expect.EVIDENCE:
        return None
    read = (one for one in r.judged.context if not one.unreadable)
    return _share((one.grade or 0) >= RELEVANT_GRADE for one in read)


def context_recall(r: AnswerRecord) -> float | None:
    """How much of what a right answer says stands in what was retrieved."""
    if r.expect is not Expect.EVIDENCE or not r.to_say or not r.judging:
        return None
    if r.failed or r.unasked:
        return 0.0
    if r.judged is None or (r.results and not r.judged.context):
        return None
    return _weighed(r.judged.nuggets, lambda one: one.context)


def number_fidelity(r: AnswerRecord) -> float | None:
    """The share of numbers that their own citations have, with their unit."""
    if r.said is None:
        return 0.0 if r.number_expected and r.expect is Expect.EVIDENCE else None
    if r.numbers is None or not r.numbers.stated or r.numbers.misstated is None:
        return None
    return 1.0 - r.numbers.misstated / r.numbers.stated


def refusal_precision(r: AnswerRecord) -> bool | None:
    """Whether a refusal was right."""
    return None if r.said is None or r.said.grounded else r.expect is not Expect.EVIDENCE


def refusal_recall(r: AnswerRecord) -> bool | None:
    """Whether a query without an answer was refused."""
    if r.expect is Expect.EVIDENCE:
        return None
    return r.said is not None and not r.said.grounded


def _share(flags: Iterable[bool | None]) -> float | None:
    """The share that is so, of those that are known."""
    listed = [one for one in flags if one is not None]
    return sum(listed) / len(listed) if listed else None


def _weighed(
    nuggets: Sequence[JudgedNugget], opinion: Callable[[JudgedNugget], Opinion | None]
) -> float | None:
    def weight(nugget: JudgedNugget) -> float:
        return 1.0 if nugget.vital else OKAY

    known = [one for one in nuggets if not ((found := opinion(one)) and found.unreadable)]
    whole = sum(map(weight, known))
    said = sum(weight(one) for one in known if (found := opinion(one)) and found.supported)
    return said / whole if whole else None


def _define(
    name: str,
    key: str,
    text: str,
    answer: Callable[[AnswerRecord], float | None],
    without: str,
    *,
    why: Callable[[Sequence[AnswerRecord]], str] | None = _unjudged,
) -> Definition:
    return Definition(
        name=name, key=key, help=text, family=Family.ANSWER, answer=answer, without=without, why=why
    )


_NO_RIGHT_ANSWER = "no judged answer is to a query with nuggets or a reference"
CLAIM_DEFINITIONS: tuple[Definition, ...] = (
    _define(
        "Faithfulness",
        "faithfulness",
        "share of claims that the cited passages support, by a judge",
        faithfulness,
        _NO_CLAIM,
        why=_unread,
    ),
    _define(
        "CitationPrecision",
        "citation_precision",
        "share of citations that support their sentence, by a judge",
        citation_precision,
        "no judged answer cites anything",
        why=_unread,
    ),
    _define(
        "CitationRecall",
        "citation_recall",
        "share of claims that cite something",
        citation_recall,
        _NO_CLAIM,
    ),
    _define(
        "AnswerRelevance",
        "answer_relevance",
        "how much answers are to the point, by a judge",
        answer_relevance,
        "the judge graded no answer",
    ),
    _define(
        "Correctness",
        "correctness",
        "share of what right answers say (nuggets, reference) that answers say, by a judge",
        correctness,
        _NO_RIGHT_ANSWER,
    ),
    _define(
        "ContextPrecision",
        "context_precision",
        "share of retrieved passages that answer a part of the question, by a judge",
        context_precision,
        _NO_CONTEXT,
    ),
    _define(
        "ContextRecall",
        "context_recall",
        "share of what right answers say that stands in retrieved passages, by a judge",
        context_recall,
        _NO_RIGHT_ANSWER,
        why=_unread_context,
    ),
    _define(
        "NumberFidelity",
        "number_fidelity",
        "share of numbers that a passage cited by their sentence has, with their unit",
        number_fidelity,
        "no answer states a number that was checked",
        why=None,
    ),
    _define(
        "RefusalPrecision",
        "refusal_precision",
        "share of refusals that are right",
        refusal_precision,
        "nothing was refused",
        why=None,
    ),
    _define(
        "RefusalRecall",
        "refusal_recall",
        "share of queries without an answer that were refused",
        refusal_recall,
        "every query has an answer to find",
        why=None,
    ),
)
