"""Which words of a question name its subject, and does a text have all of them?

"Inclusion criteria of the melanoma trial" asks for criteria, and only what has melanoma in its text
or in the names of its document may answer. Words that ask (criteria, dose, outcome, treatment),
general words and units name nothing. A question in a whole sentence ("how long are counts needed")
also describes what it looks for: there, only codes and what follows a preposition name the subject.
In a long description, other words than those of the passages are to be expected, so that only codes
and what follows "of", "for" and "in" count. The other names of a condition stand for it.

Some words mean nothing alone: a number belongs to the word before it, a sign to what it is said of
(``kinds.py``). A text that has type 1 and elsewhere a 2 is not about type 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from assay.analysis.asked import names_people
from assay.analysis.conditions import (
    conditions_in,
    in_medical_words,
    short_names,
    stems,
    stems_in_a_row,
    stems_of,
    stems_of_word,
)
from assay.analysis.drug_classes import classes_in
from assay.analysis.drugs import is_drug
from assay.analysis.identifiers import is_code_system
from assay.analysis.language import language_of
from assay.analysis.names import is_name
from assay.analysis.spelling import american, base, folded
from assay.analysis.words import Lines, analyse, is_time, vocabulary
from assay.evidence.confidence import LIGHT, OF_SECTIONS
from assay.evidence.forms import must_be_said, releases_asked, without_releases
from assay.evidence.kinds import MEASURED, Kind, designated, is_sign, opposed, signed

_WORD = re.compile(r"[^\W_]+(?:(?:[-\u2010\u2011'’.]|(?<=\d),(?=\d))[^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s?$")
_ASKING_TEXT = """
above administer administered administration ago aim aims amount amounts analysis ask asked atc
avoid baseline begin below benefit benefits best bolus capsule capsules cause caused causes
characteristics choice clinical code codes compare conclusion conclusions condition conditions
confidence consent contain contained contains course cure cutoff daily data date define defined
definition describe described design diagnosis disease divided document done duration effective
effectiveness efficacy eligibility eligible endpoint endpoints enrolled enrollment estimate every
exclude excluded exclusion experience experienced explain finding findings first frequency
frequently guideline guidelines half hazard hear hypothesis icd important improve improved incidence
include included includes inclusion increase increased indicate information initial injection
interval intervention interventions involved know known large last length life line list listed
loading maintenance man manage management max maximal mean means measure measured median mention
mentioned method methods min minimal monitor monitored monitoring monthly name names need needed
needs objective observed occur occurred occurs odds outcome outcomes paper period phase pill pills
point points posology possible prescribe prescribed prescribing present prevalence prevent primary
program proportion protocol purpose question randomised randomized range ratio reason reasons
recommend recommendation recommendations recruited reduce reduction regimen regimens relative report
reporting require required requirements risk risks route safe safety schedule second secondary
section see seen serious severe severity show showed shown shows sign significant signs single size
specific standard state stated stop stopped strategy summary symptom symptoms syndrome table tables
tablet tablets target targets test tested tests therapies threshold thresholds toxicities toxicity
twice typical value values weekly woman work works write yearly
"""
_ASKING = frozenset(base(word) for word in _ASKING_TEXT.split()) | OF_SECTIONS
_PREPOSITIONS = frozenset(("about", "against", "for", "in", "of", "on", "with"))
_ATTACHED = frozenset(("for", "in", "of"))
_NEW_CLAUSE = frozenset(
    ("after", "before", "by", "if", "that", "to", "when", "which", "who", "without")
)
_DESCRIBING = 4  # content words from which a question describes what it looks for
_WHOLE_SENTENCE = re.compile(
    r"\W*(?:which|who|whom|whose|when|where|why|do|does|did|is|are|was|were|can|could|may|should"
    r"|would|will|has|have|had|how (?!much\b|many (?:mg|m?iu|units|milligrams|micrograms)\b)"
    r"|what (?!(?:is|are|was|were)\b|'s\b))",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|does|do|did|has|have|had|can|should|may|will|would)\b", re.IGNORECASE
)
_WHAT_IS = re.compile(r"\W*(?:what(?:'s| is| are| was| were)|how (?:much|many))\b", re.IGNORECASE)
_ORGANS_TEXT = """
bladder vesical, bowel intestinal intestine, brain cerebral, bronchus bronchial, colon colonic,
cornea corneal, esophagus esophageal, eye ocular ophthalmic, heart cardiac, kidney renal,
larynx laryngeal, liver hepatic, lung pulmonary, muscle muscular, nerve neural, ovary ovarian,
pancreas pancreatic, pharynx pharyngeal, prostate prostatic, retina retinal, skin cutaneous dermal,
spleen splenic, stomach gastric, testis testicular, uterus uterine
"""
ORGANS = {
    word: frozenset(map(base, line.split()))
    for line in _ORGANS_TEXT.split(",")
    for word in map(base, line.split())
}
"""The terms of organs, each with all that stand for the same organ."""
_ROUTES_TEXT = """
intravenous intravenously iv infusion infused drip bolus
intramuscular intramuscularly im
subcutaneous subcutaneously sc sq
oral orally po mouth tablet tablets capsule capsules pill pills
topical topically cream gel ointment foam lotion
intrathecal intrathecally
rectal rectally suppository suppositories
inhaled inhalation nebulised nebulized inhaler
intranasal nasal nasally
transdermal patch patches
"""
_ROUTES = {
    word: frozenset(map(base, line.split()))
    for line in _ROUTES_TEXT.strip().split("\n")
    for word in line.split()[:3]
}
_SHORT_ROUTES = frozenset(("iv", "po", "sc"))  # "im" may be "I'm"
_SORTS_TEXT = """
adenocarcinoma adenoma cancer carcinoma malignancy metastases neoplasm sarcoma tumor,
condition disease disorder syndrome, failure impairment insufficiency, infection, injury trauma,
ulcer ulceration, deficiency, transplant transplantation graft, surgery operation,
poisoning toxicity intoxication, stones calculi, vaccine vaccination, tunnel,
antagonist blocker inhibitor
"""
_SORTS = {
    form: frozenset(map(base, line.split()))
    for line in _SORTS_TEXT.split(",")
    for word in line.split()
    for form in (word, f"{word}s", f"{word.removesuffix('y')}ies")
}  # what sort of a thing it is; alone they say little
_BETWEEN = 3  # words that may stand between those that belong together
_ENDINGS_TEXT = """
a ag age al ant ar ary at ate ated ation ct e eal ed ency ent er es est i ia iac ial ian iat iatr ic
ical ies in ing ion is ist ity iv ive ization ize ous s sis t tic tion um us xi y
"""
_ENDINGS = frozenset(("", *_ENDINGS_TEXT.split()))
_INFLECTIONS_TEXT = """
al ally ation ations e ed er ers es ied ies ing ings ion ions ive ly ment ments s ic ical y
"""
_INFLECTIONS = frozenset(("", *_INFLECTIONS_TEXT.split()))
_NOUN = 7  # letters of a noun that its forms share
_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Term:
    """What a passage must have: one of the words, one of the phrases, or the kind.

    Or ``near`` one another, one word of each of the groups. ``is_unsaid``: a text without another
    kind is enough. ``is_specific`` marks a disease, or anything else that only its own name can
    stand for. ``members`` are words that stand for a class of drugs.
    """

    text: str
    words: frozenset[str] = frozenset()
    phrases: tuple[str, ...] = ()
    kind: Kind | None = None
    is_unsaid: bool = False
    near: tuple[frozenset[str], ...] = ()
    is_specific: bool = False
    members: frozenset[str] = frozenset()

    def is_in(self, text: str) -> bool:
        """Whether a text has it, in whatever spelling."""
        if self.kind is not None and self.kind.is_in(_plain(text)):
            return True
        if self.kind is not None and self.is_unsaid:
            return not self.kind.another_in(_plain(text))
        if vocabulary(text).among(self.words | self.members) or any(
            _is_form(word, other)
            for word in self.words
            for other in vocabulary(text).beginning_like(word)
        ):
            return True
        if self.near and _are_near(self.near, stems_of(text)):
            return True
        row = stems_in_a_row(text)
        return any(
            f" {phrase} " in row
            and (phrase not in short_names() or _is_abbreviated(phrase, self.phrases, text))
            for phrase in self.phrases
        )

    def is_written_in(self, text: str) -> bool:
        """Whether a text has one of the words as it is written, but for the ending.

        Many words share a stem and no meaning: multiplication, multiple.
        """
        asked = american(folded(self.text))
        if self.words != {base(asked)} or not self.text[1:].islower():
            return self.is_in(text)
        others = tuple(phrase for phrase in self.phrases if phrase not in self.words)
        return any(
            _differ_in(asked, american(word), _INFLECTIONS)
            for word in _PART.findall(_plain(text))
            if base(word) in self.words
        ) or replace(self, words=frozenset(), phrases=others).is_in(text)

    def count(self, text: str) -> int:
        """How often a text has it, about: neighbouring words count by the rarest of them."""
        if self.kind is not None:
            return self.kind.count(_plain(text))
        wanted = self.words or (min(self.near, key=len) if self.near else frozenset())
        row = stems_in_a_row(text)
        named = sum(row.count(f" {phrase} ") for phrase in self.phrases if " " in phrase)
        return max(named, sum(word in wanted for word in stems_of(text)))


@lru_cache(maxsize=256)
def subject_terms(question: str) -> tuple[Term, ...]:
    """The terms that name what a question is about."""
    if language_of(question):  # whose small words are not known
        return ()
    releases = releases_asked(question)
    if releases:
        question = without_releases(question)
    describes = sum(map(_is_content, _words(question))) >= _DESCRIBING
    words = _words(in_medical_words(question))
    naming = _after(words, _ATTACHED) if describes else _naming(question, words)
    diseases = (at for at, word in enumerate(words) if is_name(word) and not is_drug(word))
    found = _terms(words, naming.union(diseases), describes=describes)
    return (*found, *(Term(one.text, kind=one) for one in releases if must_be_said(one)))


def _words(question: str) -> list[str]:
    return [_POSSESSIVE.sub("", word) for word in _WORD.findall(question)]


def _terms(
    words: Sequence[str], naming: frozenset[int], *, describes: bool = False
) -> tuple[Term, ...]:
    """The terms at these places."""
    phrases = _phrases(words)
    found: dict[str, Term] = {}
    taken: set[int] = set()
    for places, one in _classes(words):
        if not naming.isdisjoint(places):
            found[one.text] = one
        taken.update(places)
    for places, one in _diseases(words):  # heart failure is no heart rate
        if naming.issuperset(places) and taken.isdisjoint(places) and not _asks(one.text):
            found[one.text] = one
            taken.update(places)
    for at, word in enumerate(words):
        if at in taken:
            continue
        term, length = _numbered(words, at)
        if term is None:
            term, length = _signed(words, at, describes=describes)
        taken.update(range(at, at + length))
        if term is None and (at in naming or _is_code(word)) and _is_content(word):
            term = _plain_term(word)
        elif term is not None and length == 1 and at not in naming and not term.is_unsaid:
            term = None
        if term is not None:
            found.setdefault(term.text, _with(term, phrases.get(at, ())))
    return tuple(found.values())


@lru_cache(maxsize=256)
def units(query: str) -> tuple[Term, ...]:
    """Everything that a query names, words that mean something only together as one.

    Such are the names of diseases (cystic fibrosis), and a word with the kind of thing that it is
    (thyroid cancer, carpal tunnel). Of a whole sentence, whose verbs name nothing, only those; a
    long one describes what it looks for.
    """
    words = _words(query)
    every = frozenset(range(len(words)))
    is_sentence = query.rstrip().endswith(".") or _naming(query, words) != every
    describes = is_sentence and sum(map(_is_content, words)) >= _DESCRIBING
    if describes or language_of(query):
        return ()
    found: list[Term] = []
    taken: set[int] = set()
    for places, term in _compounds(words):
        if taken.isdisjoint(places):
            found.append(term)
            taken.update(places)
    rest = [word if at not in taken else "" for at, word in enumerate(words)]
    others = _terms(rest, every)
    return (*found, *(one for one in others if one.is_specific or not is_sentence))


def names_nothing(query: str) -> bool:
    """Whether a query only asks, and says of nothing what: adverse events, trials."""
    return not any(map(_is_content, _words(query)))


@lru_cache(maxsize=256)
def content_stems(query: str) -> tuple[str, ...]:
    """The stems of the words that say what a query is about, in order, each once."""
    words = (word for word in _words(query) if _is_content(word))
    return tuple(dict.fromkeys(stem for word in words for stem in stems_of_word(word)))


def is_name_alone(query: str) -> bool:
    """Whether every word of a query says what it is about, and none what is asked of it."""
    return all(map(_is_content, _words(query)))


def are_beside(words: Sequence[str], text: str) -> bool:
    """Whether a text has all of these stems in a row, in any order; stop words do not count."""
    wanted = frozenset(words)
    return (
        _are_near([frozenset({word}) for word in words], stems_of(text), 0)
        and vocabulary(text).among(wanted) == wanted  # the 5 of 3.5 is none
    )


def _asks(name: str) -> bool:
    """Whether a name of several words has one that asks for a section: adverse events."""
    return any(base(word) in OF_SECTIONS for word in name.split())


def _diseases(words: Sequence[str]) -> Iterator[tuple[range, Term]]:
    """The diseases whose names are of several words."""
    placed = _placed(words)
    for start, end, others in conditions_in(tuple(stem for _, stem in placed)):
        places = range(placed[start][0], placed[end - 1][0] + 1)
        named = [words[at] for at in places]
        if len(places) > 1 and any(map(_is_content, named)) and _is_plain(named):
            near = tuple(ORGANS.get(stem) or frozenset({stem}) for _, stem in placed[start:end])
            yield places, Term(" ".join(named), phrases=others, near=near, is_specific=True)


def _compounds(words: Sequence[str]) -> Iterator[tuple[range, Term]]:
    yield from _classes(words)
    yield from _diseases(words)
    for at, (word, head) in enumerate(pairwise(words)):
        sort = _SORTS.get(american(folded(head)))
        if sort and _is_content(word) and _is_plain((word,)) and folded(word) not in _SORTS:
            before = ORGANS.get(base(word)) or frozenset({base(word)})
            yield range(at, at + 2), Term(f"{word} {head}", near=(before, sort))
    for at, head in enumerate(words):  # failure of the kidney is kidney failure
        sort, of = _SORTS.get(american(folded(head))), _organ_after(words, at)
        if sort and of:
            places = range(at, of + 1)
            near = (ORGANS[base(words[of])], sort)
            yield places, Term(" ".join(words[one] for one in places), near=near)


def is_class_of_drugs(unit: Term) -> bool:
    """Whether what a query names is a class of drugs: TNF blockers."""
    return bool(unit.members) or (bool(unit.near) and unit.near[-1] == _SORTS["inhibitor"])


def is_sort(word: str) -> bool:
    """Whether a word only says what sort of a thing it is: cancer, infection, immunotherapy."""
    plain = american(folded(word))
    return plain in _SORTS or plain.endswith(("therapy", "therapies"))


def is_eponym(word: str, query: str) -> bool:
    """Whether a word of a query is written as the name by which a disease is called."""
    after = re.search(rf"{re.escape(word)}\s+([^\W\d_]+)", query)
    return word[:1].isupper() and after is not None and is_sort(after[1])


def _organ_after(words: Sequence[str], at: int) -> int:
    """The place of the organ that a word is said of, as in failure of the kidney; 0 without one."""
    if at + 1 < len(words) and words[at + 1].casefold() in ("of", "in"):
        for place in (at + 2, at + 3):
            between = words[at + 2 : place]
            if place < len(words) and base(words[place]) in ORGANS and between in ([], ["the"]):
                return place
    return 0


def _is_plain(words: Iterable[str]) -> bool:
    """Whether these are words, without numbers and marks such as the C of hepatitis C."""
    return all(word.replace("-", "").isalpha() and len(word) > 1 for word in words)


def _with(term: Term, phrases: tuple[str, ...]) -> Term:
    return replace(term, phrases=term.phrases or phrases)


def _naming(question: str, words: Sequence[str]) -> frozenset[int]:
    """The places of the words that can name the subject."""
    every = frozenset(range(len(words)))
    what = _WHAT_IS.match(question)
    rest = question[what.end() :] if what else question
    if not _WHOLE_SENTENCE.match(question) and not _VERB.search(rest):
        return every
    return _after(words, _PREPOSITIONS)


def _after(words: Sequence[str], prepositions: frozenset[str]) -> frozenset[int]:
    """The places of what follows one of the prepositions, up to another or to a new clause."""
    places: set[int] = set()
    inside = False
    for at, word in enumerate(words):
        low = word.casefold()
        if low in prepositions:
            inside = True
        elif low in _PREPOSITIONS or low in _NEW_CLAUSE or _VERB.fullmatch(low):
            inside = False
        elif inside:
            places.add(at)
    return frozenset(places)


def _is_code(word: str) -> bool:
    """Whether a word is a code: J18.9, HER2, BNT162b2."""
    return (
        any(map(str.isdigit, word))
        and any(map(str.isalpha, word))
        and not (re.fullmatch(r"[\d.,]+([^\W\d_]+)", word) is not None)
    )


@lru_cache(maxsize=4_096)
def _is_content(word: str) -> bool:
    low = folded(word)
    return (
        (len(low) >= _SHORTEST or (len(low) == 2 and (word.isupper() or low in _SHORT_ROUTES)))
        and low not in LIGHT
        and low not in MEASURED
        and base(low) not in _ASKING
        and not is_code_system(word)
        and bool(analyse(word).terms)
        and not all(base(part) in _ASKING or part in LIGHT for part in _PART.findall(low))
        and not any(map(str.isdigit, low[:1]) if not _is_code(word) else ())
        and not is_time(low)
        and not names_people(word)
    )


@lru_cache(maxsize=4_096)
def _plain_term(word: str) -> Term:
    if route := _ROUTES.get(folded(word)):
        return Term(word, route)
    found = analyse(word)
    is_specific = is_name(word) and not is_drug(word)
    if found.forms:  # a code or a compound: as a whole
        return Term(word, frozenset(found.forms[-1:]), (" ".join(stems(word)),))
    return Term(word, ORGANS.get(base(word)) or frozenset({base(word)}), is_specific=is_specific)


def _numbered(words: Sequence[str], at: int) -> tuple[Term | None, int]:
    """A word with the number or letter after it, as in type 2 and stage IV."""
    kind = designated(words, at)
    if kind is None:
        return None, 1
    return Term(kind.text, kind=kind, is_specific=is_name(words[at])), 2


def _signed(words: Sequence[str], at: int, *, describes: bool = False) -> tuple[Term | None, int]:
    """A word with a sign that has an opposite: HER2-positive, reduced ejection fraction."""
    parts = _PART.findall(words[at])
    following = words[at + 1] if at + 1 < len(words) else ""
    if len(parts) > 1 and is_sign(parts[-1]):
        return Term(words[at], kind=signed(parts[:-1], parts[-1])), 1
    if is_sign(following) and _is_content(words[at]):
        return Term(f"{words[at]} {following}", kind=signed(parts, following)), 2
    kind = opposed(words[at], [following]) if following and _is_content(following) else None
    if kind is None or not kind.is_said:
        return None, 1
    return Term(words[at], kind=kind, is_unsaid=describes), 1


def _placed(words: Sequence[str]) -> list[tuple[int, str]]:
    """The stems of some words, each with the place of its word."""
    return [(at, stem) for at, word in enumerate(words) for stem in stems_of_word(word)]


def _phrases(words: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """The other names of the conditions that some words name, by the places of the words."""
    placed = _placed(words)
    found: dict[int, tuple[str, ...]] = {}
    for start, end, others in conditions_in(tuple(stem for _, stem in placed)):
        for at, _ in placed[start:end]:
            found[at] = others
    return found


def _classes(words: Sequence[str]) -> Iterator[tuple[range, Term]]:
    """The classes of drugs that some words name, with the places of these."""
    placed = _placed(words)
    for start, end, one in classes_in(tuple(stem for _, stem in placed)):
        places = range(placed[start][0], placed[end - 1][0] + 1)
        text = " ".join(words[at] for at in places)
        yield places, Term(text, phrases=one.phrases, members=one.words)


def lacking(terms: Sequence[Term], *texts: str) -> tuple[Term, ...]:
    """The terms that none of these texts has."""
    return tuple(
        term
        for term in terms
        if not (
            term.is_in("\n".join(texts))
            if term.is_unsaid
            else any(term.is_in(text) for text in texts)
        )
    )


@lru_cache(maxsize=4_096)
def _plain(text: str) -> str:
    return "\n".join(map(_plain, text.parts)) if isinstance(text, Lines) else folded(text)


def _is_form(word: str, other: str) -> bool:
    """Whether two stems differ in a common ending only: albuminuria, not prednisolone."""
    return _differ_in(word, other, _ENDINGS)


def _differ_in(word: str, other: str, endings: frozenset[str]) -> bool:
    shared = next(
        (at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b),
        min(len(word), len(other)),
    )
    return {word[shared:], other[shared:]} <= endings


def _are_near(
    groups: Sequence[frozenset[str]], words: Sequence[str], between: int = _BETWEEN
) -> bool:
    """Whether few words in a row have one of each group."""
    rare = min(groups, key=len)
    wide = len(groups) + between
    for at, word in enumerate(words):
        if word in rare:
            around = words[max(0, at - wide + 1) : at + wide]
            if all(not group.isdisjoint(around) for group in groups):
                return True
    return False


def _is_abbreviated(short: str, names: Sequence[str], text: str) -> bool:
    """Whether a text has an abbreviation in capitals, and does not say that it means another."""
    capitals = re.escape(short.upper())
    if not re.search(rf"(?<![^\W_]){capitals}s?(?![^\W_])", text):
        return False
    known = {word for name in names if name != short for word in name.split()}
    after = re.search(rf"(?<![^\W_]){capitals}s?\s*[(=:]\s*([^\W\d_]+[^()|\n;]{{2,80}})", text)
    if after and after[1][0].casefold() == short[0]:
        return not known.isdisjoint(stems(after[1]))
    before = re.search(rf"((?:[^\W_]+[\s-]+){{{len(short)}}})\({capitals}s?[);,]", text)
    if before and before[1][0].casefold() == short[0]:
        return not known.isdisjoint(stems(before[1]))
    return True
