"""Which candidates have exactly what was asked for, and do they come first?

A passage with the very code or number of the query ("I21.4", "50000 IU") may be found by words
alone, and fusion would put what three components find somewhat alike above it. So candidates that
have every code and number of the query, or belong to the study that it names, come before those
that do not, in their own order. Their account says so: the rule ``exact`` with the factor by which
their score grew.

Where the query names a drug or a compound (HSP-130), an amount lifts only what names it as well:
800 mg of another one is no match.

Names are exact, too. One of a letter and a digit (S-1, K-2) is lost among other words, so the
documents that are named so come first. Of the sections that an intent lifts, those of documents
with the very name of the query (Zometa) come before those with another name of the drug.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from assay.analysis.asked import Kind, names_asked
from assay.analysis.drugs import is_listed, other_names
from assay.analysis.spelling import folded
from assay.analysis.words import is_amount, written_words
from assay.model.document import ChunkLabels
from assay.model.names import words
from assay.search.boost import Boosted
from assay.search.response import INTENT_RULE, TABLE_RULE, Boost

RULE = "exact"
BETWEEN_CODES = ", "
MOST_WORDS = 10  # of a query; a longer one is a sentence, in which a short name is one word of many
_DIGIT = re.compile(r"\d")
_STUDY = re.compile(r"(?<![^\W_])([A-Z][A-Z0-9-]{2,})\s+(?:trial|study)\b")  # ALPHA trial
_SHORT = re.compile(r"(?<![\w-])[A-Z]-?\d{1,2}(?![\w-]|[.,]\d)")


def lift_exact(pool: Sequence[Boosted], exact: Mapping[int, str]) -> Sequence[Boosted]:
    """The pool with exact candidates first; ``exact`` says what each of them has."""
    if not exact:
        return pool
    first = [one for one in pool if one.fused.key in exact]
    rest = [one for one in pool if one.fused.key not in exact]
    if not first or not rest or first[-1].score > rest[0].score:
        return pool
    return [_lifted(one, rest[0].score, exact[one.fused.key]) for one in first] + rest


def within_drugs(
    exact: Mapping[int, str],
    query: str,
    others: Callable[[str], Sequence[str]],
    texts: Callable[[Sequence[int]], Mapping[int, str]],
) -> Mapping[int, str]:
    """What is exact, without amounts of other drugs and compounds than the query names.

    ``others`` are the synonyms of a word, ``texts`` what candidates say and are called.
    """
    amounts = [key for key, has in exact.items() if not _is_name(has)]
    names = [one for one in names_asked(query) if one.kind is Kind.DRUG or _DIGIT.search(one.text)]
    if not amounts or not names:
        return exact
    given = {folded(other) for one in names for other in others(one.text)}
    found = texts(amounts)

    def is_of_another(text: str) -> bool:
        plain = folded(text)
        return not any(one.is_in(text) for one in names) and not any(map(plain.count, given))

    of_others = {key for key in amounts if is_of_another(found.get(key, ""))}
    return {key: has for key, has in exact.items() if key not in of_others}


def with_short_names(
    exact: Mapping[int, str], query: str, labels: Mapping[int, ChunkLabels]
) -> Mapping[int, str]:
    """What is exact, with candidates whose document has a short name of the query in its names."""
    if len(query.split()) > MOST_WORDS:
        return exact
    for name, forms in _short_forms(query).items():
        named = (key for key, one in labels.items() if any(form in one.names for form in forms))
        exact = {**dict.fromkeys(named, name), **exact}
    return exact


def _short_forms(query: str) -> dict[str, tuple[str, ...]]:
    """The short names of a query, and the acronyms of studies, as the names of documents are."""
    found: dict[str, tuple[str, ...]] = {}
    for name in _SHORT.findall(query):
        letter, digits = name[0].lower(), name[1:].lstrip("-")
        found[name] = (f" {letter} {digits} ", f" {letter}{digits} ")
    for match in _STUDY.finditer(query):
        acronym = " ".join(words(match[1]))
        found[match[0]] = (f" {acronym} trial ", f" {acronym} study ")
    return found


def place_names_first(
    pool: Sequence[Boosted], query: str, labels: Mapping[int, ChunkLabels], *, detected: bool
) -> Sequence[Boosted]:
    """The pool, where the very name of a drug comes before its other names.

    That holds for what an intent lifts, and for every candidate where the name is all of the query.
    """
    words_asked = written_words(query)
    typed = [word for word in words_asked if is_listed(word)]
    if not typed or not (detected or len(words_asked) == 1):
        return pool
    own = [_padded(word) for word in typed]
    others = [_padded(name) for word in typed for name in other_names(word)[1:]]
    places = [at for at, one in enumerate(pool) if not detected or is_lifted(one)]
    names = {at: labels[pool[at].fused.key].names for at in places}
    by_name = {at for at in places if any(name in names[at] for name in own)}
    first = next(
        (at for at in places if at not in by_name and any(name in names[at] for name in others)),
        len(pool),
    )
    raised = sorted(at for at in by_name if at > first)
    if not raised:
        return pool
    score, named = pool[first].score, ", ".join(typed)
    reason = f"is named {named}: above other names of it"
    return [
        *pool[:first],
        *(_with_score(pool[at], score, named, reason) for at in raised),
        *(one for at, one in enumerate(pool[first:], first) if at not in by_name or at < first),
    ]


def _padded(name: str) -> str:
    return f" {' '.join(words(name))} "


def is_lifted(one: Boosted) -> bool:
    """Whether a candidate is of a section that is asked for, and about the subject."""
    return any(boost.applied and boost.rule in (INTENT_RULE, TABLE_RULE) for boost in one.boosts)


def _is_name(codes: str) -> bool:
    """Whether codes are more than numbers and amounts."""
    return not all(map(is_amount, codes.split(BETWEEN_CODES)))


def _lifted(one: Boosted, above: float, has: str) -> Boosted:
    return _with_score(one, one.score + above, has, f"has exactly {has}: above all that do not")


def _with_score(one: Boosted, score: float, has: str, reason: str) -> Boosted:
    factor = score / one.fused.score if one.fused.score else 1.0
    lift = Boost(RULE, RULE, 1.0, factor, has, applied=True, reason=reason)
    others = tuple(
        replace(boost, applied=False, reason="an exact match counts more") for boost in one.boosts
    )
    return one._replace(score=score, boosts=(lift, *others))
