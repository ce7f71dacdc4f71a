"""Which candidates have exactly what was asked for, and do they come first?

A passage with the very code or number of the query ("I21.4", "50000 IU") may be found by words
alone, and fusion would put what three components find somewhat alike above it. So candidates that
have every code and number of the query, or belong to the study that it names, come before those
that do not, in their own order. Their account says so: the rule ``exact`` with the factor by which
their score grew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.search.boost import Boosted
from assay.search.response import Boost

RULE = "exact"


def lift_exact(pool: Sequence[Boosted], exact: Mapping[int, str]) -> Sequence[Boosted]:
    """The pool with exact candidates first; ``exact`` says what each of them has."""
    if not exact:
        return pool
    first = [one for one in pool if one.fused.key in exact]
    rest = [one for one in pool if one.fused.key not in exact]
    if not first or not rest or first[-1].score > rest[0].score:
        return pool
    return [_lifted(one, rest[0].score, exact[one.fused.key]) for one in first] + rest


def _lifted(one: Boosted, above: float, has: str) -> Boosted:
    score = one.score + above
    factor = score / one.fused.score if one.fused.score else 1.0
    reason = f"has exactly {has}: above all that do not"
    lift = Boost(RULE, RULE, 1.0, factor, has, applied=True, reason=reason)
    others = tuple(
        replace(boost, applied=False, reason="an exact match counts more") for boost in one.boosts
    )
    return one._replace(score=score, boosts=(lift, *others))
