"""Do scores land on a common scale without changing places?"""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.search.fusion.normalize import dbsf, min_max, z_score
from assay.search.fusion.weighted import NORMALIZERS, normalized_scores
from assay.search.request import Normalization

finite = st.floats(allow_nan=False, allow_infinity=False)


def test_every_normalization_has_its_function() -> None:
    assert set(NORMALIZERS) == set(Normalization)


def test_min_max() -> None:
    assert min_max([12.0, 9.0, 6.0]) == [1.0, 0.5, 0.0]
    assert min_max([0.5, -0.5, -1.5]) == [1.0, 0.5, 0.0]


def test_z_score_begins_at_the_last_of_the_list() -> None:
    values = z_score([3.0, 2.0, 1.0])
    assert values[2] == 0.0
    assert values[0] - values[1] == pytest.approx(values[1])
    assert values[1] == pytest.approx(1 / 0.816496580927726)


def test_dbsf_spans_three_deviations_either_side_of_the_mean() -> None:
    values = dbsf([3.0, 2.0, 1.0])
    assert values[1] == pytest.approx(0.5)
    assert values[0] == pytest.approx(0.5 + 1 / (6 * 0.816496580927726))


def test_dbsf_cuts_a_far_outlier() -> None:
    assert dbsf([1000.0] + [1.0 + at / 100 for at in range(40)])[0] == 1.0


@pytest.mark.parametrize("how", Normalization)
@pytest.mark.parametrize("scores", [[7.0], [-3.0], [2.0, 2.0, 2.0], [0.0, 0.0]])
def test_one_score_or_equal_scores_are_worth_one(how: Normalization, scores: list[float]) -> None:
    assert normalized_scores(scores, how) == [1.0] * len(scores)


@pytest.mark.parametrize("how", Normalization)
def test_an_empty_list_stays_empty(how: Normalization) -> None:
    assert normalized_scores([], how) == []


@given(st.lists(finite, min_size=1, max_size=30), st.sampled_from(Normalization))
def test_values_are_finite_not_negative_and_keep_the_order(
    scores: list[float], how: Normalization
) -> None:
    values = normalized_scores(scores, how)
    assert all(0.0 <= value < 1e9 for value in values)
    pairs = sorted(zip(scores, values, strict=True))
    assert all(a[1] <= b[1] for a, b in itertools.pairwise(pairs))
