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
    assert 0.92 <= found.coverage <= 0.985  # 400 repetitions: the bench has a thousand
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
