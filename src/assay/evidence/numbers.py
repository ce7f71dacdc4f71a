"""Which numbers does an answer state, and which of them stand in no passage that it cites?

Numbers are compared by value and unit, not by spelling: 2,550 is 2550, 10mg is 10 mg, 14.0 % is
14 percent, "three" in a passage is 3, and a range states both of its ends. A number with a unit is
also supported by the same number without one, as in a column headed "Dose (mg)". Signs are left
aside: what fell by 2.5 changed by -2.5. Numbers in names (IL-6, CYP3A4), the marks of citations and
those of lists state nothing; the number of a record (NCT01234567) does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from assay.analysis.spelling import UNITS, american
from assay.evidence.claims import sentences_of
from assay.model.answers import Answer, NumberCheck, Passage

SHOWN = 20  # numbers without support that are named
_RECORD = 5  # so many digits within a name are the number of a record
_CITED = re.compile(r"\[(?:note )?\d{1,4}(?:\s*[,;\u2013-]\s*\d{1,4})*\]")
_LISTED = re.compile(r"^[ \t]*\d{1,2}[.)](?=\s)", re.MULTILINE)
_SUPERSCRIPT = re.compile("[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+")
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))
_NUMBER = re.compile(
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)"  # 2,550.5
    r"|[1-9]\d{0,2}(?:[ \u00a0\u2009\u202f]\d{3})+(?![.,]?\d)"  # 2 550
    r"|\d+(?:[.,\u00b7]\d+)?|\.\d+)"  # 14, 14.0, 14,0 and .05
    r"[ \t\u00a0\u2009\u202f]*(?P<unit>%|percent\b|per cent\b|[^\W\d_]{1,10}(?![^\W_]))?",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*(?:-|to|and|or|/)\s*$", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_]\Z")  # $ would also see the end of the line before
_NAME_OR_HYPHEN = re.compile(r"[^\W\d_]-?\Z")
_BLANK = re.compile(r"[ \u00a0\u2009\u202f]")
_UNITS_AND_TEENS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty
"""
_SPELLED = {word: Decimal(at) for at, word in enumerate(_UNITS_AND_TEENS.split())} | {
    word: Decimal(value)
    for word, value in {
        "once": 1, "twice": 2, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
        "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100,
    }.items()
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")
_UNIT_WORD = re.compile(r"%|[^\W\d_]+")


class Number(NamedTuple):
    """A number as it was written, its value, and its unit; "" where it has none."""

    text: str
    value: Decimal
    unit: str


def numbers(text: str, *, hyphenated: bool = False) -> list[Number]:
    """The numbers that a text states in digits, in order.

    ``hyphenated`` takes those after a hyphen for numbers, too: IL-6, but also grade-3.
    """
    name = _NAME if hyphenated else _NAME_OR_HYPHEN
    found: list[Number] = []
    waiting: list[int] = []  # beginnings of ranges, which share the unit of the end
    reached = 0
    plain = _plain(text)
    for match in _NUMBER.finditer(plain):
        written, start = match["digits"], match.start()
        if not _RANGE.fullmatch(plain, reached, start):
            waiting = []
        if len(written) < _RECORD and name.search(plain, max(0, start - 2), start):
            continue
        unit = _unit(match["unit"] or "")
        reached = match.end() if unit else match.end("digits")
        found.append(Number(f"{written}{_shown(unit)}", _value(written), unit))
        waiting.append(len(found) - 1)
        if unit:
            for at in waiting:
                found[at] = found[at]._replace(unit=unit)
            waiting = []
    return found


def check_numbers(answer: Answer, passages: Iterable[Passage]) -> NumberCheck | None:
    """The numbers of an answer held against the passages it cites; None for a refusal."""
    if not answer.grounded:
        return None
    said = numbers(_LISTED.sub(" ", _CITED.sub(" ", answer.text)))
    cited = frozenset(answer.citations)
    texts = {
        one.chunk.chunk_id: f"{one.chunk.title}\n{one.chunk.text}"
        for one in (passages if said else ())
        if one.chunk.chunk_id in cited
    }
    stands = _Stated(texts.values())
    lacking = [one.text for one in said if not stands.has(one)]
    return NumberCheck(
        len(said), tuple(dict.fromkeys(lacking))[:SHOWN], _misstated(answer, texts) if said else 0
    )


def lacking_numbers(text: str, passage: str) -> tuple[str, ...]:
    """The numbers of a text that a passage does not have."""
    said = numbers(text)
    stands = _Stated([passage] if said else [])
    return tuple(one.text for one in said if not stands.has(one))


def _misstated(answer: Answer, texts: Mapping[str, str]) -> int:
    """How many numbers do not stand, with their unit, in a passage that their sentence cites."""
    count = 0
    for sentence in sentences_of(answer):
        said = numbers(sentence.text)
        read = [_Stated([texts[one]]) for one in sentence.citations if one in texts and said]
        count += sum(not any(one.has_with_unit(number) for one in read) for number in said)
    return count


class _Stated:
    """The numbers that some texts state."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._pairs: set[tuple[Decimal, str]] = set()
        self._words: set[str] = set()
        for text in texts:
            self._pairs.update(_supported(text))
            self._words.update(_unit(word) for word in _UNIT_WORD.findall(_plain(text)))
        self._values = {value for value, _ in self._pairs}

    def has(self, number: Number) -> bool:
        """Whether the number stands there, and with no other unit alone."""
        return self._is_there(number.value, number.unit) or all(
            self._is_there(part, unit) for part, unit in _apart(number)
        )

    def has_with_unit(self, number: Number) -> bool:
        """Whether it also has its unit there, which may be in the head of a column."""
        return self.has(number) and (
            not number.unit
            or (number.value, number.unit) in self._pairs
            or number.unit in self._words
        )

    def _is_there(self, value: Decimal, unit: str) -> bool:
        pairs = self._pairs
        return (
            (value, unit) in pairs or (value, "") in pairs or (not unit and value in self._values)
        )


def _supported(text: str) -> Iterator[tuple[Decimal, str]]:
    for number in numbers(text, hyphenated=True):
        yield number.value, number.unit
        if _BLANK.search(number.text):
            yield from _apart(number)
    for match in _WORD.finditer(text):
        if (value := _SPELLED.get(match[0].lower())) is not None:
            yield value, ""


def _apart(number: Number) -> list[tuple[Decimal, str]]:
    """What was read as thousands may be several numbers: "week 4 150 mg"."""
    parts = [part for part in _BLANK.split(number.text) if part[0] in ".0123456789"]
    last = len(parts) - 1
    return [(_value(part), number.unit if at == last else "") for at, part in enumerate(parts)]


def _plain(text: str) -> str:
    """One form of dashes and digits; an exponent stands apart from its base."""
    apart = _SUPERSCRIPT.sub(lambda match: f"^{match[0]}", text)
    return unicodedata.normalize("NFKC", apart).translate(_DASHES)


def _value(written: str) -> Decimal:
    digits = _BLANK.sub("", written).replace("\u00b7", ".").removesuffix("%")
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        return Decimal(digits.replace(",", ""))
    return Decimal(digits.replace(",", "."))


def _unit(written: str) -> str:
    word = " ".join(written.lower().split())
    if word in ("%", "percent", "per cent"):
        return "%"
    known = american(unicodedata.normalize("NFKC", word).replace("\u03bc", "u"))
    return known if known in UNITS else ""


def _shown(unit: str) -> str:
    return unit if unit == "%" else f" {unit}" if unit else ""
