"""How do grades of another scale become grades from 0 to 3?

Either by the highest grade of the scale (``10``), whose grades above 0 are shared out evenly, so
that 1 to 3 of 10 are 1 and 7 to 10 are 3; or grade by grade, as in ``0-1=0, 2-5=1, 6-8=2, 9-10=3``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from assay.errors import UsageError
from assay.limits import MAX_GOLDEN_GRADE

HIGHEST = 1_000
HINT = "such as --grades 10 for a scale from 0 to 10, or --grades 0-1=0,2-5=1,6-8=2,9-10=3"
_STEP = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?=(\d)")


@dataclass(frozen=True, slots=True)
class GradeScale:
    """What each grade of another scale is here; ``text`` is how the scale was given."""

    text: str
    known: Mapping[int, int]


def read_scale(text: str) -> GradeScale:
    """The scale that a text describes."""
    given = "".join(text.split())
    if given.isascii() and given.isdigit() and 1 <= int(given[:5]) <= HIGHEST:
        top = int(given)
        shares = {grade: -(-grade * MAX_GOLDEN_GRADE // top) for grade in range(1, top + 1)}
        return GradeScale(given, {0: 0, **shares})
    known: dict[int, int] = {}
    for part in given.split(","):
        step = _STEP.fullmatch(part)
        if step is None:
            raise UsageError(f"{part!r:.40} is no part of a scale of grades", hint=HINT)
        first, last, grade = int(step[1]), int(step[2] or step[1]), int(step[3])
        steps = dict.fromkeys(range(first, last + 1), grade)
        if not steps or grade > MAX_GOLDEN_GRADE or steps.keys() & known.keys():
            raise UsageError(f"{part!r:.40} does not fit into a scale of grades", hint=HINT)
        known |= steps
    return GradeScale(given, known)
