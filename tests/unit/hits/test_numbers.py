"""Which values are numbers?"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from assay.errors import InputError
from assay.hits.numbers import finite, in_float32, is_number, is_whole, shown


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (1, 1.0),
        (-2.5, -2.5),
        (np.float32(0.5), 0.5),
        (np.uint8(7), 7.0),
        (10**300, 1e300),
        (True, None),
        (np.True_, None),
        ("1", None),
        (None, None),
        (Decimal(1), None),
        (float("nan"), None),
        (float("-inf"), None),
        (np.float16("inf"), None),
        (10**400, None),
    ],
    ids=[str(number) for number in range(14)],
)
def test_finite(value: Any, number: float | None) -> None:
    assert finite(value) == number


def test_kinds() -> None:
    assert is_number(1.5)
    assert not is_whole(1.5)
    assert is_whole(np.int8(1))
    assert not is_whole(True)


def test_values_are_cut_short() -> None:
    assert shown("x" * 1000) == "'" + "x" * 59
    assert shown(10**5000) == "with too many digits to show"


def test_32_bits() -> None:
    rounded = in_float32(np.array([1.00000001, -0.0, 1e-300]), str)
    assert rounded.tolist() == [1.0, 0.0, 0.0]
    assert rounded.dtype == np.float64
    with pytest.raises(InputError, match=r"^row 1: the score -1e\+39 does not fit into 32 bits"):
        in_float32(np.array([1.0, -1e39, 1e40]), lambda row: f"row {row}")
