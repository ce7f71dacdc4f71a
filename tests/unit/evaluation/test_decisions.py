import pytest

import assay
from assay.errors import UsageError

LABELS = [1, 1, 1, 0, 0, 1, 0, 0]
SCORES = [0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1]


@pytest.mark.req("M3", "M5")
def test_values_and_intervals() -> None:
    found = assay.classify(LABELS, SCORES).to_dict()
    assert found["metrics"]["auroc"] == 0.875
    assert found["metrics"]["sensitivity"] == 0.75
    assert found["metrics"]["tpr_fpr_0.01"] == 0.75
    low, high = found["aggregates"]["auroc"]["ci"]
    assert low < 0.875 <= high
    assert found["aggregates"]["f1"]["ci"] is None
    assert "no interval" in found["aggregates"]["f1"]["ci_reason"]
    assert found["delong"]["ci"] is not None
    assert found["sampling"]["seed"] == 42


def test_a_ranking_measure_is_refused() -> None:
    with pytest.raises(UsageError, match="not a measure of decisions"):
        assay.classify(LABELS, SCORES, "nDCG@10")


def test_one_class_is_explained() -> None:
    found = assay.classify([1, 1], [0.2, 0.4]).to_dict()
    assert found["metrics"]["auroc"] is None
    assert "one class" in found["aggregates"]["auroc"]["reason"]
