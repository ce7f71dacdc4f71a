"""What does each cluster add to a mean?"""

import numpy as np
import pytest

from assay.stats.clustering import cluster_shares


@pytest.mark.req("E8")
def test_the_mean_of_the_shares_is_the_mean_over_queries_whatever_the_sizes() -> None:
    values = np.array([[1.0, 0.5], [0.0, 0.25], [0.5, 9.0], [0.25, 1.0]])
    defined = np.array([[True, True], [True, True], [True, False], [True, True]])
    shares, present = cluster_shares(values, defined, ["a", "a", "b", "a"])
    assert shares[:, 0].tolist() == pytest.approx([1.25 * 2 / 4, 0.5 * 2 / 4])
    assert shares[:, 0].mean() == pytest.approx(values[:, 0].mean())
    assert present[:, 1].tolist() == [True, False]
    assert shares[0, 1] == pytest.approx(1.75 / 3)
