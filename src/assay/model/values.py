"""When do two values of metadata mean the same, and which of them is greater?

Between values only letters and digits count, whatever their case, accents and British spelling:
``Active, not recruiting`` is ``ACTIVE_NOT_RECRUITING``. What changes the meaning is kept apart: a
decimal point (1.5 mg, 15 mg), a sign (HER2+, HER2-), a bound (<18, 18). The name of a numbered
field says nothing in its values, and Roman numerals are numbers: in ``phase``, ``3``, ``PHASE3``
and ``Phase III`` are one value, and ``Phase 2/Phase 3`` is two. Numbers are compared as numbers.
Dates are read in the usual ways of writing; one that is written less exactly stands for all days in
it, and where day and month cannot be told apart, only the year counts.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

from assay.analysis.spelling import american, folded

_HEADS = "phase|stage|grade|class|type|level|group|part|category|tier"
_ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_ROMAN = "|".join(sorted(_ROMANS, key=len, reverse=True))
_AFTER_HEAD = re.compile(rf"(?<![^\W_])({_HEADS})(s?[\s_-]*)({_ROMAN})(?=[abc]?(?![^\W_]))")
_NUMERAL = re.compile(rf"({_ROMAN})([abc]?)")
_NUMBERED = re.compile(r"\d{1,2}[abc]?")
_SEVERAL = re.compile(r"(?:(?<!\s)\s*|(?<=\s))(?:[/|,;&+\u2013-]|\band\b|\bor\b|\bto\b)\s*")
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_TOKEN = re.compile(r"\d+(?:\.\d+)?|(?<!\d)\.\d+|[^\W\d_]+")
_PLUS, _MINUS = (
    re.compile(r"(?<=[^\W_])\+(?![^\W_])"),
    re.compile(r"(?<=[^\W_])[-\u2212](?![^\W_])"),
)
_BOUNDS = str.maketrans({"<": " under ", ">": " over ", "≤": " upto ", "≥": " from "})
_SAME = {"yes": "true", "no": "false", "notapplicable": "na"}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<m>jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\.?"
_YEAR = r"(?P<y>(?:1[6-9]|20)\d{2})"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_CLOCK = r"(?:[t ][\d:.]+(?:z|[+-][\d:]+)?)?"
_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_YEAR}(?:[-/.](?P<m>\d{{1,2}})(?:[-/.](?P<d>\d{{1,2}}){_CLOCK})?)?",
        rf"(?:{_DAY}[\s-]+)?{_MONTH}[\s,-]+{_YEAR}",
        rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}",
        rf"{_YEAR}\s+{_MONTH}(?:\s+{_DAY})?",
    )
)
_IN_FIGURES = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-]((?:19|20)\d{2})")
_LAST_MONTH = 12
_IS_DATE = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-\d{2})?)?")


def same(field: str, value: str, wanted: str) -> bool:
    """Whether a value of a field is the one that is wanted."""
    if value == wanted:
        return True
    orders = [*_orders(field, value, wanted)]
    return 0 in orders or not spellings(field, value).keys().isdisjoint(spellings(field, wanted))


def is_ordered(field: str, value: str, bound: str, orders: frozenset[int]) -> bool:
    """Whether a value is less than (-1), the same as (0) or more than (1) a bound."""
    return not orders.isdisjoint(_orders(field, value, bound))


def _orders(field: str, value: str, bound: str) -> Iterator[int]:
    for left in spellings(field, value):
        for right in spellings(field, bound):
            if _NUMBER.fullmatch(left) and _NUMBER.fullmatch(right):
                one, other = Decimal(left), Decimal(right)
                yield (one > other) - (one < other)
            elif _IS_DATE.fullmatch(left) and _IS_DATE.fullmatch(right):
                part = left[: len(right)]
                yield (part > right) - (part < right)


def spellings(field: str, value: str) -> Mapping[str, str]:
    """What a value means, as it is compared, and how that is written; mostly one thing."""
    return _spellings(_head_of(field), value)


def plain(text: str) -> str:
    """Letters and digits alone, as names and values are compared."""
    return _plain(_AFTER_HEAD.sub(_arabic, folded(text)))


@lru_cache(maxsize=1_024)
def _head_of(field: str) -> str:
    """The word that numbered values of a field may repeat: phase, also for ``trial_phases``."""
    found = re.search(rf"(?<![^\W_])(?:.*[\W_])?({_HEADS})s?$", folded(field))
    return found[1] if found else ""


@lru_cache(maxsize=65_536)
def _spellings(head: str, value: str) -> Mapping[str, str]:
    low = folded(value).strip()
    if _NUMBER.fullmatch(low):
        return {_number(low): value}
    if date := _date(low):
        return {date: value}
    if not head:
        return {_plain(_AFTER_HEAD.sub(_arabic, low)) or low: value}
    parts = _SEVERAL.split(low)
    several = {_numbered(head, one): one for one in parts}
    if len(several) > 1 and all(map(_NUMBERED.fullmatch, several)):
        written = _SEVERAL.split(value.strip())
        return dict(zip(several, written if len(written) == len(several) else several, strict=True))
    return {_numbered(head, low) or low: value}


def _numbered(head: str, low: str) -> str:
    """A value of a numbered field without the field's name, in Arabic numerals."""
    bare = (
        re.sub(rf"(?<![^\W\d_]){head}s?(?![^\W\d_])", " ", _AFTER_HEAD.sub(_arabic, low))
        .replace("_", " ")
        .strip()
    )
    if found := _NUMERAL.fullmatch(bare):
        bare = f"{_ROMANS.index(found[1]) + 1}{found[2]}"
    return _plain(bare) or _plain(low)


def _arabic(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2]}{_ROMANS.index(found[3]) + 1}"


def _plain(low: str) -> str:
    text = _MINUS.sub(" negative ", _PLUS.sub(" positive ", low)).translate(_BOUNDS)
    tokens = [
        american(one) if one[-1].isalpha() else _number(one if one[0] != "." else f"0{one}")
        for one in _TOKEN.findall(_THOUSANDS.sub("", text))
    ]
    apart = ["-" if a[-1].isdigit() and b[0].isdigit() else "" for a, b in pairwise(tokens)]
    joined = "".join(f"{between}{one}" for between, one in zip(["", *apart], tokens, strict=False))
    return _SAME.get(joined, joined)


def _number(text: str) -> str:
    """``3`` for 3.0; zeros before a number are part of a code."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _date(low: str) -> str:
    """The date that is written here in ISO's form, as exactly as it is certain; "" for others."""
    for pattern in _DATES:
        if found := pattern.fullmatch(low):
            parts = found.groupdict()
            return _whole(parts["y"], parts.get("m") or "", parts.get("d") or "")
    if found := _IN_FIGURES.fullmatch(low):
        first, second, year = found.groups()
        if int(first) <= _LAST_MONTH and int(second) <= _LAST_MONTH and first != second:
            return year  # March or April, the 3rd or the 4th
        months_first = int(first) <= _LAST_MONTH
        return _whole(year, *((first, second) if months_first else (second, first)))
    return ""


def _whole(year: str, month: str, day: str) -> str:
    """A date with all that is given of it; "" where there is no such day."""
    found = iso_date(year, month, day)
    return found if found.count("-") == bool(month) + bool(day) else ""


def iso_date(year: str, month: str = "", day: str = "") -> str:
    """An ISO date as exact as these parts allow; empty without a year. A month may be a word."""
    if not re.fullmatch(r"[12]\d{3}", year):
        return ""
    number = _MONTHS.index(month[:3].lower()) + 1 if month[:3].lower() in _MONTHS else month
    if not str(number).isdecimal() or not 1 <= int(number) <= _LAST_MONTH:
        return year
    if not day.isdecimal() or not 1 <= int(day) <= monthrange(int(year), int(number))[1]:
        return f"{year}-{int(number):02}"
    return f"{year}-{int(number):02}-{int(day):02}"
