"""Are label pairs counted in the right cells, and unusable labels named?"""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.errors import InputError, LimitError
from assay.stats.agreement import tabulate


def test_rows_are_the_first_annotator() -> None:
    table = tabulate(["a", "a", "b"], ["a", "b", "b"])
    assert table.categories == ("a", "b")
    assert table.counts.tolist() == [[1, 1], [0, 1]]
    assert table.n == 3


def test_given_categories_keep_their_order_and_may_be_unused() -> None:
    table = tabulate([2, 1], [2, 2], categories=[3, 2, 1])
    assert table.categories == (3, 2, 1)
    assert table.counts.tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 0]]


def test_labels_without_an_order_stand_as_they_come() -> None:
    assert tabulate(["b", 1], [1, (2,)]).categories == ("b", 1, (2,))
    with pytest.raises(InputError, match="no natural order"):
        tabulate(["b", 1], [1, (2,)], ordered=True)


def test_arrays_and_empty_input_are_taken() -> None:
    assert tabulate(np.array([0, 1]), np.array([0, 0])).counts.tolist() == [[1, 0], [1, 0]]
    assert tabulate([], []).n == 0
    assert tabulate([], [], categories=["x"]).counts.tolist() == [[0]]


def test_bad_labels_are_named() -> None:
    with pytest.raises(InputError, match="2 labels do not pair with 1"):
        tabulate([1, 2], [1])
    with pytest.raises(InputError, match=r"second\[1\] has no label"):
        tabulate([1, 2], [1, None])
    with pytest.raises(InputError, match=r"first\[0\] has no label"):
        tabulate([math.nan, 2], [1, 2])
    with pytest.raises(InputError, match=r"first\[1\] is \[2\]"):
        tabulate([1, [2]], [1, 2])  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"first\[1\] is 7, not one of the categories: 0, 1"):
        tabulate([1, 7], [1, 0], categories=[0, 1])
    with pytest.raises(InputError, match="twice"):
        tabulate([1], [1], categories=[1, 1])
    with pytest.raises(LimitError, match="categories"):
        tabulate(range(2_000), range(2_000))
