import pytest

import assay
from assay.errors import UsageError
from assay.model.sampling import Sampling
from assay.render.scores import decision_table, run_table
from assay.stats import bounds

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


# one of ten positives is far off
SKEWED = (
    [1] * 10 + [0] * 40,
    [3.0 + 0.2 * at for at in range(9)] + [-2.0] + [-1.5 + 0.1 * at for at in range(40)],
)


@pytest.mark.req("M5")
@pytest.mark.parametrize("clusters", [None, [f"post-{at // 2}" for at in range(50)]])
def test_the_method_that_was_asked_for_is_used_and_named(clusters: list[str] | None) -> None:
    measures = "AUROC AUPRC F1"
    found = {
        method: assay.classify(
            *SKEWED, measures, sampling=Sampling(method, resamples=2000), clusters=clusters
        )
        for method in ("bca", "percentile")
    }
    for method, decisions in found.items():
        plain = decisions.to_dict()
        for name in ("auroc", "auprc"):
            assert plain["aggregates"][name]["ci_method"] == method
        assert plain["sampling"]["method"] == method
        assert plain["aggregates"]["f1"]["ci_method"] is None
    low = {
        method: [one.low or 0.0 for one in decisions.intervals.values()]
        for method, decisions in found.items()
    }
    assert low["bca"][0] < low["percentile"][0]
    assert low["bca"][1] < low["percentile"][1]


@pytest.mark.req("M5")
def test_scored_runs_have_such_intervals_too() -> None:
    qrels = {f"q{at}": {"d": label} for at, label in enumerate(SKEWED[0])}
    run = {f"q{at}": {"d": score} for at, score in enumerate(SKEWED[1])}
    scores = assay.score(qrels, run, "AUROC", sampling=Sampling(resamples=500))
    assert scores.interval("AUROC").method == "bca"
    assert scores.to_dict()["aggregates"]["auroc"]["ci_method"] == "bca"


def test_an_interval_of_another_kind_is_explained_beside_the_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "bca_bounds", lambda *_: "the data are too skewed")
    qrels = {f"q{at}": {"d": label} for at, label in enumerate(SKEWED[0])}
    run = {f"q{at}": {"d": score} for at, score in enumerate(SKEWED[1])}
    scores = assay.score(qrels, run, "AUROC", sampling=Sampling(resamples=100))
    said = "interval of AUROC: percentile, since BCa is undefined: the data are too skewed"
    assert said in run_table(scores, ci=True).notes
    decisions = assay.classify(*SKEWED, "AUROC", sampling=Sampling(resamples=100))
    assert said in decision_table(decisions, "labels").notes
    assert decisions.to_dict()["aggregates"]["auroc"]["ci_method"] == "percentile"
