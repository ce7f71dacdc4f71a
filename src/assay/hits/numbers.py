"""Which values count as numbers, and what are scores in 32 bits?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.model.arrays import FloatArray


def is_number(value: object) -> bool:
    """Whether this is an integer or float, also of numpy; booleans and text are not."""
    kinds = (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Whether this is an integer, also of numpy; booleans are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def shown(value: object) -> str:
    """A value as shown in an error message, shortened."""
    try:
        return f"{value!r:.60}"
    except ValueError:  # Python refuses to format thousands of digits
        return "with too many digits to show"


def finite(value: object) -> float | None:
    """The number as a float; None if it is not a number or not finite."""
    if not is_number(value):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]  # a number, as was just seen
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def in_float32(score: FloatArray, place: Callable[[int], str]) -> FloatArray:
    """The scores rounded to 32 bits, as trec_eval stored them before version 10.

    ``place`` describes the location of a row, for the error if its score does not fit.
    """
    with np.errstate(over="ignore"):
        rounded = score.astype(np.float32).astype(np.float64)
    if not np.isfinite(rounded).all():
        row = int(np.argmin(np.isfinite(rounded)))
        raise InputError(
            f"{place(row)}: the score {float(score[row])!r} does not fit into 32 bits",
            hint="without float32, scores keep their 64 bits",
        )
    return rounded
