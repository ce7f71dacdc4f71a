"""How do the two answers about a difference stand side by side: significant, and the verdict?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.render.numbers import p_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.evaluation.ab import ABResult
    from assay.evaluation.significance import Comparison, Contrast

P_COLUMNS = ("p (t)", "p (Holm)")
RULINGS = ("significant (t)", "verdict (Holm)")


def p_values(contrast: Contrast) -> tuple[str, str]:
    """What the t-test and the corrected randomization test say."""
    return p_value(contrast.t_test.p), p_value(contrast.holm_p)


def rulings(contrast: Contrast) -> tuple[str, str]:
    """What follows from each."""
    return significant(contrast), contrast.ruling.verdict.value


def significant(contrast: Contrast) -> str:
    """Yes or no by the paired t-test; a dash where it is undefined."""
    return {True: "yes", False: "no", None: "—"}[contrast.significant]


def legend(tested: ABResult | Comparison) -> tuple[str, str]:
    """Which test is behind which column."""
    alpha, margin = f"{tested.alpha:g}", f"{tested.margin:g}"
    return (
        f"significant (t): the paired t-test of each measure alone has p (t) < {alpha}",
        "verdict (Holm): the paired randomization test, corrected by Holm for all comparisons "
        f"made here, has p (Holm) < {alpha}; equivalent: the difference lies within ±{margin}",
    )


def disagreements(contrasts: Iterable[Contrast]) -> tuple[str, ...]:
    """Why the two differ, or the interval from either, each reason with its measures."""
    reasons: dict[str, list[str]] = {}
    for one in contrasts:
        if one.disagrees:
            reasons.setdefault(one.significance, []).append(str(one.measure))
    return tuple(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
