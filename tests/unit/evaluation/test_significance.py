from dataclasses import replace

import pytest

import assay
from assay.errors import UsageError
from assay.evaluation.ab import ab
from assay.evaluation.significance import Contrast

from .stored import golden, stored, suite

QRELS = {f"q{i}": {"a": 1} for i in range(30)}


def run(ranks: list[int]) -> dict[str, list[str]]:
    return {f"q{i}": ["x"] * (rank - 1) + ["a"] for i, rank in enumerate(ranks)}


def scored(ranks: list[int], name: str) -> assay.Scores:
    return assay.score(QRELS, run(ranks), "MRR Success@1", name=name)


@pytest.mark.req("E8")
def test_a_clear_gain_is_better_and_its_mirror_worse() -> None:
    low, high = scored([3, 2] * 15, "low"), scored([1, 1, 2] * 10, "high")
    (mrr, success) = assay.compare(low, high).contrasts
    assert mrr.ruling.verdict == "better"
    assert mrr.difference == pytest.approx((high["MRR"] or 0) - (low["MRR"] or 0))
    assert (mrr.n, mrr.losses) == (30, 0)
    assert mrr.t_test.p is not None
    assert mrr.t_test.p < 0.001
    assert success.wins == 20
    assert assay.compare(high, low).contrasts[0].ruling.verdict == "worse"


@pytest.mark.req("E8")
def test_a_run_against_itself_is_equivalent() -> None:
    one = scored([1, 2, 3] * 10, "one")
    (mrr, _) = assay.compare(one, one).contrasts
    assert mrr.ruling.verdict == "equivalent"
    assert mrr.difference == 0.0
    assert mrr.randomization.p == 1.0


@pytest.mark.req("E8")
def test_a_small_noisy_difference_is_inconclusive_and_names_what_could_be_seen() -> None:
    (mrr, _) = assay.compare(scored([1, 2] * 15, "a"), scored([2, 1] * 14 + [1, 1], "b")).contrasts
    assert mrr.ruling.verdict == "inconclusive"
    assert mrr.detectable is not None
    assert mrr.detectable > abs(mrr.difference or 0)


@pytest.mark.req("E8")
def test_holm_runs_over_all_runs_and_measures() -> None:
    base = scored([2, 1] * 15, "base")
    comparison = assay.compare(base, scored([1, 1] * 15, "b"), scored([3, 1] * 15, "c"))
    raw = [c.randomization.p for c in comparison.contrasts]
    adjusted = [c.holm_p for c in comparison.contrasts]
    assert len(adjusted) == 4
    assert all(
        a >= r for a, r in zip(adjusted, raw, strict=True) if a is not None and r is not None
    )
    assert comparison.of("c")[0].run == "c"
    assert comparison.to_dict()["correction"] == "holm"


def test_other_queries_cannot_be_compared() -> None:
    other = assay.score({"q1": {"a": 1}}, run([1, 1]), "MRR")
    with pytest.raises(UsageError, match="scored over different queries"):
        assay.compare(scored([1] * 30, "a"), other)


def test_without_a_common_ranking_measure_there_is_nothing_to_compare() -> None:
    only = assay.score(QRELS, {q: {"a": 0.5} for q in QRELS}, "Brier")
    with pytest.raises(UsageError, match="no ranking measure"):
        assay.compare(only, only)


@pytest.mark.parametrize("n", [1, 2])
def test_hardly_any_query_still_gets_an_answer(n: int) -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(n)}
    a = assay.score(qrels, run([1] * n), "MRR", name="a")
    b = assay.score(qrels, run([2] * n), "MRR", name="b")
    (contrast,) = assay.compare(a, b).contrasts
    assert contrast.ruling.verdict in ("inconclusive", "worse")
    assert contrast.to_dict()["p_t"] is None  # one pair, or a constant difference
    assert contrast.to_dict()["reason"]


def by_interview(gains: list[int], size: int) -> Contrast:
    """Run b against a: in each interview it finds everything (1), nothing (-1) or the same (0)."""
    names = [(g, i) for g in range(len(gains)) for i in range(size)]
    qrels = {f"{g}-{i}": {"d": 1} for g, i in names}
    a = {f"{g}-{i}": ["d" if i % 2 else "x"] for g, i in names}
    found = {1: ["d"], -1: ["x"]}
    b = {f"{g}-{i}": found.get(gains[g], a[f"{g}-{i}"]) for g, i in names}
    clusters = {f"{g}-{i}": str(g) for g, i in names}
    one, other = (assay.score(qrels, run, "Success@1", clusters=clusters) for run in (a, b))
    return assay.compare(one, other).contrasts[0]


@pytest.mark.req("E8")
def test_clustered_queries_are_tested_by_cluster() -> None:
    found = by_interview([1, 1, 1, -1], 20)
    assert found.randomization.exact
    assert found.randomization.p == 10 / 16
    assert found.holm_p == 10 / 16
    assert found.t_test.df == 3
    assert found.t_test.t == pytest.approx(1.0)
    assert found.wilcoxon.n == 4
    assert found.detectable is not None
    assert found.detectable > 1.0
    assert found.ruling.verdict == "inconclusive"
    assert (found.n, found.clusters, found.wins, found.losses) == (80, 4, 30, 10)
    assert found.difference == pytest.approx(0.25)
    assert found.to_dict()["clusters"] == 4


@pytest.mark.req("E8")
def test_many_clusters_that_agree_decide() -> None:
    found = by_interview([1, 1, 1, 1, 1, 0, 1, 1, 1, 1], 4)
    assert found.randomization.p == 2 / 2**9
    assert found.ruling.verdict == "better"


@pytest.mark.parametrize(
    ("gains", "reason"),
    [
        ([1], "one cluster has no spread"),
        ([1, 1], "every cluster differs by the same amount, so t is undefined"),
        ([0, 0], "no cluster differs on the whole"),
    ],
)
def test_clusters_without_spread_have_an_explained_answer(gains: list[int], reason: str) -> None:
    found = by_interview(gains, 6)
    assert found.t_test.p in (None, 1.0)
    assert found.to_dict()["reason"] == reason
    assert found.ruling.verdict in ("inconclusive", "equivalent")


TESTS = suite(*(golden(f"q{at:02}", f"d{at}") for at in range(20)))


def evaluated(rank: int, name: str, fails: str = "") -> assay.EvaluationResult:
    def retrieve(text: str) -> list[str]:
        if fails and fails in text:
            raise ValueError("no")
        at = int(text.removeprefix("question q"))
        return ["x"] * ((rank + at) % 3) + [f"d{at}"]

    return assay.evaluate(retrieve, TESTS, "MRR Success@1", name=name)


@pytest.mark.req("E8")
def test_results_of_evaluate_are_compared_like_stored_runs() -> None:
    one, other = evaluated(0, "one"), evaluated(1, "other")
    found = assay.compare(one, other)
    assert found == assay.compare(one.scores, other.scores) == assay.compare(one.scores, other)
    assert found.baseline == "one"
    a, b = (stored(run.name, TESTS, run.outcomes) for run in (one, other))
    assert found.contrasts == ab(a, b, "MRR Success@1").contrasts


def test_a_failed_query_is_never_compared_silently(caplog: pytest.LogCaptureFixture) -> None:
    broken = evaluated(0, "broken", fails="q07")
    caplog.clear()
    assert assay.compare(evaluated(0, "whole"), broken).contrasts[0].losses == 1
    assert caplog.messages == ["broken: 1 of 20 queries failed; compared as they are"]


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(UsageError, match="a dict cannot be compared"):
        assay.compare(evaluated(0, "one"), {"MRR": 1.0})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="nothing to compare with"):
        assay.compare(evaluated(0, "one"))
    part = assay.evaluate(lambda text: [], replace(TESTS, queries=TESTS.queries[:5]), "MRR")
    with pytest.raises(UsageError, match="over different queries"):
        assay.compare(evaluated(0, "one"), part)
