"""How often is something given, however it is written?

"twice daily", "two times a day", "b.i.d.", "every 12 hours" and "q12h" say the same: one dose in
half a day. A frequency is kept as the days from one dose to the next. "10 mg a day" and "10 mg/day"
say how much and leave open how often; as part of a passage they allow for once a day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

_COUNTS = {
    "once": 1, "one": 1, "twice": 2, "two": 2, "thrice": 3, "three": 3, "four": 4, "five": 5,
    "six": 6, "eight": 8, "ten": 10, "twelve": 12, "other": 2, "second": 2, "third": 3, "fourth": 4,
}  # fmt: skip
_DAYS = {
    "h": Fraction(1, 24), "hour": Fraction(1, 24), "d": Fraction(1), "day": Fraction(1),
    "dai": Fraction(1), "w": Fraction(7), "week": Fraction(7), "month": Fraction(30),
    "year": Fraction(365),
}  # fmt: skip
_COUNT = rf"(?:\d{{1,2}}|{'|'.join(_COUNTS)})"
_SPAN = r"(?:hour|day|week|month|year)"
_TIMES = re.compile(
    rf"\b(?P<count>once|twice|thrice|{_COUNT}(?:\s+(?:to|or)\s+{_COUNT})?\s*(?:times|x))"
    rf"(?:\s*/\s*|\s+(?:(?:a|an|per|each|every|in\s+a)\s+)?)"
    rf"(?P<span>hour|day|dai|week|month|year)(?:ly|s)?\b",
    re.IGNORECASE,
)
_EVERY = re.compile(
    rf"\b(?:every|each)\s+(?:(?P<count>{_COUNT})\s+)?(?P<span>{_SPAN})s?\b", re.IGNORECASE
)
_BARE = re.compile(
    r"(?<![\w-])(?P<span>hour|dai|week|month|year)ly\b(?!\s+(?:dose|dosage))", re.IGNORECASE
)
_LATIN = {"qd": 1, "bid": 2, "tid": 3, "qid": 4}
_SHORT = re.compile(r"(?<![\w.])(?P<name>[qbt]\.?i?\.?d)\.?(?![\w])", re.IGNORECASE)
_Q = re.compile(r"\bq(?P<count>\d{1,2})(?P<span>[hdw])\b", re.IGNORECASE)
_AMOUNT = re.compile(
    r"\d\s*[^\W\d_]{1,5}(?:/kg)?\s*(?:/|\s(?:a|per|each)\s)\s*(?P<span>day|week)\b"
)


def frequencies(text: str) -> dict[Fraction, str]:
    """The days between doses that a text states, each with its words."""
    found: dict[Fraction, str] = {}
    for days, words in _stated(text):
        found.setdefault(days, " ".join(words.split()))
    return found


def other_frequency(claim: str, passage: str) -> str:
    """How often a claim says, where a passage says how often and never that; empty: nothing."""
    said = frequencies(claim)
    known = frequencies(passage) if said else {}
    if not known:
        return ""
    amounts = {_DAYS[one["span"].lower()] for one in _AMOUNT.finditer(passage)}
    return next((words for days, words in said.items() if days not in {*known, *amounts}), "")


def _stated(text: str) -> Iterator[tuple[Fraction, str]]:
    left = text
    for form in (_TIMES, _EVERY):
        for match in form.finditer(left):
            span = _DAYS[match["span"].lower()]
            for count in _counted(match["count"]):
                yield (span / count if form is _TIMES else span * count), match[0]
        left = form.sub(" ", left)
    for match in _BARE.finditer(left):
        yield _DAYS[match["span"].lower()], match[0]
    for match in _Q.finditer(left):
        yield _DAYS[match["span"].lower()] * int(match["count"]), match[0]
    for match in _SHORT.finditer(left):
        if times := _LATIN.get(match["name"].replace(".", "").lower()):
            yield Fraction(1, times), match[0]


def _counted(words: str | None) -> list[int]:
    """The counts of "two", "3 times" or "2 to 3 times"; 1 where nothing is said."""
    parts = re.findall(r"\d+|[a-z]+", (words or "").lower())
    found = [int(one) if one.isdigit() else _COUNTS.get(one, 0) for one in parts]
    return [one for one in found if one] or [1]
