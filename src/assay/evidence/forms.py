"""Which form of a drug does a question ask for: by which route, released at once or slowly?

The tablets and the injection of one drug share its name and not its dose. So do tablets that
release it at once, and those that release it over a day: XR, ER, prolonged-release. A query names a
form beside the name of a drug, or where it asks for a dose; "oral mucositis" names none, nor does a
query with two routes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from assay.analysis.drugs import is_drug
from assay.analysis.spelling import folded
from assay.evidence.kinds import Kind

_INTO_VEIN = (
    r"intravenous(?:ly)?|infus(?:ion|ions|ed|e)|drip|bolus"
    r"|(?<!stage )(?<!phase )(?<!grade )(?<!class )(?<!type )(?<!and )(?<!or )(?<!iii[-/])i\.?v\.?"
)
_INTO_MUSCLE = r"intramuscular(?:ly)?|i\.?m\.?"
_UNDER_SKIN = r"subcutaneous(?:ly)?|under the skin|s\.?c\.?|subcut|sq"
_NOT_GIVEN = (
    r"(?![\s-]+(?:anticoag|antidiab|candid|cancer|cavit|contracep|health|hygien|hypoglyc|lesion"
    r"|mucos|pain|temperature|thrush|ulcer))"
)
_ROUTES = {
    "oral": rf"oral(?:ly)?{_NOT_GIVEN}|by mouth|p\.?o\.?|tablets?|capsules?|caplets?|pills?"
    r"|swallow(?:ed)?",
    "intravenous": _INTO_VEIN,
    "intramuscular": _INTO_MUSCLE,
    "subcutaneous": _UNDER_SKIN,
    "intrathecal": r"intrathecal(?:ly)?",
    "inhaled": r"inhal(?:ed|ation|ations|ers?)|nebuli[sz](?:ed|ers?|ation)",
    "intranasal": r"intranasal(?:ly)?|nasal spray",
    "rectal": r"rectally|suppositor(?:y|ies)",
    "topical": r"topical(?:ly)?|cream|ointment|lotion|gel|foam",
    "transdermal": r"transdermal(?:ly)?|patch(?:es)?",
}
_INJECTED = "injected"
_INJECTION = r"inject(?:ion|ions|ed|able)?"
_BY_NEEDLE = ("intravenous", "intramuscular", "subcutaneous", "intrathecal")
_SLOWLY = r"(?:extended|prolonged|sustained|controlled|modified|slow)[\s-]+release"
_AT_ONCE = r"(?:immediate|instant|regular|conventional)[\s-]+release"
_SHORT_SLOWLY, _SHORT_AT_ONCE = "er|sr|cr|mr|la|pr", "ir"
_OF_PRODUCT = r"(?=[\s:,)]*(?:tablets?|capsules?|caplets?|formulation|\d|once|twice))"
_RELEASES = {
    "extended release": rf"{_SLOWLY}|xr|xl|(?:{_SHORT_SLOWLY}){_OF_PRODUCT}",
    "immediate release": rf"{_AT_ONCE}|(?:{_SHORT_AT_ONCE}){_OF_PRODUCT}",
}
_TYPED = {
    "extended release": rf"{_SLOWLY}|xr|xl|{_SHORT_SLOWLY}",
    "immediate release": rf"{_AT_ONCE}|{_SHORT_AT_ONCE}",
}
_SAID = frozenset((*_BY_NEEDLE, _INJECTED, "extended release"))
_DOSE = re.compile(r"\b(?:dos(?:e|es|age|ing)|max(?:imum)?|how much|posology)\b")
_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")


def _whole(pattern: str) -> str:
    return rf"(?<![^\W_])(?:{pattern})(?![^\W_])"


@lru_cache(maxsize=256)
def routes_asked(query: str) -> tuple[Kind, ...]:
    """The route by which a drug is to be given; none where a query names several."""
    plain = folded(query)
    asked = [
        route
        for route, pattern in _ROUTES.items()
        if any(_is_of_drug(plain, *one) for one in _places(pattern, plain))
    ]
    if not asked and any(_is_of_drug(plain, *one) for one in _places(_INJECTION, plain)):
        asked = [_INJECTED]
    if len(asked) != 1:
        return ()
    (own,) = asked
    by_needle = {_INJECTED: (*_BY_NEEDLE, _INJECTED)}.get(own, (own,))
    others = [pattern for route, pattern in _ROUTES.items() if route not in by_needle]
    if own in _BY_NEEDLE:
        said = _ROUTES[own]
    elif own == _INJECTED:
        said = "|".join((_INJECTION, *map(_ROUTES.__getitem__, _BY_NEEDLE)))
    else:
        said = _ROUTES[own]
        others.append(_INJECTION)
    return (Kind(own, _whole(said), _whole("|".join(others))),)


@lru_cache(maxsize=256)
def releases_asked(query: str) -> tuple[Kind, ...]:
    """Whether a drug is to be released slowly or at once; none where a query names both."""
    plain = folded(query)
    asked = [name for name, pattern in _TYPED.items() if any(_releases(plain, pattern))]
    if len(asked) != 1:
        return ()
    (own,) = asked
    (other,) = (name for name in _RELEASES if name != own)
    return (Kind(own, _whole(_RELEASES[own]), _whole(_RELEASES[other])),)


def forms_asked(query: str) -> tuple[Kind, ...]:
    """Every form that a query asks for."""
    return (*routes_asked(query), *releases_asked(query))


def without_releases(query: str) -> str:
    """A query without the words for how a drug is released."""
    plain = folded(query)
    if len(plain) == len(query):
        for pattern in _TYPED.values():
            for start, end in _releases(plain, pattern):
                query = f"{query[:start]}{' ' * (end - start)}{query[end:]}"
    return query


def must_be_said(kind: Kind) -> bool:
    """Whether a text about this form says so; what is swallowed or put on need not."""
    return kind.text in _SAID


def _releases(plain: str, pattern: str) -> Iterator[tuple[int, int]]:
    """Where a query says how a drug is released; two letters say so behind its name only."""
    for start, end in _places(pattern, plain):
        before = _WORD.findall(plain[:start])
        if end - start > 2 or (before and is_drug(before[-1])):
            yield start, end


def _places(pattern: str, plain: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(_whole(pattern), plain)]


def _is_of_drug(plain: str, start: int, end: int) -> bool:
    """Whether a route stands beside the name of a drug, or a dose is asked for."""
    if _DOSE.search(plain):
        return True
    beside = (*_WORD.findall(plain[:start])[-1:], *_WORD.findall(plain[end:])[:1])
    return any(map(is_drug, beside))
