"""Which sentences of the best passages answer the question?

A sentence scores by the key words of the question that it contains, rare ones more, half if only
its heading or title contains them, and a little by the rank of its passage. One of a section that
is asked for gains; one loses that speaks of other drugs or people, or leaves out a drug in question
that is not the document's own. A number of the question is also met by a range around it. Asked for
what includes patients, a criterion that excludes them is none, and the other way around
(``evidence/criteria.py``); a dose that a heading reserves for some people is not the dose for all,
and a count of one arm of a trial not that of another.
Sentences are picked one after the other; words that the answer already contains count half. No
model runs and nothing is random: the same passages give the same answer. ``evidence/gather.py``
decides which passages may be quoted, and whether to answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay import limits
from assay.analysis.asked import Kind, Name, is_given, people_in
from assay.analysis.conditions import is_named_in, names_in, stems
from assay.analysis.drug_classes import classes_in
from assay.analysis.drugs import is_drug, other_names, words_of_name
from assay.analysis.spelling import base, folded
from assay.analysis.words import analyse, vocabulary
from assay.answers.sentences import Sentence, sentences
from assay.evidence.attributes import (
    AMOUNT,
    DOSE,
    INDICATION,
    NOT_GIVEN,
    RADIATION,
    Attribute,
    attributes_asked,
    event_asked,
    states_all,
)
from assay.evidence.confidence import (
    ENOUGH,
    LIGHT,
    LOOKED_AT,
    OF_SECTIONS,
    confidence,
    key_words,
    signals,
)
from assay.evidence.criteria import Side, sides_asked, sides_of
from assay.evidence.forms import (
    must_be_said,
    releases_asked,
    routes_asked,
    without_releases,
)
from assay.evidence.gather import (
    Evidence,
    Support,
    classes_beside,
    gather,
    names_of_document,
    own_drugs,
    unsaid,
)
from assay.evidence.kinds import Kind as Sort
from assay.evidence.kinds import kinds_asked
from assay.evidence.population import (
    age_asked,
    covers,
    groups_in,
    is_of_animals,
    without_groups,
)
from assay.evidence.terms import Term, subject_terms
from assay.evidence.unlisted import asks_what_is_not
from assay.evidence.wording import in_words_of
from assay.model.answers import Answer, Passage
from assay.model.document import Chunk
from assay.model.sections import section_of

MOST_PASSAGES = 20  # that are looked at for their subject; the best of them are quoted
SENTENCES = 3
_CONTEXT = 0.25  # the value of a word in the heading, relative to one in the sentence
_RANK = 0.1
_REPEATED = 0.3  # what a word loses that the answer already has
_NAMED = 0.5  # the value of the question's subject and section, which its passages repeat
_DOSE_OF_OTHERS = 1.0  # what it loses where that is a dose
_OF_OTHERS = 0.3  # what a sentence loses that speaks of children where nobody asked for them
_SAYS_HOW_MUCH = 0.2
_AS_MUCH = 0.75  # of what the first document has, another one must have as well
_OF_OTHER_STUDIES = 0.3  # what a number loses where an article speaks of the work of others
_DEFINED = 0.5  # what a sentence loses that says what a word means, where nobody asked
_ASKED_FOR = 0.5  # what a sentence gains in a section that is asked for
_LACKS_NAME = 0.4  # what it loses that does not name the second of two drugs
_LACKS_DISEASE = 0.3  # what it loses that is not about the disease in question
_SAYS_WITH_WHAT = 0.2  # what it gains that names a drug, where treatment is asked for
_OF_OTHER_DRUGS = 0.2  # what it loses that names another drug and not the one in question
_EMPTY = 0.5  # what it loses that has hardly a word beside those of the question
_SAYS_WHAT = 0.6  # what it gains that says what a drug is for or mostly does, where that is asked
_AMOUNT = re.compile(
    r"\b(?:dos(?:e|es|age|ing)|how (?:much|many|often|long)|rates?|share|percent\w*|proportion"
    r"|incidence|frequency|number|duration|median|mean|survival|temperature)\b",
    re.IGNORECASE,
)
_DOSE = re.compile(r"\bdos(?:es?|age|ing)\b|\bhow (?:much|many m)", re.IGNORECASE)
_TREATMENT = re.compile(r"\b(?:treat(?:s|ed|ments?)?|therap(?:y|ies))\b", re.IGNORECASE)
_USE = re.compile(
    r"\bwhat (?:is|are)\b.*\b(?:approved|given|indicated|prescribed|taken|used) for\b"
    r"|\bwhat (?:does|do)\b.*\btreat\b|\b(?:indications|uses) (?:of|for)\b",
    re.IGNORECASE,
)
_SIDE_EFFECTS = re.compile(r"\b(?:side|adverse) (?:effects?|events?|reactions?)\b", re.IGNORECASE)
_MOST_COMMON = re.compile(r"\bmost (?:common|frequent)", re.IGNORECASE)
_REFERENCE = re.compile(r"\[see[^\]]{0,400}\]|\(see[^)]{0,400}\)", re.IGNORECASE)
_SAYS_NOTHING_TEXT = """
all also call called cause caused causes common commonly following happen happens include included
includes information known likely list listed mild more most occur occurred occurs other possible
rare rarely serious severe some
"""
_SAYS_NOTHING = frozenset(stem for word in _SAYS_NOTHING_TEXT.split() for stem in stems(word))
_TELLING = 2  # words beside those of the question
_ON_OTHERS = frozenset(("discussion", "introduction"))
_DEFINES = re.compile(r"\b(?:is|are|was|were|will be) defined (?:as|by)\b", re.IGNORECASE)
_ASKS_MEANING = re.compile(r"\b(?:defin\w*|mean(?:s|ing)?|what (?:is|are) an?)\b", re.IGNORECASE)
_CODE = re.compile(r"\b(?=[^\s|]{0,80}\d)[A-Za-z](?:[-.]?[^\W_]){1,80}\b")
_ABOUT_CODES = re.compile(r"\bcodes?\b", re.IGNORECASE)
_OF_CRITERIA = frozenset(
    analyse("criteria eligible eligibility enter excluded exclusion included inclusion join").terms
)
_OF_AGES = frozenset(analyse("age aged year years old").terms)
_NAME = re.compile(r"[^\W\d_][^\W_]*(?:[-\u2010\u2011][^\W_]+)*")
_RIGHT_AFTER = re.compile(
    r"(?:\s?/\s?\w+)*(?:[\s-]+(?:tablet|capsule|caplet|injection|infusion|patche?|pill|vial|dose)s?)?"
    r"(?:\s+of)?\s*"
)  # 12 mg of a drug, a 5 mg capsule of a drug
_ADULTS = re.compile(r"\badults?\b", re.IGNORECASE)
_ADULTS_ONLY = re.compile(r"\badults only\b|\bonly (?:for|in) adults\b", re.IGNORECASE)
_COUNT = re.compile(r"\d\s*(?:/\s*\d|%)|\d \(\d")
_ARM_TITLE = re.compile(r"\AArm/Group Title:\s*", re.IGNORECASE)
_LONGEST_NAME = 4  # words
_LONGEST_LIST = 12  # items that are quoted together
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
        if reason := _beyond_passages(question, passages):
            return _refused(reason)
        question = in_words_of(passages, question[: limits.MAX_ASKED_CHARS])
        evidence = gather(question, passages[:MOST_PASSAGES])
        if evidence.reason:
            return _refused(evidence.reason)
        if lacking := unsaid(question, evidence):
            about = " and ".join(name.text for name in evidence.names)
            return _refused(f"what was found about {about} says nothing of {lacking}")
        best = _looked_at(question, evidence)
        asked = _Asked.of(question, evidence)
        rows = _of_age(asked, _of_first(asked, best, [*_rows(asked, best)]))
        rows = _of_event(asked, _of_use(asked, _of_arm(asked, best, rows)))
        rows = _of_criteria(asked, rows)
        met = _met(asked, best, rows)
        read = signals(question, [one.passage for one in best], met)
        sure = confidence(read, self.dense_model)
        if rows and asked.is_stated and read.covered == 1.0:
            sure = max(sure, ENOUGH)  # a sentence about the name states what is asked for
        if any(best[row.rank].beside for row in rows):
            sure = max(sure, ENOUGH)  # a label speaks of the other drug
        if sure < self.gate:
            odds = f"confidence {sure:.3f}, and {self.gate:g} is needed"
            return _refused(f"the results do not seem to answer this ({odds})")
        chosen = _all_criteria(asked, rows) or _chosen(asked, best, rows, self.most)
        if not chosen:
            return _refused(f"the results have no sentence that says {asked.what}")
        quoted = [*_read_on(asked, chosen, best)]
        ranks = list(dict.fromkeys(rank for _, rank in quoted))
        marked = [f"{text} [{ranks.index(rank) + 1}]" for text, rank in quoted]
        return Answer(" ".join(marked), tuple(best[at].passage.chunk.chunk_id for at in ranks))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question asks for, of what and of whom."""

    question: str
    names: tuple[Name, ...]
    terms: tuple[Term, ...]
    wanted: frozenset[str]
    facts: tuple[Attribute, ...]
    sides: frozenset[Side]
    age: int | None
    event: str
    others: tuple[tuple[frozenset[str], tuple[str, ...]], ...]
    beside: Mapping[Name, tuple[str, ...]]
    kinds: tuple[Sort, ...] = ()

    @classmethod
    def of(cls, question: str, evidence: Evidence) -> _Asked:
        """What a question asks for; how many had something on a high dose is no dose."""
        event = event_asked(question)
        beside = classes_beside(question, evidence.names)
        called = [(name.text, names) for name, names in beside.items()]
        return cls(
            question,
            evidence.names,
            subject_terms(question),
            frozenset(key_words(question)),
            tuple(one for one in attributes_asked(question) if one is not DOSE or not event),
            sides_asked(question),
            age_asked(question),
            event,
            tuple(
                (frozenset(analyse(name).terms), names)
                for name, names in (*names_in(question).items(), *called, *_members(question))
            ),
            beside,
            (*releases_asked(question), *(() if event else _kinds_dosed(question))),
        )

    @property
    def people(self) -> frozenset[str]:
        """The groups of people in question whom only certain sentences are about."""
        return frozenset(name.text for name in self.names if name.kind is Kind.PEOPLE)

    @property
    def drugs(self) -> _Drugs:
        """The drugs in question, and names whose dose is asked for like that of a drug."""
        return _Drugs(
            tuple(
                name
                for name in self.names
                if name.kind is Kind.DRUG
                or (name.kind is Kind.NAME and is_given(name.text, self.question))
            )
        )

    @property
    def is_dose(self) -> bool:
        """Whether a dose is asked for."""
        return DOSE in self.facts

    @property
    def is_of_codes(self) -> bool:
        """Whether codes are asked for, or what one stands for."""
        return bool(_ABOUT_CODES.search(self.question) or _CODE.search(self.question))

    @property
    def is_stated(self) -> bool:
        """Whether a sentence can be told to state what is asked of a name."""
        return bool(((self.facts or self.sides) and self.names) or self.is_of_codes)

    @property
    def what(self) -> str:
        """The facts in words."""
        said = [one.name for one in self.facts]
        said += [f"which the {side} criteria are" for side in sorted(self.sides)]
        said += [f"how many had {self.event}"] if self.event else []
        return " and ".join(said) or "it"


@dataclass(frozen=True, slots=True)
class _Drugs:
    """Drugs by all their names; ``own`` are words that the label of one of them is called by."""

    names: tuple[Name, ...]
    own: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.names)

    @property
    def words(self) -> frozenset[str]:
        """The words of their names, some of which are no names alone: insulin glargine."""
        return frozenset().union(*(name.words for name in self.names))

    def on(self, chunk: Chunk) -> _Drugs:
        """The same for a passage of a label, which may use its own names."""
        called = own_drugs(chunk)
        return _Drugs(self.names, vocabulary(called).every) if self.are_in(called) else self

    def are_in(self, text: str) -> bool:
        """Whether a text has one of them; a part of a long name is none: trastuzumab emtansine."""
        return any(name.is_in(text) for name in self.names) or bool(
            self.own and vocabulary(text).among(self.own)
        )

    def placed(self, text: str) -> list[tuple[int, bool]]:
        """Where a text names drugs, and whether that is one of these.

        Trastuzumab is not trastuzumab emtansine, and the other way around.
        """
        words = [*_NAME.finditer(text)]
        flat = [(stem, at) for at, match in enumerate(words) for stem in stems(match[0])]
        own = {at for at, match in enumerate(words) if self.are_in(match[0])}
        for phrase in (phrase.split() for name in self.names for phrase in name.phrases):
            for start in range(len(flat) - len(phrase) + 1):
                part = flat[start : start + len(phrase)]
                if [stem for stem, _ in part] == phrase:
                    own.update(at for _, at in part)
        known = {other for name in self.names for other in other_names(name.text)}
        for at in sorted(own):
            typed = [match[0] for match in words[at : at + _LONGEST_NAME]]
            longer = folded(" ".join(typed[: words_of_name(typed)]))
            if " " in longer and longer not in known:
                own.difference_update(range(at, at + longer.count(" ") + 1))
        return [
            (match.start(), at in own)
            for at, match in enumerate(words)
            if at in own or (is_drug(match[0]) and base(match[0]) not in self.words)
        ]


@dataclass(frozen=True, slots=True)
class _Row:
    """A sentence that may be quoted, with the key words that it and its heading have."""

    sentence: Sentence
    rank: int
    held: frozenset[str]
    around: frozenset[str]


def _looked_at(question: str, evidence: Evidence) -> Sequence[Support]:
    """The best passages; where none states what is asked of a name, with later ones that do."""
    about, facts = evidence.about, attributes_asked(question) if evidence.names else ()
    best = about[:LOOKED_AT]
    if not facts or any(states_all(one.passage.chunk.text, facts) for one in best):
        return best
    later = [one for one in about[LOOKED_AT:] if states_all(one.passage.chunk.text, facts)]
    return [*best[: LOOKED_AT - len(later)], *later][:LOOKED_AT]


def _rows(asked: _Asked, supports: Sequence[Support]) -> Iterator[_Row]:
    """The sentences that say what is asked for, of whom it is asked."""
    numbers = frozenset(word for word in asked.wanted if word.replace(".", "", 1).isdigit())
    chunks = [support.passage.chunk for support in supports]
    asks_for_dose = bool(asked.drugs) and _DOSE.search(asked.question) is not None
    for rank, support in enumerate(supports):
        chunk = support.passage.chunk
        for one in sentences(chunk, chunks):
            if (
                _may_be_quoted(one, support, asked)
                and _for_whom(asked) <= groups_in(_says_of_whom(asked, one, chunk))
                and states_all(f"{one.columns} {one.text}", asked.facts)
                and (not asked.sides or asked.sides & sides_of(one.text, one.side))
                and (asked.age is None or covers(one.text, asked.age) is not False)
                and not (asks_for_dose and _is_of_another(one, chunk, asked.drugs))
                and not (asked.is_dose and (one.arm or _is_of_others(asked, one, chunk)))
                and not (asked.facts and _is_of_nobody(asked, one, chunk))
                and not _names_another(asked, one.text, chunk)
                and not (asked.facts and _is_of_another_kind(asked, one, chunk))
            ):
                held = _held(one, asked, numbers)
                yield _Row(one, rank, held, _named(one.context, asked))


def _for_whom(asked: _Asked) -> frozenset[str]:
    """The groups that a sentence must speak of."""
    return asked.people | (groups_in(asked.question) if asked.is_dose else frozenset())


def _says_of_whom(asked: _Asked, one: Sentence, chunk: Chunk) -> str:
    """The texts that say of whom a sentence is; a dose must say so itself, or its heading."""
    said = f"{one.text} {one.columns} {one.context} {chunk.metadata.get('heading') or ''}"
    is_of_adults = _ADULTS.search(one.text) and not _ADULTS_ONLY.search(one.text)
    until = "" if asked.is_dose or is_of_adults else one.paragraph.partition(one.text)[0]
    return f"{said} {until}"


def _met(asked: _Asked, supports: Sequence[Support], rows: Sequence[_Row]) -> frozenset[str]:
    """Words of a question that are known to be answered in other words."""
    met = frozenset(word for name in asked.names for word in name.words)
    if any(one.passage.is_asked_for for one in supports):
        met |= OF_SECTIONS
    if rows and asked.sides:
        met |= _OF_CRITERIA
    if asked.age is not None and any(covers(row.sentence.text, asked.age) for row in rows):
        met |= _OF_AGES | {str(asked.age)}
    for fact in asked.facts if rows else ():
        met |= fact.words
    for words, _ in asked.others:  # which a sentence has by another name
        met |= words if any(words <= row.held for row in rows) else frozenset[str]()
    if rows:  # each is of the form and for the people in question, whatever it calls them
        rest = without_releases(asked.question)
        rest = without_groups(rest) if asked.is_dose else rest
        met |= frozenset(analyse(asked.question).terms).difference(analyse(rest).terms)
    return met


def _of_first(asked: _Asked, supports: Sequence[Support], rows: list[_Row]) -> list[_Row]:
    """The rows without those of documents that have much less than the first one that has any.

    Asked for no name, a document that shares but everyday words would be quoted beside it.
    """
    if asked.drugs or asked.is_of_codes or not rows:
        return rows
    wanted = asked.wanted - OF_SECTIONS
    having: dict[str, frozenset[str]] = {}
    for one in supports:
        chunk = one.passage.chunk
        said = vocabulary(f"{names_of_document(chunk)}\n{chunk.text}").every & wanted
        having[chunk.doc_id] = having.get(chunk.doc_id, frozenset()) | said
    best = min(row.rank for row in rows)
    first = having[supports[best].passage.chunk.doc_id]
    enough = _AS_MUCH * len(first)
    return [
        row
        for row in rows
        if len(having[supports[row.rank].passage.chunk.doc_id] & first) >= enough
    ]


def _of_arm(asked: _Asked, supports: Sequence[Support], rows: list[_Row]) -> list[_Row]:
    """The rows without values of other arms of a trial than the one that the question names.

    An arm all of whose name is in the question comes before one that has more drugs.
    """

    def names(row: _Row) -> tuple[int, bool, bool]:
        name = _ARM_TITLE.sub("", row.sentence.arm)
        words = vocabulary(name).every
        is_whole = name.casefold() in asked.question.casefold()
        return len(words & asked.wanted), is_whole, words <= asked.wanted

    most: dict[str, tuple[int, bool, bool]] = {}
    for row in rows:
        if row.sentence.arm:
            document = supports[row.rank].passage.chunk.doc_id
            most[document] = max(most.get(document, (0, False, False)), names(row))
    return [
        row
        for row in rows
        if not row.sentence.arm or names(row) == most[supports[row.rank].passage.chunk.doc_id]
    ]


def _of_event(asked: _Asked, rows: list[_Row]) -> list[_Row]:
    """The rows with a number of those who had what the question asks for; all where none is asked.

    What has most of the event counts, and a row with less than half of it says nothing of it.
    """
    event = frozenset(key_words(asked.event)) & asked.wanted if asked.event else frozenset[str]()
    if not event.difference(*(name.words for name in asked.names)) or event & OF_SECTIONS:
        return rows
    having = [row for row in rows if _DIGIT.search(row.sentence.text) and row.held & event]
    counted = [row for row in having if _COUNT.search(row.sentence.text)] or having
    most = max((len(row.held & event) for row in counted), default=0)
    return [row for row in counted if 2 * most >= len(event) and len(row.held & event) == most]


def _of_use(asked: _Asked, rows: list[_Row]) -> list[_Row]:
    """The rows with most of the condition for which a drug may be used, or its dose is asked for.

    A use is told in the sentence itself, a dose also under a heading.
    """
    if INDICATION not in asked.facts and not asked.is_dose:
        return rows

    def text(row: _Row) -> str:
        one = row.sentence
        return f"{one.heading}\n{one.text}\n{one.columns}" if asked.is_dose else one.text

    terms = [term for term in asked.terms if not asked.drugs.are_in(term.text)]
    said = [sum(term.is_in(text(row)) for term in terms) for row in rows]
    most = max(said, default=0)
    return [row for row, count in zip(rows, said, strict=True) if count == most]


def _of_criteria(asked: _Asked, rows: list[_Row]) -> list[_Row]:
    """The criteria with a word of what is asked of them, where there are any."""
    about = [row for row in rows if row.held.difference(_OF_CRITERIA, OF_SECTIONS, row.around)]
    return about if asked.sides and about else rows


def _of_age(asked: _Asked, rows: list[_Row]) -> list[_Row]:
    """The rows for people of the age in question, where there are any."""
    if asked.age is None:
        return rows
    return [row for row in rows if covers(row.sentence.text, asked.age)] or rows


def _is_of_others(asked: _Asked, one: Sentence, chunk: Chunk) -> bool:
    """Whether a dose is for people who were not asked for, as only what is around it says.

    Or for animals, or of another drug, or for those who take another one.
    """
    heading = _heading(one, chunk)
    drugs = asked.drugs.on(chunk)
    beside = drugs.placed(heading) if drugs.own else []
    if beside and not any(is_asked for _, is_asked in beside):
        return True
    for_all = groups_in(f"{asked.question} {chunk.title} {one.text} {one.columns}")
    if (groups_in(heading) | people_in(one.paragraph)) - for_all - asked.people:
        return True
    until = one.paragraph.partition(one.text)[0]  # what a paragraph says later is of later doses
    if is_of_animals(f"{heading} {until} {one.text}") and not is_of_animals(
        f"{asked.question} {chunk.title}"
    ):
        return True
    return bool(drugs) and not _gives(drugs, one, chunk)


def _kinds_dosed(question: str) -> tuple[Sort, ...]:
    """The kinds for which a dose is asked: by which route, for which type or stage of a disease."""
    if DOSE not in attributes_asked(question):
        return ()
    return (*routes_asked(question), *kinds_asked(question))


def _is_of_another_kind(asked: _Asked, one: Sentence, chunk: Chunk) -> bool:
    """Whether a sentence is of another kind, or does not say that the drug is released so."""
    own = f"{_heading(one, chunk)}\n{one.columns}\n{one.text}".lower()
    if any(kind.another_in(own) for kind in asked.kinds):
        return True
    around = f"{own}\n{names_of_document(chunk).lower()}"
    releases = releases_asked(asked.question)
    if any(must_be_said(one) and not one.is_in(around) for one in releases):
        return True
    whole = f"{around}\n{chunk.text.lower()}"
    routes = routes_asked(asked.question) if asked.is_dose else ()
    return any(must_be_said(one) and not one.is_in(whole) for one in routes)


def _gives(drugs: _Drugs, one: Sentence, chunk: Chunk) -> bool:
    """Whether an amount in a sentence is one of these drugs.

    It is of the drug right after it, or else of the last one before it, and so is what is said of
    not giving any. Where none is named, it is of the only drug of the document, or of the one that
    the paragraph or its heading names.
    """
    named = drugs.placed(one.text)
    if not named:
        is_only = all(is_asked for _, is_asked in drugs.placed(names_of_document(chunk)))
        return is_only or drugs.are_in(f"{_heading(one, chunk)} {one.columns} {one.paragraph}")
    amounts = [(match.start(), match.end()) for match in AMOUNT.finditer(one.text)]
    if not amounts and (match := NOT_GIVEN.search(one.text)):
        before = [is_asked for at, is_asked in named if at < match.start()]
        return (before[-1:] or [named[0][1]])[0]
    if not amounts:
        return any(is_asked for _, is_asked in named)
    for start, end in amounts:
        near = _RIGHT_AFTER.match(one.text, end)
        last = near.end() if near else end
        after = [is_asked for at, is_asked in named if end <= at <= last]
        before = [is_asked for at, is_asked in named if at < start]
        if (after or before[-1:] or [named[0][1]])[0]:
            return True
    return False


def _is_of_nobody(asked: _Asked, one: Sentence, chunk: Chunk) -> bool:
    """Whether neither a sentence, its heading nor its document has anything of the subject.

    Of a dose, the rest of the paragraph does not say whose it is.
    """
    subject: tuple[Term | Name, ...] = (*asked.terms, *asked.names)
    around = "" if asked.is_dose else one.paragraph
    texts = (one.text, one.columns, _heading(one, chunk), names_of_document(chunk), around)
    return bool(subject) and not any(each.is_in(text) for each in subject for text in texts)


def _heading(one: Sentence, chunk: Chunk) -> str:
    return f"{one.context.removeprefix(chunk.title)} {chunk.metadata.get('heading') or ''}"


def _names_another(asked: _Asked, text: str, chunk: Chunk) -> bool:
    """Whether a sentence is about another code than the question, in a document of several."""
    if not asked.terms or any(term.is_in(text) for term in asked.terms):
        return False
    if not asked.is_of_codes or not _CODE.search(text):
        return False
    called = names_of_document(chunk)
    subject: tuple[Term | Name, ...] = (*asked.terms, *asked.names)
    return not any(one.is_in(called) for one in subject)


def _members(question: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The classes that a question names, each with its other names and its members."""
    words = stems(question)
    for start, end, one in classes_in(words):
        names = (name for member in one.members for name in other_names(member))
        yield " ".join(words[start:end]), (*one.called, *names)


def _beyond_passages(question: str, passages: Sequence[Passage]) -> str:
    """Why these passages cannot answer, whatever they say; empty if they may."""
    if not passages:
        return "nothing was found"
    if asks_what_is_not(question):
        return "this asks what is not listed, and passages only list what is"
    return ""


def _refused(reason: str) -> Answer:
    return Answer("", grounded=False, refusal_reason=reason)


def _chosen(
    asked: _Asked, supports: Sequence[Support], rows: Sequence[_Row], most: int
) -> list[_Candidate]:
    named = {word for name in asked.names for word in name.words}
    asks_how_much = _AMOUNT.search(asked.question) is not None
    asks_for_treatment = not asked.drugs and _TREATMENT.search(asked.question) is not None
    diseases = [term for term in asked.terms if term.is_specific and not asked.drugs]
    if any(support.passage.is_asked_for for support in supports):
        named |= OF_SECTIONS
    rarity = {
        word: _rarity(sum(word in row.held for row in rows), len(rows))
        * (_NAMED if word in named else 1.0)
        for word in asked.wanted
    }
    whole = sum(rarity.values()) or 1.0
    candidates: dict[str, _Candidate] = {}
    for row in rows:
        one, rank, held, around = row.sentence, row.rank, row.held, row.around
        direct = math.fsum(rarity[word] for word in held)
        nearby = math.fsum(rarity[word] for word in around - held)
        value = (direct + _CONTEXT * nearby) / whole + _RANK / (1 + rank)
        if asks_how_much and _DIGIT.search(one.text):
            value += _worth_of_number(supports[rank].passage.chunk)
        if supports[rank].passage.is_asked_for:
            value += _ASKED_FOR * (2 if asked.facts else 1)
        if any(held.isdisjoint(name.words) for name in supports[rank].others):
            value -= _LACKS_NAME
        if diseases and not any(
            each.is_in(f"{one.context}\n{one.text}\n{one.columns}") for each in diseases
        ):
            value -= _LACKS_DISEASE
        if asks_for_treatment and any(map(is_drug, _LETTERS.findall(one.text))):
            value += _SAYS_WITH_WHAT
        if asked.drugs and _is_of_another(one, supports[rank].passage.chunk, asked.drugs):
            value -= _OF_OTHER_DRUGS
        value += _worth_of_section(asked, one, held)
        if _DEFINES.search(one.text) and not _ASKS_MEANING.search(asked.question):
            value -= _DEFINED
        if _groups_of(asked, one) - asked.people - groups_in(asked.question):
            value -= _DOSE_OF_OTHERS if asked.is_dose else _OF_OTHERS
        below = around if not asks_how_much or _DIGIT.search(one.text) else frozenset[str]()
        candidates.setdefault(f"{one.arm} {one.text}", _Candidate(one, rank, held, below, value))
    of_names = frozenset[str]() if asked.facts or asked.sides else frozenset(named)
    return _greedy(list(candidates.values()), rarity, whole, most, of_names)


def _all_criteria(asked: _Asked, rows: Sequence[_Row]) -> list[_Candidate]:
    """The criteria of a trial in order, where nothing more is asked of them than which they are."""
    named = frozenset[str]().union(*(name.words for name in asked.names))
    around = rows[0].around if rows else frozenset[str]()
    if not asked.sides or asked.wanted.difference(named, around, _OF_CRITERIA, OF_SECTIONS):
        return []
    return [
        _Candidate(row.sentence, row.rank, row.held, row.around, 0.0)
        for row in rows[:_LONGEST_LIST]
    ]


def _worth_of_section(asked: _Asked, one: Sentence, held: frozenset[str]) -> float:
    """What a sentence gains or loses where a whole section is asked for, as its side effects."""
    named = {word for name in asked.names for word in name.words}
    if (asked.wanted - named).difference(OF_SECTIONS, _SAYS_NOTHING):
        return 0.0
    if _USE.search(asked.question) and (held - named or INDICATION.states.search(one.text)):
        return _SAYS_WHAT if INDICATION.states.search(one.text) else -_EMPTY  # used alone or with
    if _SIDE_EFFECTS.search(asked.question) and _MOST_COMMON.search(one.text):
        return _SAYS_WHAT
    text = _REFERENCE.sub(" ", f"{one.text} {one.columns} {one.arm}")
    words = {base(word) for word in _LETTERS.findall(text) if folded(word) not in LIGHT}
    is_telling = len(words - held - OF_SECTIONS - named - _SAYS_NOTHING) >= _TELLING
    return 0.0 if is_telling or _DIGIT.search(text) else -_EMPTY


def _worth_of_number(chunk: Chunk) -> float:
    """What a sentence gains by a number: less where an article speaks of the work of others."""
    is_on_others = section_of(chunk.section_label) in _ON_OTHERS
    return _SAYS_HOW_MUCH - _OF_OTHER_STUDIES if is_on_others else _SAYS_HOW_MUCH


def _groups_of(asked: _Asked, one: Sentence) -> frozenset[str]:
    text = f"{one.text} {one.context} {one.columns}"
    return groups_in(text) if asked.is_dose else people_in(text)


def _may_be_quoted(one: Sentence, support: Support, asked: _Asked) -> bool:
    """In a document of another name, a sentence must have the names, and more of the question."""
    text = f"{one.text} {one.columns} {one.arm}"
    if support.beside:
        around = "" if asked.is_dose else one.paragraph
        wide = f"{text} {_heading(one, support.passage.chunk)} {one.lead} {around}"
        if not all(
            name.is_in(wide) or is_named_in(asked.beside.get(name, ()), wide)
            for name in support.beside
        ):
            return False
    if not support.must_say:
        return True
    names = {word for name in support.must_say for word in name.words}
    return all(name.is_in(text) for name in support.must_say) and bool(
        asked.facts or _named(text, asked) - names
    )


def _held(one: Sentence, asked: _Asked, numbers: frozenset[str]) -> frozenset[str]:
    """The words of the question that a sentence has; a range has the numbers within it."""
    held = _named(f"{one.text} {one.columns} {one.arm}", asked)
    if numbers:
        ranges = [(float(low), float(high)) for low, high in _RANGE.findall(one.text)]
        held |= {
            word for word in numbers if any(low <= float(word) <= high for low, high in ranges)
        }
    return held


def _named(text: str, asked: _Asked) -> frozenset[str]:
    """The words of the question that a text has, by another name as well."""
    held = vocabulary(text).every & asked.wanted
    for words, names in asked.others:
        if not held.issuperset(words) and is_named_in(names, text):
            held |= words & asked.wanted
    return held


def _greedy(
    candidates: list[_Candidate],
    rarity: Mapping[str, float],
    whole: float,
    most: int,
    named: frozenset[str],
) -> list[_Candidate]:
    """The best sentence, then again the best of the rest; ties go to the earlier one.

    Where the first has more of the question than what it names, so must the others.
    """
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
        if len(chosen) == 1 and (best.held | best.around) - named:
            candidates = [one for one in candidates if (one.held | one.around) - named]
        candidates = [one for one in candidates if one is not best]
        said |= best.held
    return chosen


def _read_on(
    asked: _Asked, chosen: Sequence[_Candidate], supports: Sequence[Support]
) -> Iterator[tuple[str, int]]:
    """What is quoted, with ranks: a row after the names of its columns, a sentence and the next.

    A criterion comes after its heading, and alone: the next may be of the other kind. An item of a
    list comes after the words that lead to it, which another passage may have, with the whole list
    where these words say what is asked for, and a sentence after its heading where only that has a
    word of the question or says for whom it is.
    """
    said: set[tuple[str, int]] = set()
    led, above = "", ("", -1)
    for one in chosen:
        sentence = one.sentence
        before = sentence.announced
        if not asked.sides:
            is_known = above == (sentence.heading, one.rank)
            before = "" if is_known else _heading_shown(asked, one)
        above = sentence.heading, one.rank
        if sentence.lead and not asked.sides and sentence.lead != led:
            yield sentence.lead, _rank_of(sentence.lead, one.rank, supports)
        led = sentence.lead
        if items := _items(asked, one, supports):
            for text in items:
                if (text, one.rank) not in said:
                    said.add((text, one.rank))
                    yield text, one.rank
            continue
        after = "" if asked.sides or _goes_on_to_another(asked, sentence) else sentence.following
        for text in (before, sentence.columns, sentence.arm, sentence.text, after):
            is_own = sentence.arm and text != sentence.columns  # two arms may have the same value
            if text and (is_own or (text, one.rank) not in said):
                said.add((text, one.rank))
                yield text, one.rank


def _items(asked: _Asked, one: _Candidate, supports: Sequence[Support]) -> list[str]:
    """All items of the list of a sentence, where what leads to them says what is asked for.

    "Do not take it if you:" is answered by the whole list, and not by the item with most words.
    """
    lead = one.sentence.lead
    if asked.sides or asked.facts or not lead.endswith(":") or one.held - _named(lead, asked):
        return []
    chunks = [support.passage.chunk for support in supports]
    every = (each for each in sentences(chunks[one.rank], chunks) if each.lead == lead)
    items = [each.text for each in every]
    return items if 1 < len(items) <= _LONGEST_LIST else []


def _heading_shown(asked: _Asked, one: _Candidate) -> str:
    """The heading of a sentence, if the sentence alone would not show that it answers."""
    heading, text = one.sentence.heading, f"{one.sentence.text} {one.sentence.columns}"
    named = {word for name in asked.names for word in name.words}
    says_whom = (_for_whom(asked) & groups_in(heading)) - groups_in(text)
    says_what = _named(heading, asked) - one.held - named - OF_SECTIONS
    is_shown = (says_whom or says_what) and not heading.endswith("?")
    return heading if is_shown else ""


def _rank_of(text: str, rank: int, supports: Sequence[Support]) -> int:
    """The rank of a passage that has a text: this one, or another one of its document."""
    own = supports[rank].passage.chunk
    others = (
        at
        for at, one in enumerate(supports)
        if one.passage.chunk.doc_id == own.doc_id and text in one.passage.chunk.text
    )
    return rank if text in own.text else next(others, rank)


def _goes_on_to_another(asked: _Asked, one: Sentence) -> bool:
    """Whether the next sentence has a code or drug that neither this one nor the question has."""
    if asked.is_dose and RADIATION.search(one.following):
        return True
    if "children" in asked.people and _ADULTS.search(one.following):
        return True
    known = vocabulary(f"{asked.question} {one.text}").every
    named: list[str] = []
    if asked.drugs and not asked.drugs.are_in(one.following):
        named += filter(is_drug, _LETTERS.findall(one.following))
    if asked.is_of_codes:
        named += _CODE.findall(one.following)
    return bool(named) and vocabulary(" ".join(named)).every.isdisjoint(known)


def _is_of_another(one: Sentence, chunk: Chunk, drugs: _Drugs) -> bool:
    """Whether a sentence and the heading above it name a drug, and not the one in question."""
    own = f"{one.context.removeprefix(chunk.title)} {one.text}"
    named = (word for word in _LETTERS.findall(own) if base(word) not in drugs.words)
    return any(map(is_drug, named)) and not drugs.are_in(f"{own} {one.columns}")


def _rarity(there: int, of: int) -> float:
    return math.log(1 + of / (0.5 + there))
