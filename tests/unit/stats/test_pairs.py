"""Are differences told from rounding?"""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.errors import InputError
from assay.stats.pairs import read_pairs


def test_the_difference_is_b_minus_a() -> None:
    pairs = read_pairs([1.0, 2.0], [3.0, 1.0])
    assert pairs.differences.tolist() == [2.0, -1.0]
    assert (pairs.n, pairs.mean) == (2, 0.5)
    assert not pairs.identical
    assert not pairs.constant


def test_rounding_is_not_a_difference() -> None:
    pairs = read_pairs([0.3, 0.7], [0.1 + 0.2, 0.7])
    assert pairs.identical
    assert pairs.constant


def test_a_constant_difference_is_seen_through_rounding() -> None:
    a = np.array([0.1, 0.2, 0.3, 0.7])
    pairs = read_pairs(a, a + 0.1)
    assert np.ptp(pairs.differences) > 0.0
    assert pairs.constant
    assert not pairs.identical


def test_no_pairs_are_identical_and_not_constant() -> None:
    pairs = read_pairs([], [])
    assert (pairs.n, pairs.mean, pairs.identical, pairs.constant) == (0, None, True, False)


def test_bad_values_are_named() -> None:
    with pytest.raises(InputError, match=r"b\[1\] is nan"):
        read_pairs([1.0, 2.0], [1.0, math.nan])
    with pytest.raises(InputError, match=r"a\[0\] is -inf"):
        read_pairs([-math.inf], [1.0])
    with pytest.raises(InputError, match=r"a\[0\] is 1e\+200"):
        read_pairs([1e200], [1.0])
    with pytest.raises(InputError, match="2 values of a do not pair with 1 of b"):
        read_pairs([1.0, 2.0], [1.0])
    with pytest.raises(InputError, match="dimension"):
        read_pairs([[1.0]], [[1.0]])
    with pytest.raises(InputError, match=r"a\[0\] is nan"):
        read_pairs([None, 1.0], [1.0, 1.0])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="numbers"):
        read_pairs([0.5, 1.0], ["x", "y"])
