"""Which words of a question name its subject, and does a text have all of them?

"Inclusion criteria of the melanoma trial" asks for criteria, and only what has melanoma in its text
or in the names of its document may answer. Words that ask (criteria, dose, outcome, treatment),
general words and units name nothing. A question in a whole sentence ("how long are counts needed")
also describes what it looks for: there, only codes and what follows a preposition name the subject.
The other names of a condition stand for it.

Some words mean nothing alone. A number or letter belongs to the word before it (type 2, stage IV,
hepatitis C), and a sign to what it is said of (HER2-positive, reduced ejection fraction): a text
that has type 1 and elsewhere a 2 is not about type 2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from assay.analysis.asked import names_people
from assay.analysis.conditions import conditions_in, stems
from assay.analysis.spelling import UNIT_NAMES, UNITS, base, folded
from assay.analysis.words import analyse, vocabulary
from assay.evidence.confidence import LIGHT, OF_SECTIONS

_WORD = re.compile(r"[^\W_]+(?:[-\u2010\u2011'’.][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s?$")
_ASKING_TEXT = """
administer administered administration aim aims amount amounts analysis ask asked avoid baseline
begin benefit benefits best bolus cause caused causes characteristics choice clinical code codes
compare conclusion conclusions condition conditions confidence consent contain contained contains
course cure daily data date define defined definition describe described design diagnosis disease
document done duration efficacy effective effectiveness eligibility eligible endpoint endpoints
enrolled enrollment estimate every exclude excluded exclusion experience experienced explain
finding findings first frequency frequently guideline guidelines half hazard hear hypothesis
important improve improved include included includes inclusion incidence increase increased
indicate information initial interval intervention interventions intravenous intravenously involved
know known large last length life line list listed loading maintenance manage management max maximal
mean means measure measured median mention mentioned method methods min minimal monitor monitored
monitoring monthly name names need needed needs objective observed occur occurred occurs odds oral
orally outcome outcomes paper period phase point points possible posology prescribe prescribed
prescribing present prevalence prevent primary program proportion protocol purpose question
randomised randomized range ratio reason reasons recommend recommendation recommendations
recruited reduce reduction regimen regimens relative report reporting require required requirements
risk risks route safety schedule second secondary section see seen serious severe severity
show showed shown shows sign significant signs single size specific standard state stated stop
stopped strategy summary symptom symptoms syndrome table tables target targets test tested tests
therapies toxicities toxicity twice typical value values weekly work works write yearly
"""
_ASKING = frozenset(base(word) for word in _ASKING_TEXT.split()) | OF_SECTIONS
_PREPOSITIONS = frozenset("about against for in of on with".split())
_LETS_GO = frozenset("a an the or and any his her their your my its".split())
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
_DESIGNATOR = re.compile(r"\d{1,2}[A-Za-z]?|[IVX]{1,4}[ABC]?|[A-HJ-Z]")
_NO_HEADS = frozenset(
    """about above after age and arm at before below between case cohort cycle day days for from
    group hour hours in least month months of on over part score the than to under up version week
    weeks with year years""".split()
)
_MEASURED = UNITS | frozenset(UNIT_NAMES) | frozenset(
    "day days hour hours minute minutes month months percent unit units week weeks year years".split()
)  # fmt: skip
_NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_OPPOSITES_TEXT = """
acute chronic, benign malignant, diastolic systolic, hemorrhagic ischemic, inoperable operable,
left right, lower upper, negative positive, postmenopausal premenopausal, preserved reduced,
resectable unresectable, resistant sensitive, stable unstable, treated untreated
"""
_OPPOSITES = {
    one: other
    for pair in (line.split() for line in _OPPOSITES_TEXT.split(","))
    for one, other in (pair, pair[::-1])
}
_SIGNED = ("positive", "negative")
_BEGINNING = 7  # letters in which two forms of one word agree: albuminuric, albuminuria
_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Term:
    """What a passage must have: one of the words, one of the phrases, or what the pattern finds."""

    text: str
    words: frozenset[str] = frozenset()
    phrases: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None

    def is_in(self, text: str) -> bool:
        """Whether a text has it, in whatever spelling."""
        if self.pattern is not None and self.pattern.search(_plain(text)):
            return True
        if self.words and (
            vocabulary(text).among(self.words) or not self.words.isdisjoint(_beginnings(text))
        ):
            return True
        return any(f" {phrase} " in _in_a_row(text) for phrase in self.phrases)


@lru_cache(maxsize=256)
def subject_terms(question: str) -> tuple[Term, ...]:
    """The terms that name what a question is about."""
    matches = [*_WORD.finditer(question)]
    words = [_POSSESSIVE.sub("", match[0]) for match in matches]
    naming = _naming(question, words)
    phrases = _phrases(words)
    found: dict[str, Term] = {}
    taken: set[int] = set()
    for at, word in enumerate(words):
        if at in taken:
            continue
        for term, length in (_numbered(words, at), _signed(words, at)):
            if term is not None:
                if at in naming or at + length - 1 in naming or length > 1:
                    found.setdefault(term.text, _with(term, phrases.get(at, ())))
                taken.update(range(at, at + length))
                break
        else:
            if at in naming and _is_content(word):
                found.setdefault(word, _with(_plain_term(word), phrases.get(at, ())))
    return tuple(found.values())


def _with(term: Term, phrases: tuple[str, ...]) -> Term:
    return Term(term.text, term.words, phrases, term.pattern)


def _naming(question: str, words: Sequence[str]) -> frozenset[int]:
    """The places of the words that can name the subject."""
    every = frozenset(range(len(words)))
    what = _WHAT_IS.match(question)
    rest = question[what.end() :] if what else question
    if not _WHOLE_SENTENCE.match(question) and not _VERB.search(rest):
        return every
    places: set[int] = {at for at in every if _is_code(words[at])}
    inside = False
    for at, word in enumerate(words):
        low = word.casefold()
        if low in _PREPOSITIONS:
            inside = True
        elif _VERB.fullmatch(low) or low in ("who", "that", "which", "when", "if", "to", "by"):
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


def _is_content(word: str) -> bool:
    low = folded(word)
    return (
        (len(low) >= _SHORTEST or (len(low) == 2 and word.isupper()))
        and low not in LIGHT
        and low not in _MEASURED
        and base(low) not in _ASKING
        and bool(analyse(word).terms)
        and not all(base(part) in _ASKING or part in LIGHT for part in _PART.findall(low))
        and not any(map(str.isdigit, low[:1]) if not _is_code(word) else ())
        and not names_people(word)
    )


def _plain_term(word: str) -> Term:
    found = analyse(word)
    if found.forms:  # a code or a compound: as a whole
        return Term(word, frozenset(found.forms[-1:]), (" ".join(stems(word)),))
    term = base(word)
    return Term(word, frozenset({term, term[:_BEGINNING]} if len(term) >= _BEGINNING else {term}))


def _numbered(words: Sequence[str], at: int) -> tuple[Term | None, int]:
    """A word with the number or letter after it, as in type 2 and stage IV."""
    if at + 1 >= len(words) or not _DESIGNATOR.fullmatch(words[at + 1]):
        return None, 1
    head, mark = folded(words[at]), folded(words[at + 1])
    after = folded(words[at + 2]) if at + 2 < len(words) else ""
    if not head.isalpha() or len(head) < 4 or head in _NO_HEADS or after in _MEASURED:
        return None, 1
    forms = {mark}
    if mark in _NUMERALS:
        forms.add(str(_NUMERALS.index(mark) + 1))
    elif mark.isdigit() and 0 < int(mark) <= len(_NUMERALS):
        forms.add(_NUMERALS[int(mark) - 1])
    any_of = "|".join(
        f"{re.escape(form)}[abc]?" if form.isalpha() and len(form) > 1 else re.escape(form)
        for form in sorted(forms)
    )
    listed = r"(?:[\divx]{1,4}[abc]?|[a-h]|and|or|to|through)"
    pattern = (
        rf"(?<![^\W_]){re.escape(head)}s?[\W_]{{0,3}}(?:{listed}[\W_]{{1,4}}){{0,4}}(?:{any_of})(?![^\W_])"
        rf"|(?<![^\W_]){re.escape(head[0])}(?:{'|'.join(map(re.escape, sorted(forms)))})[a-z]{{1,3}}(?![^\W_])"
    )
    return Term(f"{words[at]} {words[at + 1]}", pattern=re.compile(pattern)), 2


def _signed(words: Sequence[str], at: int) -> tuple[Term | None, int]:
    """A word with a sign that has an opposite, as in HER2-positive and reduced ejection fraction."""
    parts = [folded(part) for part in _PART.findall(words[at])]
    if len(parts) > 1 and parts[-1] in _SIGNED:
        of = r"[\W_]*".join(map(re.escape, parts[:-1]))
        sign = r"\+" if parts[-1] == "positive" else r"[-\u2212](?!\w)"
        pattern = (
            rf"(?<![^\W_]){of}(?:[\W_]+{parts[-1]}|{sign})|{parts[-1]}\s+(?:for\s+)?{of}(?![^\W_])"
        )
        return Term(words[at], pattern=re.compile(pattern)), 1
    if at + 1 < len(words) and folded(words[at + 1]) in _SIGNED and _is_content(words[at]):
        term, _ = _signed([f"{words[at]}-{words[at + 1]}"], 0)
        return term and Term(f"{words[at]} {words[at + 1]}", pattern=term.pattern), 2
    low = folded(words[at])
    if low in _OPPOSITES and at + 1 < len(words) and _is_content(words[at + 1]):
        noun = folded(words[at + 1])[:_BEGINNING]
        between = r"(?:[\W_]+(?:and|or|/)?[\W_]*[^\W_]+)?[\W_]+"
        pattern = rf"(?<![^\W_]){re.escape(low)}{between}{re.escape(noun)}"
        return Term(words[at], pattern=re.compile(pattern)), 1
    return None, 1


def _phrases(words: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """The other names of the conditions that some words name, by the places of the words."""
    placed = [(at, stem) for at, word in enumerate(words) for stem in stems(word)]
    found: dict[int, tuple[str, ...]] = {}
    for start, end, others in conditions_in(tuple(stem for _, stem in placed)):
        for at, _ in placed[start:end]:
            found[at] = others
    return found


def lacking(terms: Sequence[Term], *texts: str) -> tuple[Term, ...]:
    """The terms that none of these texts has."""
    return tuple(term for term in terms if not any(term.is_in(text) for text in texts))


@lru_cache(maxsize=4_096)
def _plain(text: str) -> str:
    return folded(text)


@lru_cache(maxsize=4_096)
def _beginnings(text: str) -> frozenset[str]:
    return frozenset(
        word[:_BEGINNING] for word in vocabulary(text).every if len(word) >= _BEGINNING
    )


@lru_cache(maxsize=4_096)
def _in_a_row(text: str) -> str:
    return f" {' '.join(stems(text))} "
