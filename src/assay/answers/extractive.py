"""Which sentences of the best passages answer the question?

A sentence scores by the key words of the question that it contains, rare ones more, half if only
its heading or title contains them, and a little by the rank of its passage. One of a section that
is asked for gains; one loses that speaks of other drugs or people, or leaves out a drug in question
that is not the document's own. A number of the question is also met by a range around it.
Sentences are picked one after the other; words that the answer already contains count half. No
model runs and nothing is random: the same passages give the same answer. ``evidence/gather.py``
decides which passages may be quoted, and whether to answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.analysis.asked import Kind, Name, people_in
from assay.analysis.drugs import is_drug
from assay.analysis.words import vocabulary
from assay.answers.sentences import Sentence, sentences
from assay.evidence.attributes import attributes_asked, states_all
from assay.evidence.confidence import (
    ENOUGH,
    LOOKED_AT,
    OF_SECTIONS,
    confidence,
    key_words,
    signals,
)
from assay.evidence.gather import Support, gather, unsaid
from assay.model.answers import Answer, Passage
from assay.model.document import Chunk

MOST_PASSAGES = 20  # that are looked at for their subject; the best of them are quoted
SENTENCES = 3
_CONTEXT = 0.25  # the value of a word in the heading, relative to one in the sentence
_RANK = 0.1
_REPEATED = 0.3  # what a word loses that the answer already has
_NAMED = 0.5  # the value of the question's subject and section, which its passages repeat
_OF_OTHERS = 0.3  # what a sentence loses that speaks of children where nobody asked for them
_SAYS_HOW_MUCH = 0.2
_ASKED_FOR = 0.5  # what a sentence gains in a section that is asked for
_LACKS_NAME = 0.4  # what it loses that does not name the second of two drugs
_OF_OTHER_DRUGS = 0.2  # what it loses that names another drug and not the one in question
_AMOUNT = re.compile(
    r"\b(?:dos(?:e|es|age|ing)|how (?:much|many|often|long)|rates?|share|percent\w*|proportion"
    r"|incidence|frequency|number|duration|median|mean|survival|temperature)\b",
    re.IGNORECASE,
)
_DOSE = re.compile(r"\bdos(?:es?|age|ing)\b|\bhow (?:much|many m)", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]{4,}")
_DIGIT = re.compile(r"\d")
_RANGE = re.compile(
    r"(?<![\d.])(\d+(?:\.\d+)?)\s*(?:-|\u2013|to|and)\s*(?:under |less than |below |<\s?)?"
    r"(\d+(?:\.\d+)?)(?![\d.])"
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence with what it and the heading above it have of the question."""

    sentence: Sentence
    rank: int
    held: frozenset[str]
    around: frozenset[str]
    base: float


@dataclass(frozen=True, slots=True)
class ExtractiveAnswerer:
    """Answers with literal sentences, each with its source; declines below ``gate``.

    ``dense_model`` is the model behind the passages' dense scores, which decides how they are read.
    """

    dense_model: str = ""
    gate: float = ENOUGH
    most: int = SENTENCES

    @property
    def name(self) -> str:
        """Identifies everything that affects an answer."""
        return f"extractive(gate={self.gate:g},sentences={self.most},dense={self.dense_model})"

    def answer(self, question: str, passages: Sequence[Passage]) -> Answer:
        """The best sentences with their sources, or a refusal."""
        if not passages:
            return _refused("nothing was found")
        evidence = gather(question, passages[:MOST_PASSAGES])
        if evidence.reason:
            return _refused(evidence.reason)
        if lacking := unsaid(question, evidence):
            about = " and ".join(name.text for name in evidence.names)
            return _refused(f"what was found about {about} says nothing of {lacking}")
        best = evidence.about[:LOOKED_AT]
        met = frozenset(form for name in evidence.names for form in name.forms)
        if any(one.passage.is_asked_for for one in best):
            met |= OF_SECTIONS  # they have the answer in words of their own
        read = signals(question, [one.passage for one in best], met)
        sure = confidence(read, self.dense_model)
        if sure < self.gate:
            odds = f"confidence {sure:.3f}, and {self.gate:g} is needed"
            return _refused(f"the results do not seem to answer this ({odds})")
        chosen = _chosen(question, evidence.names, best, self.most)
        if not chosen:
            facts = " and ".join(one.name for one in attributes_asked(question))
            return _refused(f"the results have no sentence that says {facts or 'it'}")
        ranks = list(dict.fromkeys(candidate.rank for candidate in chosen))
        marked = [f"{text} [{ranks.index(rank) + 1}]" for text, rank in _read_on(chosen)]
        return Answer(" ".join(marked), tuple(best[at].passage.chunk.chunk_id for at in ranks))


def _refused(reason: str) -> Answer:
    return Answer("", grounded=False, refusal_reason=reason)


def _chosen(
    question: str, names: Sequence[Name], supports: Sequence[Support], most: int
) -> list[_Candidate]:
    wanted = frozenset(key_words(question))
    named = {form for name in names for form in name.forms}
    people = frozenset(name.text for name in names if name.kind is Kind.PEOPLE)
    asked_drugs = {form for name in names if name.kind is Kind.DRUG for form in name.forms}
    asks_for_dose = bool(asked_drugs) and _DOSE.search(question) is not None
    asks_how_much = _AMOUNT.search(question) is not None
    numbers = frozenset(word for word in wanted if word.replace(".", "", 1).isdigit())
    facts = attributes_asked(question)
    rows = [
        (one, rank, _held(one, wanted, numbers), vocabulary(one.context).every & wanted)
        for rank, support in enumerate(supports)
        for one in sentences(support.passage.chunk)
        if _may_be_quoted(one, support, wanted)
        and people <= people_in(f"{one.text} {one.context} {one.columns}")
        and states_all(f"{one.columns} {one.text}", facts)
        and not (asks_for_dose and _is_of_another(one, support.passage.chunk, asked_drugs))
    ]
    if any(support.passage.is_asked_for for support in supports):
        named |= OF_SECTIONS
    rarity = {
        word: _rarity(sum(word in held for *_, held, _ in rows), len(rows))
        * (_NAMED if word in named else 1.0)
        for word in wanted
    }
    whole = sum(rarity.values()) or 1.0
    candidates: dict[str, _Candidate] = {}
    for one, rank, held, around in rows:
        direct = math.fsum(rarity[word] for word in held)
        nearby = math.fsum(rarity[word] for word in around - held)
        base = (direct + _CONTEXT * nearby) / whole + _RANK / (1 + rank)
        if asks_how_much and _DIGIT.search(one.text):
            base += _SAYS_HOW_MUCH
        if supports[rank].passage.is_asked_for:
            base += _ASKED_FOR
        if any(held.isdisjoint(name.forms) for name in supports[rank].others):
            base -= _LACKS_NAME
        if asked_drugs and _is_of_another(one, supports[rank].passage.chunk, asked_drugs):
            base -= _OF_OTHER_DRUGS
        if people_in(f"{one.text} {one.context} {one.columns}") - people:
            base -= _OF_OTHERS
        below = around if not asks_how_much or _DIGIT.search(one.text) else frozenset[str]()
        candidates.setdefault(one.text, _Candidate(one, rank, held, below, base))
    return _greedy(list(candidates.values()), rarity, whole, most)


def _may_be_quoted(one: Sentence, support: Support, wanted: frozenset[str]) -> bool:
    """In a document of another name, a sentence must have the names, and more of the question."""
    if not support.must_say:
        return True
    said = vocabulary(f"{one.text} {one.columns}").every
    names = {form for name in support.must_say for form in name.forms}
    return all(not said.isdisjoint(name.forms) for name in support.must_say) and bool(
        (said & wanted) - names
    )


def _held(one: Sentence, wanted: frozenset[str], numbers: frozenset[str]) -> frozenset[str]:
    held = vocabulary(f"{one.text} {one.columns}").every & wanted
    if numbers:
        ranges = [(float(low), float(high)) for low, high in _RANGE.findall(one.text)]
        held |= {
            word for word in numbers if any(low <= float(word) <= high for low, high in ranges)
        }
    return held


def _greedy(
    candidates: list[_Candidate], rarity: Mapping[str, float], whole: float, most: int
) -> list[_Candidate]:
    """The best sentence, then again the best of the rest; ties go to the earlier one."""
    chosen: list[_Candidate] = []
    said: frozenset[str] = frozenset()
    while candidates and len(chosen) < most:

        def worth(one: _Candidate, said: frozenset[str] = said) -> float:
            return (
                one.base - _REPEATED * math.fsum(rarity[word] for word in one.held & said) / whole
            )

        best = max(candidates, key=worth)
        if chosen and not best.held and not best.around:  # it contains nothing of the question
            break
        chosen.append(best)
        candidates.remove(best)
        said |= best.held
    return chosen


def _read_on(chosen: Sequence[_Candidate]) -> Iterator[tuple[str, int]]:
    """What is quoted, with ranks: a row after the names of its columns, a sentence and the next."""
    said: set[tuple[str, int]] = set()
    for one in chosen:
        sentence = one.sentence
        for text in (sentence.columns, sentence.text, sentence.following):
            if text and (text, one.rank) not in said:
                said.add((text, one.rank))
                yield text, one.rank


def _is_of_another(one: Sentence, chunk: Chunk, asked: set[str]) -> bool:
    """Whether a sentence and the heading above it name a drug, and not the one in question."""
    own = f"{one.context.removeprefix(chunk.title)} {one.text}"
    return any(map(is_drug, _LETTERS.findall(own))) and asked.isdisjoint(
        vocabulary(f"{own} {one.columns}").every
    )


def _rarity(there: int, of: int) -> float:
    return math.log(1 + of / (0.5 + there))
