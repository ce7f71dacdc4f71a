"""By how much may a measure get worse before a merge is stopped?

``Recall@10=5%`` is relative to the baseline, ``nDCG@10=0.02`` absolute. A drop of exactly the limit
passes. Every measure that can be gated lies between 0 and 1, so an absolute limit is below 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from assay.errors import UsageError
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measure

ROUNDING = 1e-9  # 0.80 to 0.76 is a drop of exactly 5 %, whatever floating point says
FILE_ROUNDING = 6e-5  # half of the last of four decimals, and what a margin makes of it
LOWER_IS_BETTER = frozenset({"EmptyResultRate"})


@dataclass(frozen=True, slots=True)
class Limit:
    """The largest drop of one measure that passes."""

    measure: Measure
    amount: float
    relative: bool

    def __str__(self) -> str:
        return f"{self.measure}={self.allowed}"

    @property
    def allowed(self) -> str:
        """The amount as it is written."""
        return f"{self.amount * 100:g}%" if self.relative else f"{self.amount:g}"

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value of the measure is good news."""
        return self.measure.name not in LOWER_IS_BETTER

    def margin(self, baseline: float) -> float:
        """The allowed drop in units of the measure."""
        return self.amount * abs(baseline) if self.relative else self.amount

    def worse_by(self, baseline: float, current: float) -> float:
        """How far the measure went in the bad direction; negative where it got better."""
        return baseline - current if self.higher_is_better else current - baseline

    def got_worse(self, baseline: float, current: float, *, rounded: bool = False) -> bool:
        """Whether the measure got worse at all, by more than ``slack``."""
        return self.worse_by(baseline, current) > slack(rounded)

    def exceeded(self, baseline: float, current: float, *, rounded: bool = False) -> bool:
        """Whether the measure got worse by more than the limit; files hold ``rounded`` numbers."""
        return self.worse_by(baseline, current) > self.margin(baseline) + slack(rounded)


def slack(rounded: bool) -> float:
    """How far two equal values may lie apart, where one of them was ``rounded`` or none was."""
    return FILE_ROUNDING if rounded else ROUNDING


DEFAULT_LIMIT = "Recall@10=5%"


def parse_limit(text: str) -> Limit:
    """The limit that ``measure=amount`` stands for."""
    name, equals, amount = text.rpartition("=")
    if not equals or not name.strip():
        raise _bad(text)
    measure = parse_measure(name)
    if measure.definition.family is Family.DECISION:
        raise UsageError(f"{measure} cannot be gated", hint="give a measure of rankings or answers")
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*(%?)", amount.strip())
    number = float(found[1]) if found else math.nan
    if found is None or not math.isfinite(number):
        raise _bad(text)
    relative = bool(found[2])
    if not relative and number >= 1.0:
        raise UsageError(
            f"{text!r:.80} can never fail: {measure} lies between 0 and 1, and so does any drop",
            hint=f'did you mean "{measure}={found[1]}%"?',
        )
    return Limit(measure, number / 100 if relative else number, relative)


def parse_limits(texts: Iterable[str]) -> tuple[Limit, ...]:
    """The limits in force: the default one, and what is given beside or instead of it."""
    given: dict[Measure, Limit] = {}
    for text in texts:
        limit = parse_limit(text)
        if limit.measure in given:
            raise UsageError(f"{limit.measure} has two limits")
        given[limit.measure] = limit
    default = parse_limit(DEFAULT_LIMIT)
    return tuple({default.measure: default, **given}.values())


def _bad(text: str) -> UsageError:
    return UsageError(
        f"{text!r:.80} is not a limit", hint='write "Recall@10=5%" (relative) or "nDCG@10=0.02"'
    )
