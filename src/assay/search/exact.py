"""Which candidates have exactly what was asked for, and do they come first?

A passage with the very code or number of the query ("I21.4", "50000 IU") may be found by words
alone, and fusion would put what three components find somewhat alike above it. So candidates that
have every code and number of the query, or belong to the study that it names, come before those
that do not, in their own order. Their account says so: the rule ``exact`` with the factor by which
their score grew.

A code may be a name ("5-FU toxicity"), and a section that was asked for need not repeat it: what an
intent lifts has the codes of its document. That does not hold for amounts. Where the query names a
drug, an amount lifts only what names that drug as well: 800 mg of another one is no match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from assay.analysis.drugs import is_drug, other_names
from assay.analysis.spelling import folded
from assay.analysis.words import is_amount, written_words
from assay.model.document import ChunkLabels
from assay.search.boost import Boosted
from assay.search.response import INTENT_RULE, TABLE_RULE, Boost

RULE = "exact"
BETWEEN_CODES = ", "


def lift_exact(pool: Sequence[Boosted], exact: Mapping[int, str]) -> Sequence[Boosted]:
    """The pool with exact candidates first; ``exact`` says what each of them has."""
    if not exact:
        return pool
    first = [one for one in pool if one.fused.key in exact]
    rest = [one for one in pool if one.fused.key not in exact]
    if not first or not rest or first[-1].score > rest[0].score:
        return pool
    return [_lifted(one, rest[0].score, exact[one.fused.key]) for one in first] + rest


def with_sections(
    pool: Sequence[Boosted], exact: Mapping[int, str], labels: Mapping[int, ChunkLabels]
) -> Mapping[int, str]:
    """What is exact, with the sections that an intent lifts in the same documents."""
    named = {
        labels[key].names: has for key, has in exact.items() if key in labels and _is_name(has)
    }
    if not named:
        return exact
    sections = {
        one.fused.key: f"{named[names]} in its document"
        for one in pool
        if one.fused.key not in exact
        and (names := labels[one.fused.key].names) in named
        and any(boost.applied and boost.rule in (INTENT_RULE, TABLE_RULE) for boost in one.boosts)
    }
    return {**exact, **sections}


def within_drugs(
    exact: Mapping[int, str],
    query: str,
    others: Callable[[str], Sequence[str]],
    texts: Callable[[Sequence[int]], Mapping[int, str]],
) -> Mapping[int, str]:
    """What is exact, without amounts of other drugs than those that the query names.

    ``others`` are the synonyms of a word, ``texts`` what candidates say and are called.
    """
    drugs = [word for word in written_words(query) if is_drug(word)]
    amounts = [key for key, has in exact.items() if not _is_name(has)] if drugs else []
    if not amounts:
        return exact
    names = {folded(name) for drug in drugs for name in (*other_names(drug), *others(drug))}
    named = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, names))})")
    found = texts(amounts)
    of_others = {key for key in amounts if not named.search(folded(found.get(key, "")))}
    return {key: has for key, has in exact.items() if key not in of_others}


def _is_name(codes: str) -> bool:
    """Whether codes are more than numbers and amounts."""
    return not all(map(is_amount, codes.split(BETWEEN_CODES)))


def _lifted(one: Boosted, above: float, has: str) -> Boosted:
    score = one.score + above
    factor = score / one.fused.score if one.fused.score else 1.0
    reason = f"has exactly {has}: above all that do not"
    lift = Boost(RULE, RULE, 1.0, factor, has, applied=True, reason=reason)
    others = tuple(
        replace(boost, applied=False, reason="an exact match counts more") for boost in one.boosts
    )
    return one._replace(score=score, boosts=(lift, *others))
