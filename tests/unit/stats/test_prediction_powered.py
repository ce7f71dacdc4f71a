"""Is the mean unbiased and its interval honest, however good or bad the judge?"""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import InputError, UsageError
from assay.stats.prediction_powered import prediction_powered_mean
from bench.prediction_powered import Judge, simulate


def test_the_formula_of_the_paper() -> None:
    y, f, g = [1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 1.0, 0.0]
    found = prediction_powered_mean(y, f, g, tuning=1.0)
    assert found.mean == pytest.approx(np.mean(g) + np.mean(np.subtract(y, f)))
    assert found.predicted == pytest.approx(6 / 9)
    assert found.bias == pytest.approx(0.0)
    assert (found.n, found.unlabelled) == (4, 5)


def test_a_worthless_judge_leaves_the_labels() -> None:
    y = [1.0, 0.0, 1.0, 0.0]
    found = prediction_powered_mean(y, [1.0, 1.0, 1.0, 1.0], [1.0] * 50)
    assert found.tuning == 0.0
    assert found.mean == pytest.approx(np.mean(y))
    assert found.saved == 0


def test_the_bias_of_a_judge_is_taken_out() -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(4_000) < 0.4).astype(float)
    f = np.maximum(y, (rng.random(4_000) < 0.5).astype(float))  # it lets half of the bad ones pass
    found = prediction_powered_mean(y[:400], f[:400], f[400:])
    assert found.predicted == pytest.approx(0.7, abs=0.03)
    assert found.mean == pytest.approx(0.4, abs=0.05)
    assert found.bias == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("judge", [Judge(0.9, 0.9), Judge(0.8, 0.6), Judge(0.5, 0.5)])
def test_intervals_cover_what_they_promise(judge: Judge) -> None:
    found = simulate(judge, truth=0.7, labels=60, others=600, repetitions=400, seed=1)
    assert 0.93 <= found.coverage <= 0.98  # 400 repetitions: the bench has ten times as many
    assert found.width <= found.labelled_width * 1.02


def test_a_good_judge_saves_labels() -> None:
    found = simulate(Judge(0.95, 0.95), truth=0.7, labels=60, others=600, repetitions=50, seed=1)
    assert found.saved > 60
    assert found.width < 0.7 * found.labelled_width


def test_too_few_labels_are_no_mean() -> None:
    found = prediction_powered_mean([1.0], [1.0], [1.0] * 9)
    assert found.mean is None
    assert not found.interval.defined
    assert found.reason is not None
    alone = prediction_powered_mean([1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [])
    assert alone.mean == pytest.approx(2 / 3)
    assert alone.interval == alone.labelled_interval


def test_mistakes_are_refused() -> None:
    with pytest.raises(InputError, match="2 labels and 1 predictions"):
        prediction_powered_mean([1.0, 0.0], [1.0], [])
    with pytest.raises(InputError):
        prediction_powered_mean([1.0, float("nan")], [1.0, 1.0], [])
    with pytest.raises(UsageError, match="tuning"):
        prediction_powered_mean([1.0, 0.0], [1.0, 1.0], [], tuning=2.0)
    with pytest.raises(InputError, match="labels lie between 0 and 3, outside of 0 to 1"):
        prediction_powered_mean([0.0, 3.0], [1.0, 1.0], [1.0, 1.0])
    with pytest.raises(InputError, match="2 values and 1 clusters"):
        prediction_powered_mean([0.0, 1.0], [1.0, 1.0], [1.0, 1.0], clusters=["a"])


@pytest.mark.parametrize("truth", [0.8, 0.9, 0.95, 0.97, 0.99])
def test_intervals_cover_where_nearly_all_is_right(truth: float) -> None:
    found = simulate(Judge(0.97, 0.9), truth=truth, labels=60, others=600, repetitions=400, seed=1)
    assert found.coverage >= 0.91  # never too sure of few labels, as a t interval is (0.65)
    assert found.labelled_coverage >= 0.88
    assert found.width <= found.labelled_width


def test_an_interval_stays_within_what_is_possible() -> None:
    odd = prediction_powered_mean([0.0] * 4 + [1.0], [1.0] * 4 + [0.0], [0.0] * 50, tuning=1.0)
    assert odd.mean == 0.0
    assert odd.reason == "the estimate is -0.6000, outside of what is possible"
    alike = prediction_powered_mean([1.0] * 20, [1.0] * 20, [1.0] * 200)
    for found in (odd, alike):
        low, high = found.interval.low, found.interval.high
        assert low is not None
        assert high is not None
        assert 0.0 <= low < high <= 1.0
    assert alike.labelled_interval.low == pytest.approx(0.8389, abs=1e-4)  # Wilson
    assert alike.saved == 0  # nothing shows what the judge is worth


def test_grades_have_bounds_of_their_own() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 40).astype(float)
    f = np.clip(y + rng.integers(-1, 2, 40), 0.0, 3.0)
    g = rng.integers(0, 4, 400).astype(float)
    grades = prediction_powered_mean(y, f, g, bounds=(0.0, 3.0))
    shares = prediction_powered_mean(y / 3, f / 3, g / 3)
    assert grades.mean == pytest.approx(3 * (shares.mean or 0.0))
    assert grades.interval.low == pytest.approx(3 * (shares.interval.low or 0.0))
    assert grades.saved == shares.saved


def test_claims_of_one_answer_belong_together() -> None:
    rng = np.random.default_rng(2)
    held = []
    for _ in range(300):
        chance = rng.beta(0.7, 0.3, 100)
        y = (rng.random((100, 5)) < chance[:, None]).astype(float)
        right = rng.random((100, 5)) < np.where(rng.random(100) < 0.9, 0.98, 0.3)[:, None]
        f = np.where(right, y, 1.0 - y)
        answers = np.repeat(np.arange(100), 5).tolist()
        found = prediction_powered_mean(
            y[:30].ravel(),
            f[:30].ravel(),
            f[30:].ravel(),
            clusters=answers[:150],
            unlabelled_clusters=answers[150:],
        )
        held.append((found.interval.low or 0.0) <= 0.7 <= (found.interval.high or 0.0))
    assert np.mean(held) >= 0.92  # 0.75 where claims count one by one
