"""Which candidates are about another kind of what was asked for, and where do they stand?

Who asks for heart failure with reduced ejection fraction is not served by what is about preserved
ejection fraction (``evidence/kinds.py`` states which kinds there are). Among the best candidates,
one that speaks only of another kind comes after all that speak of the kind asked for. The others
keep their places. The account says so: the rule ``another_kind``, with the factor by which its
score was lowered. Where none of the best has the kind, nothing moves, and that is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from assay.evidence.kinds import Kind
from assay.search.boost import Boosted, Reordered
from assay.search.response import Boost, SearchHit

RULE = "another_kind"
LOOKED_AT = 30  # candidates that are read


def lower_other_kinds(
    pool: Sequence[Boosted],
    kinds: Sequence[Kind],
    texts: Callable[[Sequence[int]], Mapping[int, str]],
) -> Sequence[Boosted]:
    """The pool, with candidates about another kind after those about the kind asked for."""
    if not kinds:
        return pool
    best = [*pool[:LOOKED_AT]]
    read = texts([one.fused.key for one in best])
    plain = {key: text.lower() for key, text in read.items()}
    changed = False
    for kind in kinds:
        others = {key: found for key, text in plain.items() if (found := kind.another_in(text))}
        if others:
            last = _last(best, kind, plain, others)
            best = _without_it(best, kind, others) if last < 0 else _after(best, last, kind, others)
            changed = True
    return Reordered(best, pool) if changed else pool


def notes_on(first: SearchHit) -> tuple[str, ...]:
    """What is said above the results, where the first one is about another kind."""
    return tuple(
        f"{boost.reason}: the first result speaks of {boost.matched}"
        for boost in first.boosts
        if boost.rule == RULE and not boost.applied
    )


def _last(
    best: Sequence[Boosted], kind: Kind, texts: Mapping[int, str], others: Mapping[int, str]
) -> int:
    """The place of the last candidate that has the kind; -1 where none has it."""
    for at in range(len(best) - 1, -1, -1):
        key = best[at].fused.key
        if key not in others and key in texts and kind.is_in(texts[key]):
            return at
    return -1


def _after(best: list[Boosted], last: int, kind: Kind, others: Mapping[int, str]) -> list[Boosted]:
    """The candidates, with those about another kind after the last that has the kind."""
    level = best[last].score
    above = [one for one in best[:last] if one.fused.key in others]
    lowered = [_lowered(one, level, kind, others[one.fused.key]) for one in above]
    rest = [one for one in best[: last + 1] if one.fused.key not in others]
    return rest + lowered + best[last + 1 :]


def _without_it(best: Sequence[Boosted], kind: Kind, others: Mapping[int, str]) -> list[Boosted]:
    """The candidates in their places; the account of those about another kind says so."""
    reason = f"nothing found speaks of {kind.text}"
    return [
        one._replace(
            boosts=(
                *one.boosts,
                Boost(RULE, RULE, 1.0, 1.0, others[one.fused.key], applied=False, reason=reason),
            )
        )
        if one.fused.key in others
        else one
        for one in best
    ]


def _lowered(one: Boosted, level: float, kind: Kind, other: str) -> Boosted:
    score = min(one.score, level)
    factor = score / one.fused.score if one.fused.score else 1.0
    reason = f"below what has {kind.text}: has only another kind"
    lowered = Boost(RULE, RULE, 1.0, factor, other, applied=True, reason=reason)
    others = tuple(
        replace(boost, applied=False, reason="another kind than asked for counts more")
        for boost in one.boosts
    )
    return one._replace(score=score, boosts=(lowered, *others))
