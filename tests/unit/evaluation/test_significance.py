from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

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
        return [*(f"x{n}" for n in range((rank + at) % 3)), f"d{at}"]

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
    by_doc = assay.evaluate(lambda text: [], TESTS, "MRR Success@1", match="doc", name="by doc")
    with pytest.raises(UsageError, match="one and by doc were scored by different rules"):
        assay.compare(evaluated(0, "one"), by_doc)
    part = assay.evaluate(lambda text: [], replace(TESTS, queries=TESTS.queries[:5]), "MRR")
    with pytest.raises(UsageError, match="different test sets"):
        assay.compare(evaluated(0, "one"), part)


def contrasted(before: list[int], after: list[int], measures: str = "MRR") -> Contrast:
    """The first measure of two runs, by the rank of what each query looks for."""
    qrels = {f"q{i}": {"a": 1} for i in range(len(before))}
    one, other = (assay.score(qrels, run(ranks), measures) for ranks in (before, after))
    return assay.compare(one, other).contrasts[0]


FIVE = "nDCG@10 Recall@5 Recall@10 Recall@20 MRR"


@pytest.mark.req("E8")
def test_significant_is_the_t_test_of_the_seed_whatever_the_verdict() -> None:
    """Five of twelve queries gain: p_t is 0.0172; the corrected randomization test is open."""
    found = contrasted([2] * 12, [1] * 5 + [2] * 7, FIVE)
    expected = stats.ttest_rel([0.6309] * 12, [1.0] * 5 + [0.6309] * 7)
    assert found.t_test.p == pytest.approx(expected.pvalue)
    assert round(found.t_test.p or 0, 4) == 0.0172
    assert found.significant is True
    assert (found.holm_p, found.comparisons) == (0.3125, 5)
    assert found.ruling.verdict == "inconclusive"
    assert found.leaves_out_zero
    assert found.significance == (
        "Significant by the paired t-test (p = 0.0172), and the 95% interval leaves out 0; the "
        "verdict rests on the randomization test: only 5 queries differ, and with so few it cannot "
        "go below p = 0.0625."
    )
    plain = found.to_dict()
    assert (plain["significant"], plain["verdict"]) == (True, "inconclusive")
    assert plain["significance"] == found.significance
    assert "significant" not in plain["explanation"]


@pytest.mark.req("E8")
def test_where_the_correction_makes_the_difference_it_is_named() -> None:
    found = contrasted([2] * 12, [1] * 7 + [2] * 5, FIVE)
    assert found.significance.endswith(
        "the verdict is corrected for 5 comparisons, which takes the randomization test "
        "from p = 0.0156 to 0.0781."
    )
    alone = contrasted([2] * 12, [1] * 7 + [2] * 5, "nDCG@10")
    assert (alone.ruling.verdict, alone.comparisons) == ("better", 1)
    assert alone.significance == f"Significant by the paired t-test (p = {alone.t_test.p:.4f})."
    assert not alone.disagrees


@pytest.mark.req("E8")
def test_a_difference_that_matters_not_may_be_significant() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(200)}
    deep = {q: ["x"] * 199 + ["a"] for q in qrels}
    less = {q: ["x"] * (180 - i % 7) + ["a"] for i, q in enumerate(qrels)}
    one, other = (assay.score(qrels, run, "MRR") for run in (deep, less))
    found = assay.compare(one, other).contrasts[0]
    assert (found.significant, found.ruling.verdict) == (True, "equivalent")
    assert found.significance.endswith("asks whether the difference is large enough to matter.")


@pytest.mark.req("E8")
@pytest.mark.parametrize(
    ("before", "after", "significant", "verdict", "said"),
    [
        ([2] * 12, [2] * 12, False, "equivalent", "Not significant by the paired t-test (p = 1.0"),
        ([2] * 12, [1] * 12, None, "better", "No paired t-test: every pair differs by the same"),
        ([1], [2], None, "inconclusive", "No paired t-test: one pair has no spread."),
        ([1, 1], [2, 3], False, "inconclusive", "the verdict rests on the randomization test"),
    ],
)
def test_small_and_constant_differences_have_an_answer_by_each_test(
    before: list[int], after: list[int], significant: bool | None, verdict: str, said: str
) -> None:
    found = contrasted(before, after)
    assert (found.significant, found.ruling.verdict) == (significant, verdict)
    assert said in found.significance
    if found.t_test.sd == 0.0:  # such a spread says nothing of what could have been shown
        assert found.detectable is None


@pytest.mark.req("E8")
def test_no_interval_leaves_out_zero_beside_an_open_verdict_without_a_word() -> None:
    rng, met = np.random.default_rng(0), 0
    for _ in range(60):
        n = int(rng.integers(2, 16))
        before = rng.integers(1, 5, n)
        after = np.maximum(1, before - rng.integers(0, 3, n))
        found = contrasted(before.tolist(), after.tolist(), "MRR Success@1")
        if found.ruling.verdict == "inconclusive" and (found.leaves_out_zero or found.significant):
            met += 1
            assert "; the verdict " in found.significance
        assert found.significant == (None if found.t_test.p is None else found.t_test.p < 0.05)
    assert met > 5


def test_a_comparison_names_its_tests() -> None:
    plain = assay.compare(scored([1, 2] * 15, "a"), scored([1, 1] * 15, "b")).to_dict()
    assert plain["tests"]["significant"].startswith("paired t-test")
    assert "randomization test, Holm-corrected" in plain["tests"]["verdict"]


def test_runs_of_one_name_are_told_apart() -> None:
    same, other = scored([1, 2] * 15, "run"), scored([2, 1] * 15, "other")
    found = assay.compare(same, scored([2, 2] * 15, "run"), other)
    assert found.baseline == "run 1"
    assert list(dict.fromkeys(one.run for one in found.contrasts)) == ["run 2", "other"]
    assert len(found.of("run 2")) == 2


def test_a_comparison_reads_as_text() -> None:
    found = assay.compare(scored([1] * 30, "a"), scored([2] * 30, "b"))
    first, *_ = lines = str(found).splitlines()
    assert len(lines) == len(found.contrasts)
    assert first.startswith("b against a, MRR: 1.0000 → 0.5000 (30 queries). Worse: ")
    assert "t-test" in first
