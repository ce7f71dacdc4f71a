"""What are the words of a text?

``analyse`` gives them twice. ``terms`` are the words in their order: folded, in American spelling,
stemmed, without stop words; "IL-6" is ``il 6`` and "2,550" is ``2550``. ``forms`` are the names and
codes written as one word, whichever way they were written: "IL-6", "IL6" and "IL 6" share ``il6``,
"IFN-γ" and "IFN gamma" ``ifngamma``, "E11.9" and "E119" ``e119``, "10 mg" and "10mg" ``10mg``. A
search asks for both, so that loose spellings meet and the exact one comes first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from operator import itemgetter
from typing import NamedTuple

from assay.analysis.spelling import (
    GREEK,
    SHORT_GREEK,
    STOP_WORDS,
    UNIT_NAMES,
    UNITS,
    american,
    folded,
    stem,
)

MAX_WORD = 60
MAX_KNOWN = 400_000  # words whose cut is remembered; then all are forgotten
MAX_JOINED = 5  # parts that one name may have
BEGINNING = 6  # letters by which words of a text are looked up

_INSIDE = "\u0300-\u036f\u00ad\u200b-\u200d\u2060"  # accents of their own, soft hyphens
_HYPHENS = "-\u2010\u2011"
_ASCII_RAW = re.compile(r"[A-Za-z0-9]+(?:[-.,'][A-Za-z0-9]+)*")
_RAW = re.compile(
    rf"[^\W_](?:[^\W_]|[{_INSIDE}])*(?:[{_HYPHENS}.,'’·][^\W_](?:[^\W_]|[{_INSIDE}])*)*"
)
_SEPARATORS = str.maketrans({"\u2010": "-", "\u2011": "-", "’": "'", "·": "."})
_EXPONENT = re.compile(r"(?:(?<=\d)|(?<=[^\W\d_]{4}))[⁰¹²³⁴-⁹]+")  # 10⁹, and notes of authors¹²
_UNIT = "|".join(sorted(UNITS, key=len, reverse=True))
_END = rf"(?=$|[-',.]|(?:{_UNIT})(?:$|[-',.]))"
_MICRO = re.compile(r"μ(?=(?:g|l|m|u|mol)(?:$|[-',.]))")
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_GREEK = "\u0370-\u03ff"
_PART = re.compile(
    rf"(?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?{_END}|\d+(?:\.\d+)?{_END})"
    rf"|(?P<cjk>[{_CJK}]+)"
    rf"|(?P<greek>[{_GREEK}]+)"
    rf"|[^\W_{_CJK}{_GREEK}]+"
)
_CODES = (
    "ala a arg r asn n asp d cys c gln q glu e gly g his h ile i leu l lys k met m phe f pro p"
    " ser s thr t trp w tyr y val v ter x"
)
_AMINO_ACIDS = dict(zip(*[iter(_CODES.split())] * 2, strict=True))
_ACID = "|".join(_AMINO_ACIDS)
_VARIANT = re.compile(rf"({_ACID})(\d+)({_ACID})")
_LETTER = "[acdefghiklmnpqrstvwyx]"  # of an amino acid
_CHANGE = rf"{_LETTER}\d{{2,4}}{_LETTER}"
_GENE_AND_CHANGE = re.compile(rf"([a-z][a-z0-9]{{2,7}}?)({_CHANGE})")  # BRAFV600E
_COUNTED = re.compile(r"([a-z]{7,})\d{1,4}")  # Neutropenia21/503, where a blank is missing
_WITH_GREEK = re.compile(rf"([a-z]{{2,4}})({'|'.join(SHORT_GREEK)})")  # TNFalpha
_GREEK_ENDS = tuple(SHORT_GREEK)
_BLANK = "[ \u00a0\u2009\u202f]"
_GREEK_WORDS = frozenset(name for name in GREEK.values() if len(name) > 3)
_NAMES = "|".join(f"[{name[0]}{name[0].upper()}]{name[1:]}" for name in sorted(_GREEK_WORDS))
_MEASURE = re.compile(
    rf"(\d[\d,.]{{0,40}}+){_BLANK}((?:[µμ]|[^\W\d_])[^\W\d_]{{0,3}}2?|\d{{3}})(?![^\W_])"
)
_NUMBERED = re.compile(
    rf"{_BLANK}(\d[^\W_]{{0,3}}|[^\W\d_]\d|(?P<change>(?i:{_CHANGE}))|{_NAMES})(?![^\W_]|[.,]\d)"
)
_NAME_BEFORE = re.compile(r"(?<![^\W_])(?:[^\W\d_]{2,6}|interleukin|interferon)$", re.IGNORECASE)
_GENE_BEFORE = re.compile(r"(?<![^\W_])[^\W\d_][^\W_]{2,7}$")  # JAK2 in "JAK2 V617F"
LONGEST_NAME = 11
_PAIRED_WITH_GREEK = re.compile(
    rf"(?:[^\W\d_]{{2,6}}|interleukin|interferon)(?:(?i:{_NAMES})|[{''.join(SHORT_GREEK.values())}])"
)  # what such a name is as one word: ifngamma, ifng
_HYPHENED = re.compile(rf"\d+[{_HYPHENS}]\d{{3,}}|\d+(?:[{_HYPHENS}]\d+){{2,}}")
_AMOUNT = re.compile(rf"[\d.,\s-]*(?:(?:{_UNIT}|[µμ][glm]|units?|%)[\s/]*)*")
_SPAN = "s|sec|min|h|hr|hour|hourly|d|day|daily|w|wk|week|weekly|mo|month|monthly|y|yr|year|yearly"
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]{0,6}"
_DAY = r"(?:[12]?\d|0\d|3[01])"
_YEAR = r"(?:19|20)\d\d"
_TIME = re.compile(
    rf"q-?\d+(?:-\d+)?-?(?:{_SPAN})s?"  # q12h, q3w
    r"|[btq]\.?i\.?d\.?|q\.?d\.?|q\.?h\.?s\.?|p\.?r\.?n\.?"  # b.i.d.
    r"|\d+(?:\.\d+)?-?x|x-?\d+|\d+-?times?"  # 2x, x3
    rf"|\d+(?:[.-]\d+)?-?(?:{_SPAN})s?(?:-old)?|\d+-(?:arm|fold|drug|lead|point|step|way)s?"
    r"|\d*(?:1st|2nd|3rd|\dth)(?:-[a-z]+)?"
    rf"|{_YEAR}(?:-{_YEAR})?|{_YEAR}[.-](?:{_DAY}|{_MONTH})(?:[.-]{_DAY})?"
    rf"|(?:{_DAY}[.-]?)?(?:{_DAY}|{_MONTH})[.-]?{_YEAR}|{_DAY}-?{_MONTH}"
)
_FAMILIES = {"interleukin": "il", "interferon": "ifn"}  # interleukin-6 is IL-6
_FAMILY = re.compile(rf"({'|'.join(_FAMILIES)})(?=\d|{'|'.join(SHORT_GREEK)})")


class Part(NamedTuple):
    """A stretch of a word as it was written; ``term`` is "" where nobody looks for it."""

    start: int
    end: int
    term: str


class Cut(NamedTuple):
    """One word as it was written, taken apart and put together."""

    terms: tuple[str, ...]
    forms: tuple[str, ...]
    parts: tuple[Part, ...]


class Words(NamedTuple):
    """The words of a text; see the module's docstring."""

    terms: list[str]
    forms: list[str]


class Token(NamedTuple):
    """A stretch of a text, and the terms or forms that it stands for."""

    start: int
    end: int
    terms: tuple[str, ...]


class _Known(dict[str, Cut]):
    """What each word is cut into; texts repeat their words, so most are known."""

    def __missing__(self, raw: str) -> Cut:
        if len(self) >= MAX_KNOWN:
            self.clear()
        found = self[raw] = _cut(raw)
        return found


_known = _Known()


def analyse(text: str) -> Words:
    """The words of a text."""
    raw = _ASCII_RAW if text.isascii() else _RAW
    cuts = [*map(_known.__getitem__, raw.findall(text))]
    terms = [*chain.from_iterable(map(_TERMS, cuts))]
    forms = [*chain.from_iterable(map(_FORMS, cuts))]
    if len(cuts) > 1:
        for pair in _pairs(text):
            forms += pair.terms
    return Words(terms, forms)


class Lines(str):
    """Texts as one, a line each or several; what is known of the parts is not worked out again.

    No word or name goes over the end of a line.
    """

    __slots__ = ("parts",)
    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Lines:
        """The parts, with line breaks between them."""
        made = super().__new__(cls, "\n".join(parts))
        made.parts = parts
        return made


class Vocabulary:
    """The terms and forms of a text, without order or number; pairs are looked for when needed."""

    __slots__ = ("_beginnings", "_pairs", "_single", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._single: frozenset[str]
        if isinstance(text, Lines):
            self._single = frozenset().union(*(vocabulary(part)._single for part in text.parts))
        else:
            raw = _ASCII_RAW if text.isascii() else _RAW
            cuts = [*map(_known.__getitem__, {*raw.findall(text)})]
            self._single = frozenset(chain(*map(_TERMS, cuts), *map(_FORMS, cuts)))
        self._pairs: frozenset[str] | None = None
        self._beginnings: Mapping[str, Sequence[str]] | None = None

    @property
    def every(self) -> frozenset[str]:
        """All of them."""
        if self._pairs is None:
            parts = self._text.parts if isinstance(self._text, Lines) else (self._text,)
            self._pairs = frozenset().union(*map(_paired, parts))
        return self._single | self._pairs if self._pairs else self._single

    def among(self, wanted: frozenset[str]) -> frozenset[str]:
        """Those of the wanted ones that the text has."""
        found = wanted & self._single
        lacking = wanted - found if found else wanted
        if lacking and self._may_pair(lacking):
            found |= lacking & self.every
        return found

    def beginning_like(self, word: str) -> Sequence[str]:
        """Those that begin with the first six letters of a word."""
        if len(word) < BEGINNING:
            return ()
        if self._may_pair(frozenset((word,))):
            return [one for one in self.every if one.startswith(word[:BEGINNING])]
        if self._beginnings is None:
            found: defaultdict[str, list[str]] = defaultdict(list)
            for one in self._single:
                if len(one) >= BEGINNING:
                    found[one[:BEGINNING]].append(one)
            self._beginnings = found
        return self._beginnings.get(word[:BEGINNING], ())

    def _may_pair(self, wanted: frozenset[str]) -> bool:
        """Whether a pair can be wanted: it has a digit, or the name of a Greek letter."""
        known = _may_be_pairs(wanted)
        # the names of Greek letters are their own stems
        return not self._single.isdisjoint(_GREEK_WORDS) if known is None else known


@lru_cache(maxsize=4_096)
def _may_be_pairs(wanted: frozenset[str]) -> bool | None:
    """Whether a pair can be wanted of any text; None: of one with the name of a Greek letter."""
    if not all(map(str.isalpha, wanted)):
        return True
    return None if any(map(_PAIRED_WITH_GREEK.fullmatch, wanted)) else False


@lru_cache(maxsize=4_096)
def _paired(text: str) -> frozenset[str]:
    return frozenset(chain.from_iterable(one.terms for one in _pairs(text)))


@lru_cache(maxsize=4_096)
def vocabulary(text: str) -> Vocabulary:
    """The words of a text as a set; those of recent texts are remembered."""
    return Vocabulary(text)


def written_words(text: str) -> list[str]:
    """The words of a text as they are written, names and numbers as a whole."""
    found: list[str] = (_ASCII_RAW if text.isascii() else _RAW).findall(text)
    return found


def tokens(text: str) -> Iterator[Token]:
    """The words of a text with their places; a name in several parts is also one whole token."""
    raw = _ASCII_RAW if text.isascii() else _RAW
    for match in raw.finditer(text):
        cut = _known[match[0]]
        start = match.start()
        if cut.forms:
            yield Token(start, match.end(), cut.forms)
        for part in cut.parts:
            if part.term:
                yield Token(start + part.start, start + part.end, (part.term,))
    yield from _pairs(text)


def names(text: str) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The codes and exact numbers of a text: as written, their forms, and their terms.

    A code has letters and digits (I21.4, L858R), an exact number a decimal point, a unit or at
    least four digits. Numbers with hyphens between (0006-0277-54) are one code: half of it is none.
    """
    raw = _ASCII_RAW if text.isascii() else _RAW
    measures = [*_measures(text)]
    for start, end, forms in measures:
        yield text[start:end], forms, tuple(analyse(text[start:end]).terms)
    for match in raw.finditer(text):
        if any(one.start <= match.start() < one.end for one in measures):
            continue
        cut = _known[match[0]]
        if any(map(str.isdigit, match[0])):
            if any(map(str.isalpha, match[0])):
                whole = tuple(form for form in cut.forms[-1:] if _digits(form) == _digits(match[0]))
                yield match[0], whole, cut.terms
            elif _HYPHENED.fullmatch(match[0]) or is_time(match[0]):
                yield match[0], (), cut.terms
            else:
                for term in cut.terms:
                    if "." in term or len(term) > 3:
                        yield term, (term,), (term,)


def is_amount(text: str) -> bool:
    """Whether a text is a number, or an amount: 0.82, 10.8mg, 3 mg, m2."""
    plain = folded(text).translate(_SEPARATORS)
    return _AMOUNT.fullmatch(plain) is not None and _HYPHENED.fullmatch(plain) is None


def is_time(text: str) -> bool:
    """Whether a text tells how often, for how long or when: q12h, b.i.d., 2x, 12-week, 2019."""
    return _TIME.fullmatch(folded(text).translate(_SEPARATORS)) is not None


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


@lru_cache(maxsize=16_384)
def joined(first: str, second: str) -> tuple[str, ...]:
    """Two neighbouring words of a query written as one."""
    left, right = _known[first], _known[second]
    if len(left.parts) != 1 or len(right.parts) != 1 or not (left.terms and right.terms):
        return ()
    return tuple(_forms((folded(first), folded(second))))


def _cut(raw: str) -> Cut:
    if raw.isascii() and raw.isalpha() and len(raw) <= MAX_WORD:  # as most words are
        word = raw.lower()
        term = "" if word in STOP_WORDS else stem(american(word))
        whole = tuple(_forms((word,))) if word.endswith(_GREEK_ENDS) else ()
        return Cut((term,) if term else (), whole, (Part(0, len(raw), term),))
    shown = raw if raw.isascii() else _EXPONENT.sub(lambda match: "\u2060" * len(match[0]), raw)
    plain = _MICRO.sub("u", folded(shown).translate(_SEPARATORS))
    moved = len(plain) != len(raw)  # a ligature: where a part stood is not known any more
    parts: list[Part] = []
    linked: list[str] = []  # the parts that are written together so far
    forms: dict[str, None] = {}
    after, last = 0, ""
    for match in _PART.finditer(plain):
        for word, start, end in _split(match):
            if len(word) > MAX_WORD:
                continue
            possessive = word == "s" and plain[start - 1 : start] == "'"
            term = "" if word in STOP_WORDS or possessive else stem(american(word))
            parts.append(Part(0, len(raw), term) if moved else Part(start, end, term))
            if possessive:
                continue
            if linked and not _together(last, plain[after:start], word):
                forms |= dict.fromkeys(_forms(linked))
                linked = []
            if not match["cjk"]:
                linked.append(UNIT_NAMES.get(word, word))
            after, last = end, word
    forms |= dict.fromkeys(_forms(linked))
    return Cut(tuple(part.term for part in parts if part.term), tuple(forms), tuple(parts))


def _split(match: re.Match[str]) -> Iterator[tuple[str, int, int]]:
    """The words of one run of characters: Greek letters by name, Chinese by pairs."""
    text, start = match[0], match.start()
    if match["number"]:
        yield text.replace(",", ""), start, match.end()
    elif match["cjk"] and len(text) > 2:
        for at in range(len(text) - 1):
            yield text[at : at + 2], start + at, start + at + 2
    elif match["greek"] and len(text) < 3:
        for at, letter in enumerate(text):
            yield GREEK.get(letter, letter), start + at, start + at + 1
    else:
        yield text, start, match.end()


def _together(left: str, separator: str, right: str) -> bool:
    """Whether two parts of a word make one name."""
    if separator in ("", "-"):
        return not (left[-1].isdigit() and right[0].isdigit())
    return separator == "." and right[0].isdigit() and not left.isdigit()


def _forms(parts: list[str] | tuple[str, ...]) -> Iterator[str]:
    """The names that these parts make when written as one word."""
    if len(parts) == 1:
        word = parts[0]
        if gene := _GENE_AND_CHANGE.fullmatch(word):
            yield from gene.groups()
        elif greek := _WITH_GREEK.fullmatch(word):
            yield greek[1] + SHORT_GREEK[greek[2]]
        elif counted := _COUNTED.fullmatch(word):
            yield stem(american(counted[1]))
        if not word.isalpha() and not word.replace(".", "").isdigit():
            yield from _code(word)
        return
    several: list[tuple[str, ...]] = [*map(tuple, pairwise(parts))]
    if 2 < len(parts) <= MAX_JOINED:
        several.append(tuple(parts))
    for words in several:
        whole = "".join(words)
        if len(whole) > MAX_WORD:
            continue
        yield from _code(whole)
        short = "".join(SHORT_GREEK.get(word, word) for word in words)
        if short != whole:
            yield short


def _code(word: str) -> Iterator[str]:
    yield stem(american(word))
    if family := _FAMILY.match(word):
        yield _FAMILIES[family[0]] + word[family.end() :]
    if variant := _VARIANT.search(word):
        first, place, second = variant.groups()
        yield f"{_AMINO_ACIDS[first]}{place}{_AMINO_ACIDS[second]}"


def _pairs(text: str) -> Iterator[Token]:
    """What a blank parts and belongs together: a number and its unit, a name and its number."""
    yield from _measures(text)
    for match in _NUMBERED.finditer(text):
        start = match.start()
        before = _GENE_BEFORE if match["change"] else _NAME_BEFORE
        name = before.search(text, max(0, start - LONGEST_NAME - 1), start)
        if name is not None and (word := folded(name[0])) not in STOP_WORDS:
            forms = tuple(_forms((word, folded(match[1]))))
            yield Token(name.start(), match.end(), forms)


def _measures(text: str) -> Iterator[Token]:
    """Numbers with their units, and numbers whose thousands are set apart by a blank."""
    for match in _MEASURE.finditer(text):
        number, unit = folded(match[1]).rstrip(".,").replace(",", ""), match[2]
        if unit.isdigit():
            if len(number) < 4 and number.isdigit() and number[0] != "0":
                yield Token(match.start(), match.end(), (number + unit,))
        elif (word := american(_MICRO.sub("u", folded(unit)))) in UNITS:
            yield Token(match.start(), match.end(), (number + word,))


_TERMS, _FORMS = itemgetter(0), itemgetter(1)
