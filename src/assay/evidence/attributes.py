"""Does a question ask for a fact that only certain words can state: a price, a date, a maker?

Passages about a drug have words in common with most questions about it: labels say "approved" and
"developed" often, and never when or by whom. So a sentence answers such a question only if it
states an amount of money, a year, or who did it. Some facts must be called by their name: nothing
else says whether there is a generic. What is given every 6 months is not what is given every 12
weeks.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MADE = r"approv|authori[sz]|develop|discover|introduc|invent|launch|licen[sc]|market|patent"
_ENDED = r"expir|recall|withdr[ae]w"
_DONE = (
    r"(?:creat|design|develop|discover|distribut|invent|manufactur|market|patent|produc|synthesi[sz])"
    r"e?[ds]|(?:made|makes|owns|owned|sells|sold)"
)
_MONEY = r"\b(?:dollars?|euros?|pounds? sterling|USD|EUR|GBP|CHF)\b"


class Attribute(NamedTuple):
    """A fact, the questions that ask for it, and the sentences that state it."""

    name: str
    asks: re.Pattern[str]
    states: re.Pattern[str]


def _attribute(name: str, asks: str, states: str) -> Attribute:
    return Attribute(name, re.compile(asks, re.IGNORECASE), re.compile(states, re.DOTALL))


ATTRIBUTES = (
    _attribute(
        "a price",
        r"\b(?:costs?(?![- ](?:effective|utility|benefit))|prices?|priced|how expensive)\b",
        rf"[$€£¥]\s?\d|\d\s?[$€£¥]|(?i:\d\s?{_MONEY}|{_MONEY}\s?\d"
        r"|\b(?:costs?|prices?)\b.{0,60}\d)",
    ),
    _attribute(
        "a date",
        rf"\b(?:when|since when|(?:what|which) (?:year|date))\b.*\b(?:{_MADE}|{_ENDED})"
        rf"|\b(?:approval|launch|expiry|expiration|licen[sc]e|patent) (?:date|year)\b"
        rf"|\b(?:date|year) (?:of|when)\b.*\b(?:{_MADE}|{_ENDED})",
        rf"(?i:\b(?:{_MADE}|{_ENDED})).*\b(?:1[89]|20)\d\d\b"
        rf"|\b(?:1[89]|20)\d\d\b.*(?i:\b(?:{_MADE}|{_ENDED}))",
    ),
    _attribute(
        "who did it",
        rf"\bwho\s+(?:\w+\s+)?(?:{_DONE})\b(?!\s+(?:an?|any|no|some)\b)"
        r"|\b(?:discoverer|distributor|inventor|maker|manufacturer|owner) of\b",
        rf"(?i:\b(?:{_DONE}|packed)(?: and \w+)? (?:by|for):?\s+(?:the\s+)?)[A-Z]",
    ),
)


CALLED_BY_NAME = re.compile(
    r"\b(?:ATC|CAS)\b|\b(?i:biosimilar|generic(?! name)|insurance|patent|reimburse|revenue|sales)"
)

_SPELLED = ("", "", "two", "three", "four", "five", "six", "seven", "eight")
_EVERY = re.compile(
    rf"\bevery (\d{{1,2}}|{'|'.join(filter(None, _SPELLED))}) (hour|day|week|month|year)s?\b",
    re.IGNORECASE,
)


def _interval(match: re.Match[str]) -> Attribute:
    """What is given at this interval: every 6 months, every six months, Q6M."""
    said, unit = match[1].lower(), match[2].lower()
    number = _SPELLED.index(said) if said in _SPELLED else int(said)
    forms = [str(number), *_SPELLED[number : number + 1]]
    if number == 2:
        forms.append("other")
    often = rf"\b(?:{'|'.join(filter(None, forms))})[- ]{unit}|\bq\s?{number}\s?{unit[0]}"
    return Attribute(match[0], _EVERY, re.compile(often, re.IGNORECASE))


def attributes_asked(question: str) -> tuple[Attribute, ...]:
    """The facts of this kind that a question asks for."""
    found = [one for one in ATTRIBUTES if one.asks.search(question)]
    for match in CALLED_BY_NAME.finditer(question):
        called = re.compile(rf"\b{match[0]}", re.IGNORECASE)
        found.append(Attribute(match[0], CALLED_BY_NAME, called))
    found += map(_interval, _EVERY.finditer(question))
    return tuple(found)


def states_all(text: str, attributes: tuple[Attribute, ...]) -> bool:
    """Whether a sentence states each of them."""
    return all(one.states.search(text) for one in attributes)
