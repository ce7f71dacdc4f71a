"""Which values are scores, and what becomes of them in 32 bits?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.model.arrays import FloatArray


def is_number(value: object) -> bool:
    """Whole numbers and floats, numpy's too; neither booleans nor text that looks like one."""
    kinds = (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Whole numbers, numpy's too; no booleans."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def shown(value: object) -> str:
    """A value as an error names it, cut short."""
    try:
        return f"{value!r:.60}"
    except ValueError:  # Python refuses to write out thousands of digits
        return "of more digits than can be shown"


def finite(value: object) -> float | None:
    """The number as a float; None where it is none, or has no finite value."""
    if not is_number(value):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]  # a number, as was just seen
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def in_float32(score: FloatArray, place: Callable[[int], str]) -> FloatArray:
    """The scores rounded to 32 bits, as trec_eval kept them before its version 10.

    ``place`` says where a row is, should its score not fit.
    """
    with np.errstate(over="ignore"):
        rounded = score.astype(np.float32).astype(np.float64)
    if not np.isfinite(rounded).all():
        row = int(np.argmin(np.isfinite(rounded)))
        raise InputError(
            f"{place(row)}: the score {float(score[row])!r} does not fit into 32 bits",
            hint="leave out float32: scores then keep their 64 bits",
        )
    return rounded
