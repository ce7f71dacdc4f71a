"""Which of two configurations is better, and at what cost? The A/B scenarios of 000."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from assay.evaluation.ab import ABResult, ab, latency_change
from assay.evaluation.stored_run import StoredRun
from assay.stats.verdict import Verdict
from tests.unit.evaluation.stored import ranks

RRF = {"fusion_method": "rrf", "rrf_k": 60}
WEIGHTED = {"fusion_method": "weighted", "weights": {"bm25": 0.3, "splade": 0.4, "dense": 0.3}}


def draw(seed: int, count: int, shift: int = 0) -> dict[str, int | None]:
    places = np.random.default_rng(seed).integers(1, 9, count)
    return {f"q{at:03}": max(1, int(place) - shift) for at, place in enumerate(places)}


def slower(run: StoredRun, milliseconds: float) -> StoredRun:
    outcomes = tuple(
        replace(out, latency_ms=(out.latency_ms or 0.0) + milliseconds + at % 3)
        for at, out in enumerate(run.outcomes)
    )
    return replace(run, outcomes=outcomes)


def rrf_against_weighted(shift: int = 2) -> ABResult:
    a = ranks("a", draw(1, 60), types=True, config=RRF)
    return ab(a, ranks("b", draw(1, 60, shift), types=True, config=WEIGHTED))


@pytest.mark.req("E8")
def test_rrf_against_weighted_gives_difference_t_and_p_of_ndcg() -> None:
    found = rrf_against_weighted()
    first = found.primary
    assert str(first.measure) == "nDCG@10"
    assert first.difference is not None
    assert first.t_test.t is not None
    assert first.t_test.p is not None
    assert first.difference == pytest.approx(first.value - first.baseline)  # type: ignore[operator]
    assert first.t_test.significant == (first.t_test.p < 0.05)
    assert first.ruling.verdict is Verdict.BETTER
    assert first.wilcoxon.p is not None
    assert first.detectable is not None
    assert first.effect_size == pytest.approx(first.difference / first.t_test.sd)  # type: ignore[operator]


@pytest.mark.req("E8")
def test_reranking_shows_its_cost_beside_its_gain() -> None:
    a = ranks("a", draw(1, 60))
    found = ab(a, slower(ranks("b", draw(1, 60, 2)), 80.0))
    assert found.latency.difference.mean == pytest.approx(81.0)
    assert found.latency.difference.p50 == pytest.approx(81.0)
    assert found.latency.difference.p95 == pytest.approx(82.0)
    assert "B is better than A on nDCG@10" in found.verdict
    assert "B is slower: mean +81.0 ms, P50 +81.0 ms, P95 +82.0 ms" in found.verdict


@pytest.mark.req("E8")
def test_each_query_type_has_its_own_verdict() -> None:
    found = rrf_against_weighted()
    assert sorted(found.by_type) == ["complex_clinical", "exact_term", "paraphrase"]
    for contrasts in found.by_type.values():
        assert [str(c.measure) for c in contrasts] == [str(c.measure) for c in found.contrasts]
        assert contrasts[0].n == 20
    assert sum(contrasts[0].n for contrasts in found.by_type.values()) == 60


@pytest.mark.req("E8")
def test_holm_runs_over_the_measures_of_the_set_and_of_each_type() -> None:
    found = rrf_against_weighted()
    for contrasts in (found.contrasts, *found.by_type.values()):
        tested = [c for c in contrasts if c.randomization.p is not None]
        smallest = min(tested, key=lambda c: c.randomization.p or 0.0)
        expected = min(1.0, len(tested) * (smallest.randomization.p or 0.0))
        assert smallest.holm_p == pytest.approx(expected)


def test_one_slow_start_does_not_decide_about_latency() -> None:
    a, b = ranks("a", draw(1, 30)), slower(ranks("b", draw(1, 30)), 5.0)
    cold = (replace(a.outcomes[0], latency_ms=6000.0), *a.outcomes[1:])
    found = ab(replace(a, outcomes=cold), b)
    assert found.latency.difference.mean is not None
    assert found.latency.difference.mean < 0
    assert "B is slower" in found.verdict


def test_identical_runs_are_equivalent() -> None:
    a = ranks("a", draw(1, 30))
    found = ab(a, ranks("b", draw(1, 30)))
    assert found.primary.ruling.verdict is Verdict.EQUIVALENT
    assert "A and B are equivalent on nDCG@10" in found.verdict
    assert "Latency is about the same" in found.verdict


def test_a_constant_difference_has_a_defined_answer() -> None:
    a = ranks("a", {f"q{at}": 1 for at in range(20)})
    found = ab(a, ranks("b", {f"q{at}": 2 for at in range(20)}))
    assert found.primary.difference == pytest.approx(1 / np.log2(3) - 1)
    assert found.primary.t_test.t is None
    assert found.primary.t_test.reason is not None
    json.dumps(found.to_dict(), allow_nan=False)


def test_one_query_is_inconclusive() -> None:
    found = ab(ranks("a", {"q": 1}), ranks("b", {"q": 4}))
    assert found.primary.ruling.verdict is Verdict.INCONCLUSIVE
    assert "cannot tell A and B apart" in found.verdict
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_same_seed_gives_the_same_bytes() -> None:
    one, other = (json.dumps(rrf_against_weighted().to_dict()) for _ in range(2))
    assert one == other


def test_latency_without_times_is_undefined() -> None:
    run = ranks("a", {"q1": 1, "q2": 2})
    untimed = replace(run, outcomes=tuple(replace(o, latency_ms=None) for o in run.outcomes))
    change = latency_change(run, untimed, ["q1", "q2"])
    assert change.n == 0
    assert change.difference.mean is None
    assert change.interval.low is None


def test_queries_of_one_group_do_not_make_a_change_of_latency_certain() -> None:
    run = ranks("a", draw(1, 60))
    names = [out.query_id for out in run.outcomes]
    alone = latency_change(run, slower(run, 5.0), names)
    groups = {name: f"interview-{at % 3}" for at, name in enumerate(names)}
    together = latency_change(run, slower(run, 5.0), names, groups=groups)
    assert alone.p is not None
    assert alone.p < 0.001
    assert together.p == pytest.approx(0.25)  # the least that three groups can give
    assert (together.interval.clusters, alone.interval.clusters) == (3, None)
    assert together.difference == alone.difference
    assert latency_change(run, run, [], groups={}).n == 0
