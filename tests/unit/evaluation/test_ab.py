"""Which of two configurations is better, and at what cost? The A/B scenarios of 000."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from assay.evaluation.ab import ABResult, ab
from assay.evaluation.latency import Speed, latency_apart, latency_together
from assay.evaluation.stored_run import StoredRun
from assay.model.runs import Timings
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


def in_turn(run: StoredRun, change: float, pauses: float = 0.0, repeats: int = 3) -> Timings:
    """Times of a and b, asked in turn; ``pauses`` befall one pass of every query on one side."""
    pairs = {}
    for at, out in enumerate(run.outcomes):
        base = 20.0 + at % 5
        passes = [(base + n, base + n + change + 0.1 * (at % 3 - 1)) for n in range(repeats)]
        passes[at % repeats] = (passes[at % repeats][0] + pauses, passes[at % repeats][1])
        pairs[out.query_id] = tuple(passes)
    return Timings(pairs, repeats)


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
    found = ab(a, ranks("b", draw(1, 60, 2)), timings=in_turn(a, 80.0))
    assert found.latency.difference.mean == pytest.approx(80.0)
    assert found.latency.interval.low is not None
    assert 79.8 < found.latency.interval.low < 80.0
    assert found.latency.verdict is Speed.SLOWER
    assert "B is better than A on nDCG@10" in found.verdict
    assert "B is slower: mean +0.080 s" in found.verdict
    assert "60 queries were asked of both sides in turn, 3 times" in found.verdict
    plain = found.to_dict()["latency"]
    assert (plain["measured_together"], plain["repeats"], plain["verdict"]) == (True, 3, "slower")
    assert plain["ci"] is not None


@pytest.mark.req("E8")
def test_runs_made_apart_show_their_times_and_nothing_follows() -> None:
    a = ranks("a", draw(1, 60))
    found = ab(a, slower(ranks("b", draw(1, 60, 2)), 80.0))
    assert found.latency.difference.mean == pytest.approx(81.0)
    assert found.latency.difference.p95 == pytest.approx(82.0)
    assert found.latency.verdict is None
    assert "B is slower" not in found.verdict
    assert "the sides were not measured together" in found.verdict
    plain = found.to_dict()["latency"]
    assert (plain["measured_together"], plain["verdict"], plain["ci"]) == (False, None, None)
    assert "not measured together" in plain["ci_reason"]


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


def test_pauses_of_the_machine_do_not_decide_about_latency() -> None:
    a = ranks("a", draw(1, 30))
    found = latency_together(in_turn(a, 5.0, pauses=6000.0))
    assert found.difference.mean == pytest.approx(5.0, abs=1.1)
    assert found.verdict is Speed.SLOWER
    same = latency_together(in_turn(a, 0.0))
    assert same.verdict is Speed.INCONCLUSIVE
    assert latency_together(in_turn(a, -5.0)).verdict is Speed.FASTER


@pytest.mark.parametrize(
    ("sick", "said"),
    [
        ("a", "DEGRADED: A was degraded for 2 of 30 queries. "),
        ("b", "DEGRADED: B was degraded for 2 of 30 queries. "),
        ("ab", "DEGRADED: A was degraded for 2 of 30 queries and B was degraded for 2 of 30"),
    ],
)
def test_the_verdict_begins_with_what_was_degraded(sick: str, said: str) -> None:
    def run(name: str) -> StoredRun:
        made = ranks(name, draw(1, 30))
        if name not in sick:
            return made
        first, second, *others = made.outcomes
        bad = [
            replace(out, degraded=True, component_errors=("splade_timeout",))
            for out in (first, second)
        ]
        return replace(made, outcomes=(*bad, *others))

    found = ab(run("a"), run("b"))
    assert found.verdict.startswith(said)
    assert found.to_dict()["degraded"] is True
    assert not ab(ranks("a", draw(1, 30)), ranks("b", draw(1, 30))).verdict.startswith("DEGRADED")


@pytest.mark.req("E8")
def test_the_verdict_says_what_the_t_test_says() -> None:
    a = ranks("a", dict.fromkeys((f"q{at:02}" for at in range(12)), 2))
    found = ab(a, ranks("b", {f"q{at:02}": 1 if at < 5 else 2 for at in range(12)}))
    assert "Significant by the paired t-test (p = 0.0172)" in found.verdict
    plain = found.to_dict()
    assert (plain["significant"], plain["verdict"]) == (True, "inconclusive")
    assert set(plain["tests"]) == {"significant", "verdict"}
    assert found.contrasts[0].significance in plain["verdict_text"]


def test_identical_runs_are_equivalent() -> None:
    a = ranks("a", draw(1, 30))
    found = ab(a, ranks("b", draw(1, 30)))
    assert found.primary.ruling.verdict is Verdict.EQUIVALENT
    assert "A and B are equivalent on nDCG@10" in found.verdict


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
    for change in (latency_apart(run, untimed, ["q1", "q2"]), latency_together(Timings({}, 3))):
        assert change.n == 0
        assert change.difference.mean is None
        assert change.interval.low is None
        assert change.verdict is None


def test_queries_of_one_group_do_not_make_a_change_of_latency_certain() -> None:
    run = ranks("a", draw(1, 60))
    names = [out.query_id for out in run.outcomes]
    alone = latency_together(in_turn(run, 5.0))
    groups = {name: f"interview-{at % 3}" for at, name in enumerate(names)}
    together = latency_together(in_turn(run, 5.0), groups=groups)
    assert (together.interval.clusters, alone.interval.clusters) == (3, None)
    assert together.difference == alone.difference
