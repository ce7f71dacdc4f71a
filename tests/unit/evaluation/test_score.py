"""One test for each promise of ``assay.score`` and of what it returns."""

import numpy as np
import pytest

import assay
from assay.errors import InputError, UsageError

QRELS = {"q1": {"a": 2, "b": 1, "n": 0}, "q2": {"c": 1}, "q3": {"d": 0}}
RUN = {
    "q1": {"a": 3.0, "x": 2.0, "b": 1.0},
    "q2": {"y": 1.0},
    "q3": {"d": 1.0},
    "extra": {"z": 1.0},
}


@pytest.mark.req("E5")
def test_default_measures() -> None:
    scores = assay.score(QRELS, RUN)
    assert [str(m) for m in scores.measures] == [
        "nDCG@10",
        "RR@10",
        "Recall@5",
        "Recall@10",
        "Recall@20",
    ]


def test_the_summary_says_what_a_reader_must_know() -> None:
    summary = assay.score(QRELS, {"q1": RUN["q1"], "extra": {}}, "Recall@10").summary
    assert (summary.n, summary.missing, summary.extra) == (3, 2, 1)
    assert summary.unjudged(10) == pytest.approx(1 / 3)
    text = " | ".join(summary.notes())
    assert "2 of 3 queries are missing" in text
    assert "1 query of the run not in the qrels" in text
    assert "1 of 3 queries has no relevant document" in text
    assert "unjudged: 33% of the top 10" in text


def test_ties_that_touched_a_judged_result_are_counted() -> None:
    tied = {"q1": {"a": 1.0, "x": 1.0, "b": 0.5}, "q2": {"y": 1.0, "z": 1.0}}
    summary = assay.score(QRELS, tied, "MRR").summary
    assert summary.to_dict()["ties"] == {"judged_results": 1, "queries": 1}


@pytest.mark.req("K8")
def test_undefined_is_none_with_a_reason_and_left_out_of_the_mean() -> None:
    scores = assay.score(QRELS, RUN, "Recall@10")
    assert scores.per_query("Recall@10") == {"q1": 1.0, "q2": 0.0, "q3": None}
    found = scores.aggregate("Recall@10")
    assert (found.mean, found.n, found.undefined) == (0.5, 2, 1)
    assert found.reason == "no judged document reaches the relevance level"
    assert scores.to_dict(per_query=True)["per_query"]["q3"]["recall_at_10"] is None


@pytest.mark.req("M1")
@pytest.mark.parametrize("measure", ["MRR", "P@1", "Success@5", "RBP", "ERR@10", "nDCG@10", "MAP"])
def test_a_query_without_evidence_is_in_no_mean_of_a_ranking_measure(measure: str) -> None:
    """Ranking measures run over queries with evidence, whether a protocol is named or not."""
    scores = assay.score(QRELS, RUN, measure)
    found = scores.aggregate(measure)
    assert (found.n, found.undefined) == (2, 1)
    assert scores.value("q3", measure) is None
    only = assay.score(QRELS, RUN, measure, protocol="positives_only")
    assert found.mean == only[measure]
    counted = assay.score(QRELS, RUN, measure, undefined="zero").aggregate(measure)
    assert (counted.n, counted.undefined) == (3, 0)
    assert counted.mean == pytest.approx((found.mean or 0.0) * 2 / 3)


def test_evidence_is_what_reaches_the_level_of_the_measure() -> None:
    scores = assay.score(QRELS, RUN, "P(rel=2)@1 Recall(rel=2)@1 Judged@1")
    assert [scores.aggregate(m).n for m in scores.measures] == [1, 1, 3]


def test_undefined_may_count_as_zero_like_trec_eval() -> None:
    scores = assay.score(QRELS, RUN, "Recall@10", undefined="zero")
    assert scores["Recall@10"] == pytest.approx(1 / 3)
    assert scores.aggregate("Recall@10").n == 3


@pytest.mark.req("M1")
def test_positives_only_leaves_queries_without_evidence_out() -> None:
    scores = assay.score(QRELS, RUN, "P@1 MRR", protocol="positives_only")
    assert scores.queries == ("q1", "q2")
    assert scores["P@1"] == 0.5
    assert scores.summary.left_out == 1
    with pytest.raises(UsageError, match="positives_only leaves out"):
        assay.score(QRELS, RUN, "AUROC", protocol="positives_only")


@pytest.mark.req("M1", "M3")
def test_all_queries_asks_whether_there_is_evidence() -> None:
    run = {"q1": {"a": 0.9}, "q2": {"y": 0.4}, "q3": {"d": 0.6}}
    scores = assay.score(
        QRELS, run, "AUROC AUPRC Sensitivity Specificity Brier", protocol="all_queries"
    )
    assert scores["AUROC"] == 0.5  # 0.9 > 0.6 but 0.4 < 0.6
    assert scores["Sensitivity"] == 0.5
    assert scores["Specificity"] == 0.0
    assert scores["Brier"] == pytest.approx((0.1**2 + 0.6**2 + 0.6**2) / 3)
    with pytest.raises(UsageError, match="all_queries leaves out"):
        assay.score(QRELS, run, "nDCG@10", protocol="all_queries")


def test_a_query_without_results_ranks_below_everything() -> None:
    scores = assay.score(QRELS, {"q1": {"a": -5.0}, "q2": {"c": -6.0}}, "AUROC")
    assert scores["AUROC"] == 1.0


def test_decisions_need_scores() -> None:
    with pytest.raises(UsageError, match="needs scores"):
        assay.score(QRELS, {"q1": ["a"]}, "AUROC")


def test_one_class_only_is_undefined_and_says_so() -> None:
    scores = assay.score({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AUROC")
    assert scores["AUROC"] is None
    assert "one class" in (scores.aggregate("AUROC").reason or "")
    assert not scores.interval("AUROC").defined


def test_answer_measures_are_pointed_elsewhere() -> None:
    with pytest.raises(UsageError, match="measures answers"):
        assay.score(QRELS, RUN, "Groundedness")


def test_no_common_query_is_an_error_not_a_row_of_zeros() -> None:
    with pytest.raises(InputError, match="no query of the run is in the qrels"):
        assay.score({"1": {"a": 1}}, {"q1": {"a": 1.0}}, "MRR")


def test_a_run_without_results_scores_zero_and_one_without_queries_is_refused() -> None:
    assert assay.score(QRELS, {"q1": {}}, "MRR")["MRR"] == 0.0
    with pytest.raises(InputError, match="the run is empty"):
        assay.score(QRELS, {}, "MRR")


@pytest.mark.req("E5")
def test_aggregates_are_mean_median_and_sample_deviation() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(4)}
    run = {"q0": ["a"], "q1": ["x", "a"], "q2": ["x", "y", "z", "a"], "q3": ["x"]}
    found = assay.score(qrels, run, "MRR").aggregate("MRR")
    values = np.array([1, 0.5, 0.25, 0])
    assert found.mean == pytest.approx(values.mean())
    assert found.median == pytest.approx(0.375)
    assert found.std == pytest.approx(values.std(ddof=1))


@pytest.mark.req("E8")
def test_intervals_are_seeded_and_recorded() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(20)}
    run = {f"q{i}": ["x"] * (i % 4) + ["a"] for i in range(20)}
    first = assay.score(qrels, run, "MRR").interval("MRR")
    assert first == assay.score(qrels, run, "MRR").interval("MRR")
    other = assay.score(qrels, run, "MRR", sampling=assay.Sampling(seed=7)).interval("MRR")
    assert (other.seed, first.seed) == (7, 42)
    assert first.low is not None
    assert first.high is not None
    assert first.low < (assay.score(qrels, run, "MRR")["MRR"] or 0) < first.high


def test_clusters_widen_the_interval_of_dependent_queries() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(40)}
    run = {f"q{i}": ["a"] if i < 20 else ["x"] for i in range(40)}
    alone = assay.score(qrels, run, "MRR").interval("MRR")
    posts = {f"q{i}": f"post{i // 10}" for i in range(40)}
    together = assay.score(qrels, run, "MRR", clusters=posts).interval("MRR")
    assert None not in (alone.low, alone.high, together.low, together.high)
    assert together.high - together.low > alone.high - alone.low  # type: ignore[operator]
    with pytest.raises(UsageError, match="has no cluster"):
        assay.score(qrels, run, "MRR", clusters={"q1": "post"})


@pytest.mark.req("W5", "E5")
def test_breakdown_by_group() -> None:
    scores = assay.score(QRELS, RUN, "P@1")
    parts = scores.by({"q1": "PATIENT", "q2": "CLINICIAN"})
    assert {name: part["P@1"] for name, part in parts.items()} == {
        "(none)": None, "CLINICIAN": 0.0, "PATIENT": 1.0,
    }  # fmt: skip
    assert parts["PATIENT"].summary.n == 1


def test_depth_and_name() -> None:
    scores = assay.score(QRELS, RUN, "Recall@10", name="mine", depth=1)
    assert scores.value("q1", "Recall@10") == 0.5
    assert str(scores).startswith("mine: Recall@10 ")


@pytest.mark.req("K9")
def test_values_are_rounded_where_stored_and_whole_where_computed() -> None:
    scores = assay.score({"q": {"a": 1}}, {"q": ["x", "y", "a"]}, "MRR")
    assert scores["MRR"] == 1 / 3
    assert scores.to_dict()["metrics"] == {"mrr": 0.3333}


def test_a_notebook_shows_a_table() -> None:
    page = assay.score(QRELS, RUN, "MRR", name="<b>")._repr_html_()
    assert page.startswith("<table>")
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_what_was_not_computed_is_named() -> None:
    scores = assay.score(QRELS, RUN, "MRR")
    with pytest.raises(UsageError, match=r"P@5 was not computed.*computed: MRR"):
        scores["P@5"]
    with pytest.raises(UsageError, match="no query 'nope'"):
        scores.value("nope", "MRR")


@pytest.mark.req("M5")
def test_intervals_of_decisions_draw_clusters_where_they_are_asked_for() -> None:
    heights = (0.9, 0.2, 0.7, 0.65, 0.6, 0.8)
    names = [(post, at) for post in range(6) for at in range(10)]
    qrels = {f"{post}-{at}": {"d": int(post % 2 == 0)} for post, at in names}
    run = {f"{post}-{at}": {"d": heights[post] + at / 10_000} for post, at in names}
    posts = {f"{post}-{at}": str(post) for post, at in names}
    alone = assay.score(qrels, run, "AUROC Sensitivity(t=0.65)")
    together = assay.score(qrels, run, "AUROC Sensitivity(t=0.65)", clusters=posts)
    for measure in together.measures:
        wide, narrow = together.interval(measure), alone.interval(measure)
        assert (wide.clusters, narrow.clusters) == (6, None)
        assert wide.low is not None
        assert narrow.low is not None
        assert wide.low < narrow.low
    labels, scores = [bool(one["d"]) for one in qrels.values()], [one["d"] for one in run.values()]
    wanted = assay.classify(labels, scores, "AUROC", clusters=list(posts.values()))
    assert [together.interval("AUROC")] == list(wanted.intervals.values())
