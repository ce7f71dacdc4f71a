"""Which passages are about what the question names?

A question that names a drug, record or trial (``asked.py``) is answered by documents of
that name. The label of another drug, and a trial of other treatments, answer nothing even where
they mention it. Any other document may, but only with a sentence that has the name. Of several
names each must be met, by one passage or by all of them together; where a document is about all of
the drugs, one about other combinations of them does not answer. Of documents about a drug, those
that speak of the condition in question answer before those about other conditions.

Whatever else names the subject (``terms.py``: a condition, its type or stage, a code) must be in
the passage or in the names of its document; in a document of the name that was asked for, other
passages of it may have it. Who asks what a patient said is not answered by the doctor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from assay.analysis.asked import Kind, Name, names_asked, names_people
from assay.analysis.conditions import is_named_in, names_in, stems
from assay.analysis.drug_classes import asks_for_both, called_beside, classes_of
from assay.analysis.drugs import is_drug
from assay.analysis.language import language_of
from assay.analysis.spelling import base, folded
from assay.analysis.words import analyse, vocabulary
from assay.evidence.attributes import AMOUNT, DOSE, INDICATION, attributes_asked
from assay.evidence.confidence import LIGHT, OF_SECTIONS
from assay.evidence.criteria import sides_asked, without_exclusions
from assay.evidence.forms import routes_asked
from assay.evidence.kinds import Kind as Opposite
from assay.evidence.kinds import opposites_asked
from assay.evidence.population import is_of_other_sex, without_groups
from assay.evidence.terms import Term, is_sort, lacking, subject_terms
from assay.model.answers import Passage
from assay.model.document import Chunk, SpeakerRole
from assay.model.sections import section_of

_TREATMENTS = ("drugs", "brands", "generics", "interventions")
_CALLED = (*_TREATMENTS, "drug", "brand", "generic", "acronym")
_NAMED_BY = ("names", *_CALLED)
_OF_LABELS = ("drugs", "brands", "generics", "drug", "brand", "generic")
_NO_TREATMENT = frozenset({"placebo", "control", "observation", "other", "none"})
_WORD = re.compile(r"[^\W_]+")
_TRIAL = re.compile(r"NCT\d{8}", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:for|in)\s+(?!(?:how|what|which|whom)\b)((?:(?!\b(?:and|or|with|without|who|that|when|if|after|before|than|from|on|by|at)\b)"
    r"[^,;:?.(])+)",
    re.IGNORECASE,
)
_PUNCTUATION = re.compile(r"[^\w\s'’-]+")
_STUDY = re.compile(
    r"\b(?:randomi[sz]ed|trial|placebo|double[- ]blind|phase [IV1-4]+|effects? of|efficacy"
    r"|versus)\b",
    re.IGNORECASE,
)
_EVENTS = re.compile(
    r"\b(adverse|side|undesirable)[- ](?:drug )?(?:effects?|events?|reactions?)\b", re.IGNORECASE
)  # events alone are none of them
_NO_WORD = 2  # letters: Crohn's
_LONG_WORD = 6
_BEGINNING = 7  # letters in which two forms of one word agree: albuminuric, albuminuria
_DENIED = re.compile(r" non ?([^\W_]{4,})(?= ([^\W_]+) )")  # in plain words
_TERM = 7  # letters of a word that means the same beside any other: diabetic, not small
_DENIALS = ("non", "not", "no", "without")
_NO_DRUG = re.compile(
    r"(?<![^\W_])[^\W_]+[- ](?:absorption|allerg\w+|antagonis\w+|concentrations?|control"
    r"|deficien\w+|extract"
    r"|inhibitors?|intoleran\w+|levels?|metabolism|naive|poisoning|receptors?|refractory"
    r"|resistan\w+|sensiti[sz]\w+|sensitivity|tolerance|uptake)\b",
    re.IGNORECASE,
)  # insulin sensitizers are not insulin
_IN_BRACKETS = re.compile(
    r"(?<![^\W_])((?:[A-Z]|(?=[a-z-]{0,60}\d))[\w-]{1,60}+)[®™]?\s?"
    r"\(([^\W\d_][\w-]{3,}(?: [^\W\d_]{3,})?)[®™]?\)"
)  # a name, and one or two words
_SHORT_NAME = re.compile(r"(?<![\w-])[A-Z]-?\d{1,2}(?![\w-]|[.,]\d)")  # S-1
_TREATED = frozenset(
    (
        "",
        "clinical_studies",
        "dosage",
        "dosage_forms",
        "indications",
        "other",
        "specific_populations",
    )
)  # sections of a label that say for what and whom a dose is
_METHODS = frozenset(("interventions", "methods"))
_ON_OTHERS = frozenset(("discussion", "introduction"))
_INTERACT = re.compile(r"\binteract", re.IGNORECASE)
_SENTENCES = re.compile(r"\n|(?<=[.;])\s")
_ASKS_WHAT_WAS = re.compile(r"\b(?:did|gave|got|had|received|took|was|were)\b", re.IGNORECASE)
_RECOMMENDED = re.compile(
    r"\b(?:recommended|approved|usual|max(?:imum|imal)?|minimum|safe)\b", re.IGNORECASE
)
_GIVEN = re.compile(
    r"\b(?:administ\w+|given|received?|receiving|injected|injection|infused|infusion|induced|took|taken"
    r"|bolus|intravenous\w*|subcutaneous\w*|oral(?:ly)?|i\.?v\.?|daily|weekly|once|twice"
    r"|every|dose of)\b",
    re.IGNORECASE,
)
_NOT_GIVEN = re.compile(
    r"\b(?:allerg\w+|allowed|equivalent|exclu\w+|ineligib\w+|not|permitted|previous\w*|prior|prohibited"
    r"|history of)\b",
    re.IGNORECASE,
)
_TREATS = re.compile(
    r"\A\W*how (?:is|are|do you|should|can)\b.*\btreat(?:ed)?\b|\btreatments? (?:of|for)\b",
    re.IGNORECASE,
)
_OF_TRIAL = re.compile(r"\b(?:trial|study)\b", re.IGNORECASE)
_SAID = (
    r"(?:\w+\s+){0,3}?(?:advis|complain|describe|feel|felt|mention|prescrib|recommend|report|said|say"
    r"|suggest|switch|tell|told|think)"
)
_ONE_SPEAKER = re.compile(
    r"\b(?:the|this|that|my|his|her) (?:clinician|doctor|nurse|patient|physician)\b", re.IGNORECASE
)
_HAPPENED = re.compile(rf"\b(?:did|had|has|was)\b.*{_ONE_SPEAKER.pattern}", re.IGNORECASE)
_TURN = "turn"
_WHO_SAID = {
    SpeakerRole.PATIENT: re.compile(rf"\bpatients?\s+{_SAID}", re.IGNORECASE),
    SpeakerRole.CLINICIAN: re.compile(
        rf"\b(?:clinician|doctor|nurse|physician)s?\s+{_SAID}", re.IGNORECASE
    ),
}


@dataclass(frozen=True, slots=True)
class Support:
    """A passage that is about what was asked; a quoted sentence must have each of ``must_say``.

    ``others`` are names that its document is not called by: what it says of them has the name. Of
    those ``beside`` a drug in question, the sentence or its heading must speak, if only by class.
    """

    passage: Passage
    must_say: tuple[Name, ...] = ()
    others: tuple[Name, ...] = ()
    beside: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The passages that are about the question's subject.

    ``missing`` are the names that none has, ``lacking`` the other words of the subject.
    """

    names: tuple[Name, ...]
    about: tuple[Support, ...]
    missing: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """Why there is nothing to answer with; "" where there is something."""
        if self.about:
            return ""
        if self.lacking and self.names:
            about = " and ".join(name.text for name in self.names)
            return f"what was found about {about} says nothing of {' and '.join(self.lacking)}"
        subject = " and ".join(self.missing or self.lacking)
        return f"nothing that was found is about {subject or 'this'}"


def gather(question: str, passages: Sequence[Passage]) -> Evidence:
    """Which passages may answer a question, and which of its names none of them is about."""
    own = _by_speaker(question, passages)
    preferred = _in_language(question, _in_conversation(question, own))
    found = _gather(question, preferred)
    if found.reason and len(preferred) < len(own):
        found = _gather(question, own)
    drugs = [name for name in found.names if name.kind is Kind.DRUG]
    if found.reason and len(drugs) == 1 and DOSE not in attributes_asked(question):
        by_class = _gather(question, own, by_class=True)
        found = found if by_class.reason else by_class
    return found


def _gather(question: str, passages: Sequence[Passage], *, by_class: bool = False) -> Evidence:
    """The same; with ``by_class``, what is said of its class is said of a drug, but for a dose."""
    called = (name for passage in passages for name in called_in(passage.chunk))
    asked = names_asked(question, called)
    if by_class:
        asked = tuple(map(_with_classes, asked))
    names = (*asked, *_short(question, passages), *_specific(question, asked, passages))
    terms = _terms(question, names)
    alias = _aliases(names, passages)
    beside = classes_beside(question, names)
    held = [_held(names, passage, alias, beside) for passage in passages]
    strict = [name for name in names if name.kind is not Kind.PEOPLE]
    treatments = frozenset(name for name in strict if name.kind is Kind.DRUG)
    opposites = opposites_asked(question)
    if DOSE in attributes_asked(question):
        opposites += routes_asked(question)
    kept = [
        (passage, one)
        for passage, one in zip(passages, held, strict=True)
        if _admissible(question, one, passage.chunk, strict)
        and not _says_the_opposite(question, passage.chunk)
        and not any(_is_of_other_kind(kind, passage.chunk) for kind in opposites)
        and not is_of_other_sex(question, f"{passage.chunk.title}\n{passage.chunk.text}")
    ]
    met = frozenset[Name]().union(*(one.met for _, one in kept))
    missing = tuple(name.text for name in names if name not in met)
    texts = _texts_of(question, passages)
    if treatments and DOSE in attributes_asked(question):
        named = subject_terms(_asked_of_all(question))
        kept = [one for one in kept if not _is_study_of_another(named, one[0].chunk)]
    on_subject = _on_subject(terms, strict, kept, texts)
    unmet = () if on_subject or missing else _nearest(terms, [texts(one.chunk) for one, _ in kept])
    if unmet and INDICATION in attributes_asked(question):
        unmet = (f"{' and '.join(unmet)} as a use",)
    kept = on_subject
    if not treatments and _TREATS.search(question):
        kept = [one for one in kept if _may_say_what_treats(terms, one[0].chunk)]
        unmet = unmet or (() if kept or missing else (f"the treatment of {_listed(terms)}",))
    if kept and sides_asked(question) and _OF_TRIAL.search(question):
        kept = [one for one in kept if _is_trial_of(terms, one[0].chunk)]
        unmet = () if kept or missing else tuple(term.text for term in terms)
    if any(one.by_name.issuperset(treatments) for _, one in kept):
        kept = [
            (passage, one) for passage, one in kept if not _is_of_more(passage, one, treatments)
        ]
    whole = _with_all(names, kept) or _with_all(asked, kept) or kept
    of_it = _of_condition(question, names, [passage for passage, _ in whole])
    own = frozenset[Name]()  # two drugs that each have a document may be asked for one by one
    if not asks_for_both(question):
        own = own.union(*(one.by_name for _, one in kept))
    about = [
        Support(
            passage,
            _must_say(passage, one, strict),
            _not_called(one, strict),
            _not_called(one, treatments - own)
            if _INTERACT.search(question) or _is_label_of(treatments, passage, one)
            else (),
        )
        for passage, one in whole
        if passage.chunk.doc_id in of_it
    ]
    return Evidence(names, () if missing else tuple(about), missing, unmet)


def unsaid(question: str, evidence: Evidence) -> str:
    """What a question asks of its names that no passage about them has a word for, if anything.

    That is the condition for which a drug is given or a word of it, or all that is asked. The name
    of a section need not be said within it.
    """
    names = [name for name in evidence.names if name.kind is not Kind.PEOPLE]
    if not names:
        return ""
    chunks = [one.passage.chunk for one in evidence.about]
    said = frozenset[str]().union(
        *(vocabulary(text).every for one in chunks for text in (one.title, one.text))
    )
    if any(
        one.passage.is_asked_for or (one.beside and not _is_study(one.passage.chunk))
        for one in evidence.about
    ):
        said |= OF_SECTIONS  # a label that speaks of two drugs says how they go together
    beginnings = {word[:_BEGINNING] for word in said if len(word) >= _BEGINNING}
    for fact in attributes_asked(question):
        if any(fact.states.search(one.text) for one in chunks):
            said |= fact.words
    forms = {word for name in names for word in name.words}
    rest = _without(_asked_of_all(question), names)  # DS-8201a is no word 8201a

    def content(text: str) -> dict[str, bool]:
        return {
            word: not said.isdisjoint(terms) or any(t[:_BEGINNING] in beginnings for t in terms)
            for word in _WORD.findall(text)
            if len(word) > _NO_WORD
            and folded(word) not in LIGHT
            and (terms := analyse(word).terms)
            and forms.isdisjoint(vocabulary(word).every)
            and not word.isdigit()
            and not names_people(word)
        }

    for name, names_of in names_in(rest).items():  # heart failure with ... stands for HFpEF
        if any(is_named_in(names_of, one.text) for one in chunks):
            said |= frozenset(analyse(name).terms)
    for match in _CONDITION.finditer(rest):
        lacking = [word for word, known in content(match[1]).items() if not known]
        if lacking:
            return match[1].strip()
    if any(name.kind is Kind.PEOPLE for name in evidence.names):
        return ""  # what is said of them is asked for
    asked = {
        match[0]: not said.isdisjoint(analyse(match[1]).terms) for match in _EVENTS.finditer(rest)
    }
    asked |= content(_EVENTS.sub(" ", rest))
    return "" if any(asked.values()) else " and ".join(asked)


def _by_speaker(question: str, passages: Sequence[Passage]) -> Sequence[Passage]:
    """Without what others said, where the question is what the patient or the doctor said."""
    roles = {role for role, asks in _WHO_SAID.items() if asks.search(question)}
    if len(roles) != 1:
        return passages
    own = [one for one in passages if one.chunk.speaker_role in roles]
    if own and _ONE_SPEAKER.search(question):
        return own
    allowed = {*roles, SpeakerRole.UNKNOWN}
    return [one for one in passages if one.chunk.speaker_role in allowed]


def _in_conversation(question: str, passages: Sequence[Passage]) -> Sequence[Passage]:
    """Those from conversations, where it is asked what happened to the patient and there are any.

    An article on chest pain does not say whether the patient had it.
    """
    if not _HAPPENED.search(question):
        return passages
    return [one for one in passages if one.chunk.section_label == _TURN] or passages


def _in_language(question: str, passages: Sequence[Passage]) -> Sequence[Passage]:
    """Those in the language of a question, where it is another than English and there are any."""
    asked = language_of(question)
    return [one for one in passages if asked and language_of(one.chunk.text) == asked] or passages


def _terms(question: str, names: Sequence[Name]) -> tuple[Term, ...]:
    """What names the subject beside the names, each of which has rules of its own."""
    known = {word for name in names for word in name.words}
    parts = {part for name in names for part in _WORD.findall(folded(name.text))}
    return tuple(
        term
        for term in subject_terms(_asked_of_all(question))
        if term.words.isdisjoint(known) and not parts.issuperset(_WORD.findall(folded(term.text)))
    )


def _asked_of_all(question: str) -> str:
    """A question without the people whose dose it asks for: which statements are theirs is told."""
    return without_groups(question) if DOSE in attributes_asked(question) else question


def _texts_of(question: str, passages: Sequence[Passage]) -> Callable[[Chunk], tuple[str, ...]]:
    """What says which subject a passage has: a dose is not for what keeps patients out.

    Nor is it for what a label only speaks of, and neither treats nor gives a dose for, or what a
    study says of the work of others. What a drug is used for, only a sentence on uses says there.
    """
    asked = attributes_asked(question)
    if DOSE not in asked and INDICATION not in asked:
        return own_texts
    others = [one.chunk for one in passages]
    is_for = INDICATION in asked or _CONDITION.search(question) is not None

    def texts(chunk: Chunk) -> tuple[str, ...]:
        if is_for and own_drugs(chunk) and section_of(chunk.section_label) not in _TREATED:
            parts = _SENTENCES.split(chunk.text) if INDICATION in asked else ()
            return *filter(INDICATION.states.search, parts), *own_texts(chunk)[1:]
        if is_for and _is_study(chunk) and section_of(chunk.section_label) in _ON_OTHERS:
            return own_texts(chunk)[1:]
        return without_exclusions(chunk, others), *own_texts(chunk)[1:]

    return texts


def _on_subject(
    terms: Sequence[Term],
    strict: Sequence[Name],
    kept: Sequence[tuple[Passage, _Held]],
    texts_of: Callable[[Chunk], tuple[str, ...]],
) -> list[tuple[Passage, _Held]]:
    """The passages that have every term, by themselves or in a document of the asked name."""
    if not terms:
        return [*kept]
    texts: dict[str, list[str]] = {}
    for passage, held in kept:
        if not held.by_name.isdisjoint(strict):
            texts.setdefault(passage.chunk.doc_id, []).extend(texts_of(passage.chunk))
    left = {doc_id: len(lacking(terms, *each)) for doc_id, each in texts.items()}
    having = {doc_id for doc_id, count in left.items() if not count}
    if having:  # the drug's own label may put half of it in other words
        having |= {
            passage.chunk.doc_id
            for passage, _ in kept
            if own_drugs(passage.chunk)
            and 2 * left.get(passage.chunk.doc_id, len(terms)) <= len(terms)
        }
    return [
        (passage, held)
        for passage, held in kept
        if passage.chunk.doc_id in having or not lacking(terms, *texts_of(passage.chunk))
    ]


def _is_study_of_another(terms: Sequence[Term], chunk: Chunk) -> bool:
    """Whether a study is called by a disease, and by none of those for which a dose is asked."""
    diseases = [term for term in terms if _is_disease(term)]
    if not diseases or not _is_study(chunk) or len(lacking(diseases, chunk.title)) < len(diseases):
        return False
    return any(map(_is_disease, subject_terms(chunk.title)))


def _is_disease(term: Term) -> bool:
    """Whether a term is a disease, or a word of the name of one."""
    return term.is_specific or not {*term.phrases} <= {" ".join(stems(term.text))}


def _may_say_what_treats(terms: Sequence[Term], chunk: Chunk) -> bool:
    """Whether a document may say how a disease is treated: one of other drugs only mentions it.

    That of a product says so among its uses.
    """
    diseases = [term for term in terms if term.is_specific]
    if not diseases or not is_of_another(chunk):
        return True
    return section_of(chunk.section_label) == "indications" or not lacking(
        diseases, *own_texts(chunk)[1:]
    )


def _listed(terms: Sequence[Term]) -> str:
    return " and ".join(term.text for term in terms)


def _is_trial_of(terms: Sequence[Term], chunk: Chunk) -> bool:
    """Whether a document is called by the terms; one without a title is called by its text."""
    return not chunk.title or not lacking(terms, names_of_document(chunk))


def _nearest(terms: Sequence[Term], texts: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """What the passage with most of the terms lacks."""
    each = (lacking(terms, *one) for one in texts)
    return tuple(term.text for term in min(each, key=len, default=()))


def own_texts(chunk: Chunk) -> tuple[str, str, str]:
    """What a passage says, what its document is called, and the heading above it."""
    return chunk.text, names_of_document(chunk), " ".join(_texts(chunk.metadata.get("heading")))


def _short(question: str, passages: Sequence[Passage]) -> Iterator[Name]:
    """Names of a letter and a digit by which documents are called."""
    for text in dict.fromkeys(_SHORT_NAME.findall(question)):
        name = Name(Kind.NAME, text, (folded(text.replace("-", "")),))
        if any(name.is_in(names_of_document(one.chunk)) for one in passages):
            yield name


def _specific(
    question: str, names: Sequence[Name], passages: Sequence[Passage]
) -> tuple[Name, ...]:
    """Words that only documents of that name have at all, among those that were found.

    Where the first document has such a name, others do not count.
    """
    known = {word for name in names for word in name.words}
    found: list[Name] = []
    for word in dict.fromkeys(_WORD.findall(question)):
        if len(word) < _LONG_WORD or folded(word) in LIGHT or base(word) in known or is_sort(word):
            continue
        name = Name(Kind.NAME, word, (base(word),))
        called = [name.is_in(names_of_document(passage.chunk)) for passage in passages]
        if any(called) and not any(
            name.is_in(passage.chunk.text)
            for passage, named in zip(passages, called, strict=True)
            if not named
        ):
            found.append(name)
    if not found:
        return ()
    first = [name for name in found if name.is_in(names_of_document(passages[0].chunk))]
    return tuple(first or found)


def _must_say(passage: Passage, held: _Held, strict: Sequence[Name]) -> tuple[Name, ...]:
    """The names that a quoted sentence must have: none within a document of one of the names.

    What somebody says in a conversation is taken as one sentence.
    """
    spoken = passage.chunk.speaker_role is not SpeakerRole.UNKNOWN
    return () if spoken or not held.by_name.isdisjoint(strict) else tuple(strict)


def _is_of_more(passage: Passage, held: _Held, treatments: frozenset[Name]) -> bool:
    """Whether a document is about some of the drugs in question together with others."""
    asked = {word for name in treatments for word in name.words}
    return not held.by_name.issuperset(treatments) and any(
        is_drug(word) and base(word) not in asked for word in _WORD.findall(passage.chunk.title)
    )


def _with_all(
    names: Sequence[Name], passages: Sequence[tuple[Passage, _Held]]
) -> list[tuple[Passage, _Held]]:
    return [(passage, held) for passage, held in passages if held.met.issuperset(names)]


def _is_label_of(treatments: frozenset[Name], passage: Passage, held: _Held) -> bool:
    """Whether a document is about one of the drugs, and no study, which tells of all it gave."""
    return bool(held.by_name & treatments) and not _is_study(passage.chunk)


def _not_called(held: _Held, names: Iterable[Name]) -> tuple[Name, ...]:
    return tuple(name for name in names if name not in held.by_name)


def _of_condition(
    question: str, names: Sequence[Name], passages: Sequence[Passage]
) -> frozenset[str]:
    """The documents that speak of the condition in question; all of them where none does."""
    texts: dict[str, list[str]] = {}
    for one in passages:
        chunk = one.chunk
        texts.setdefault(chunk.doc_id, [names_of_document(chunk)]).append(chunk.text)
    kept = frozenset(texts)
    if len(kept) < 2 or not any(name.kind is Kind.DRUG for name in names):
        return kept
    for match in _CONDITION.finditer(_without(question, names)):
        words = [base(word) for word in _WORD.findall(match[1]) if folded(word) not in LIGHT]
        phrase = f" {' '.join(words)} "
        if not phrase.strip():
            continue
        having = {
            doc_id
            for doc_id in kept
            if any(phrase in _side_by_side(text) for text in texts[doc_id])
        }
        kept = frozenset(having) or kept
    return kept


def _without(question: str, names: Sequence[Name]) -> str:
    for name in names:
        question = question.replace(name.text, " ")
    return question


@lru_cache(maxsize=1_024)
def _side_by_side(text: str) -> str:
    """The words of a text; what punctuation keeps apart does not stand together."""
    parts = (
        " ".join(base(word) for word in _WORD.findall(part)) for part in _PUNCTUATION.split(text)
    )
    return f" {' , '.join(parts)} "


@dataclass(frozen=True, slots=True)
class _Held:
    """The names that a passage meets, and those by which its document is called."""

    met: frozenset[Name]
    by_name: frozenset[Name]


def _held(
    names: Sequence[Name],
    passage: Passage,
    alias: Mapping[str, set[Name]],
    beside: Mapping[Name, tuple[str, ...]],
) -> _Held:
    chunk = passage.chunk
    by_name = frozenset(name for name in names if is_called(name, chunk))
    by_name |= alias.get(chunk.doc_id, set())
    said = {name for name in names if name.is_in(chunk.title) or name.is_in(chunk.text)}
    if not by_name.isdisjoint(beside) and not _is_study(chunk):
        said |= {name for name, called in beside.items() if is_named_in(called, chunk.text)}
    return _Held(by_name | said, by_name)


def _with_classes(name: Name) -> Name:
    """A drug with the names of its classes, any of which stands for it."""
    if name.kind is not Kind.DRUG:
        return name
    called = (" ".join(stems(text)) for one in classes_of(name.text) for text in one.called)
    return name._replace(phrases=(*name.phrases, *called))


def classes_beside(question: str, names: Sequence[Name]) -> Mapping[Name, tuple[str, ...]]:
    """The drugs of a question for two or more, each with what labels of the others may call it."""
    drugs = {name.text: name for name in names if name.kind in (Kind.DRUG, Kind.NAME)}
    return {drugs[text]: called for text, called in called_beside([*drugs], question).items()}


def is_called(name: Name, chunk: Chunk) -> bool:
    """Whether the document of a passage is called by a name; insulin resistance is no insulin."""
    called = names_of_document(chunk)
    return name.is_in(_NO_DRUG.sub(" ", called) if name.kind is Kind.DRUG else called)


def _aliases(names: Sequence[Name], passages: Sequence[Passage]) -> dict[str, set[Name]]:
    """The names that documents give in brackets after a name they are called by."""
    found: dict[str, set[Name]] = {}
    for name in names:
        for passage in passages:
            if is_alias(name, passage.chunk) or is_given_in(name, passage.chunk):
                found.setdefault(passage.chunk.doc_id, set()).add(name)
    return found


def is_given_in(name: Name, chunk: Chunk) -> bool:
    """Whether a drug is given in a trial whose title names none: its arms say what it is about."""
    return (
        name.kind is Kind.DRUG
        and _TRIAL.match(chunk.doc_id) is not None
        and section_of(chunk.section_label) == "interventions"
        and not any(map(is_drug, _WORD.findall(chunk.title)))
        and name.is_in(chunk.text)
    )


def is_alias(name: Name, chunk: Chunk) -> bool:
    """Whether a passage gives a drug's name in brackets after one that its document is called by.

    As in "MK-3475 (pembrolizumab)" of a trial of MK-3475.
    """
    if name.kind is not Kind.DRUG:
        return False
    called = names_of_document(chunk)
    known = called.casefold()
    return any(
        match[1].casefold() in known
        and folded(match[1]) not in LIGHT
        and re.search(rf"(?<![^\W_]){re.escape(match[1])}(?![^\W_])", called, re.IGNORECASE)
        and name.is_in(match[2])
        for match in _IN_BRACKETS.finditer(chunk.text)
    )


def _admissible(question: str, held: _Held, chunk: Chunk, strict: Sequence[Name]) -> bool:
    if not strict:
        return True
    if held.met.isdisjoint(strict):
        return False
    treatments = [name for name in strict if name.kind is Kind.DRUG]
    if not treatments or not held.by_name.isdisjoint(strict) or not is_of_another(chunk):
        return True
    return any(was_given(question, name, chunk) for name in treatments)


def was_given(question: str, name: Name, chunk: Chunk) -> bool:
    """Whether a dose is asked for, and the methods of a study of other drugs say how it was given.

    A study says what was given, not what the dose is.
    """
    if section_of(chunk.section_label) not in _METHODS or own_drugs(chunk):
        return False
    if not _ASKS_WHAT_WAS.search(question) or _RECOMMENDED.search(question):
        return False
    if DOSE not in attributes_asked(question):
        return False
    return any(
        name.is_in(part)
        and AMOUNT.search(part)
        and _GIVEN.search(part)
        and not _NOT_GIVEN.search(part)
        for part in _SENTENCES.split(chunk.text)
    )


def _is_study(chunk: Chunk) -> bool:
    return bool(_TRIAL.match(chunk.doc_id) or _STUDY.search(chunk.title))


def is_of_another(chunk: Chunk) -> bool:
    """Whether a document is about certain treatments; asked only where none of them is meant."""
    if _is_study(chunk):
        return True
    if any(map(is_drug, _WORD.findall(chunk.title))):
        return True
    given = [text for key in _TREATMENTS for text in _texts(chunk.metadata.get(key))]
    return any(text.casefold() not in _NO_TREATMENT for text in given)


def own_drugs(chunk: Chunk) -> str:
    """The names of the product that a label is about; "" for other documents."""
    return " ".join(text for key in _OF_LABELS for text in _texts(chunk.metadata.get(key)))


def called_in(chunk: Chunk) -> Iterator[str]:
    """The one-word names of treatments and trials that a document is filed under."""
    for key in _CALLED:
        for text in _texts(chunk.metadata.get(key)):
            if " " not in text and text.casefold() not in _NO_TREATMENT:
                yield text


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return (value,)
    return map(str, value) if isinstance(value, tuple | list) else ()


@lru_cache(maxsize=4_096)
def _names_text(doc_id: str, title: str, given: tuple[str, ...]) -> str:
    return "\n".join((doc_id, title, *given))


def names_of_document(chunk: Chunk) -> str:
    """What the document of a chunk is called: its id, title, and the names it is filed under."""
    given: tuple[str, ...] = ()
    if any(map(chunk.metadata.__contains__, _NAMED_BY)):
        given = tuple(text for key in _NAMED_BY for text in _texts(chunk.metadata.get(key)))
    return _names_text(chunk.doc_id, chunk.title, given)


def _is_of_other_kind(kind: Opposite, chunk: Chunk) -> bool:
    """Whether a document is called by another kind than asked for, or a passage has only that."""
    title = chunk.title.lower()
    return bool(kind.another_in(title) or kind.another_in(f"{title}\n{chunk.text.lower()}"))


def _says_the_opposite(question: str, chunk: Chunk) -> bool:
    """Whether a passage is about "non-small cell" only, where "small cell" was asked for."""
    text = _plain(f"{chunk.title}\n{chunk.text}")
    if " non" not in text:
        return False
    asked = _plain(question)
    return any(
        f" {denied} " in asked
        and not any(f" {no} {denied} " in asked for no in _DENIALS)
        and f" non{denied} " not in asked
        and text.count(f" {denied} ") == text.count(f" non {denied} ")
        for match in _DENIED.finditer(text)
        for denied in _denied(match)
    )


def _denied(match: re.Match[str]) -> Iterator[str]:
    """The word after "non" with the next one; alone where it is long enough to be a term."""
    yield f"{match[1]} {match[2]}"
    if len(match[1]) >= _TERM:
        yield match[1]


@lru_cache(maxsize=4_096)
def _plain(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "
