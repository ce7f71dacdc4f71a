"""May this change be merged? The CI scenarios of 000."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from assay.errors import AssayError, FormatError, MissingFileError, UsageError
from assay.evaluation.baseline import (
    Baseline,
    side_of_file,
    side_of_run,
    sides_of_runs,
)
from assay.evaluation.gate import (
    Check,
    GateOutcome,
    GateReport,
    gate,
    measure_limit,
    parse_limit,
    parse_limits,
)
from assay.evaluation.latency import latency_together
from assay.evaluation.outcomes import latency_of
from assay.measures.parse import parse_measures
from assay.model.runs import QueryOutcome, RunStatus, Timings
from tests.unit.evaluation.stored import golden, ranks, result, stored, suite

MEASURES = parse_measures("Recall@10 nDCG@10")


def side(recall: float | None, ndcg: float | None = 0.7, name: str = "run") -> Baseline:
    return Baseline(name, {"Recall@10": recall, "nDCG@10": ndcg})


def held(before: float | None, after: float | None, *limits: str) -> GateReport:
    return gate(side(before, name="main"), side(after, name="branch"), parse_limits(limits))


@pytest.mark.req("E9")
@pytest.mark.parametrize(
    ("before", "after", "outcome", "code"),
    [
        (0.80, 0.79, "passed", 0),
        (0.80, 0.76, "passed", 0),  # exactly 5 %
        (0.60, 0.57, "passed", 0),  # exactly 5 %
        (0.80, 0.7599, "failed", 3),
        (0.80, 0.90, "passed", 0),
        (0.80, 0.0, "failed", 3),
        (0.0, 0.0, "inconclusive", 4),  # nothing can drop below 0
        (0.0, 0.5, "inconclusive", 4),
        (None, 0.5, "inconclusive", 4),
        (0.5, None, "inconclusive", 4),
        (None, None, "inconclusive", 4),
    ],
)
def test_recall_may_drop_by_5_percent(
    before: float | None, after: float | None, outcome: str, code: int
) -> None:
    report = held(before, after)
    assert report.outcome.value == outcome
    assert report.outcome.exit_code == code
    json.dumps(report.to_dict(), allow_nan=False)


@pytest.mark.req("E9")
def test_limits_may_be_absolute() -> None:
    baseline = side(0.80, 0.70)
    assert gate(baseline, side(0.80, 0.68), parse_limits(["nDCG@10=0.02"])).outcome == "passed"
    assert gate(baseline, side(0.80, 0.679), parse_limits(["nDCG@10=0.02"])).outcome == "failed"


@pytest.mark.req("E9")
def test_limits_that_are_given_replace_the_usual_one() -> None:
    assert [str(limit) for limit in parse_limits(())] == ["Recall@10=5%"]
    assert [str(limit) for limit in parse_limits(["nDCG@10=0.02"])] == ["nDCG@10=0.02"]
    assert [str(limit) for limit in parse_limits(["Recall@10=10%"])] == ["Recall@10=10%"]
    report = gate(side(0.8, 0.7), side(0.1, 0.7), parse_limits(["nDCG@10=0.02"]))
    assert report.outcome is GateOutcome.PASSED
    assert report.shown["Recall@10"] == (0.8, 0.1)  # it is still shown


def timed_side(name: str, *times: float) -> Baseline:
    return replace(side(0.8, name=name), latency=latency_of(times))


def ruled(limit: str, before: Sequence[float], after: Sequence[float], repeats: int = 0) -> Check:
    pairs = {f"q{at}": (pair,) * repeats for at, pair in enumerate(zip(before, after, strict=True))}
    report = gate(
        timed_side("main", *before),
        timed_side("branch", *after),
        parse_limits([limit]),
        timed=latency_together(Timings(pairs, repeats)) if repeats else None,
    )
    json.dumps(report.to_dict(), allow_nan=False)
    (check,) = report.checks
    return check


@pytest.mark.req("E9")
@pytest.mark.parametrize(
    ("limit", "after", "outcome"),
    [
        ("latency_mean=20%", 12.0, "passed"),  # exactly 20 %
        ("latency_mean=20%", 12.1, "failed"),
        ("latency_p50=2ms", 12.0, "passed"),
        ("latency_p50=2ms", 12.1, "failed"),
        ("latency_P95 = 0%", 9.0, "passed"),
        ("latency_p95<11.5ms", 11.0, "passed"),
        ("latency_p95<=11.5ms", 12.0, "failed"),
    ],
)
def test_latency_has_limits(limit: str, after: float, outcome: str) -> None:
    steps = [0.0, 0.01, -0.01, 0.02, -0.02, 0.0, 0.01, -0.01]
    check = ruled(limit, [10.0 + one for one in steps], [after + one for one in steps], repeats=3)
    assert (check.outcome.value, check.to_dict()["unit"]) == (outcome, "ms")


@pytest.mark.req("E9")
def test_sides_that_were_timed_apart_show_no_slowdown() -> None:
    """Only a ceiling can be exceeded: it says nothing of the other side."""
    within = ruled("latency_mean=20%", [10.0, 10.0], [11.0, 11.0])
    assert within.outcome is GateOutcome.PASSED
    beyond = ruled("latency_mean=20%", [10.0, 10.0], [19.0, 19.0])
    assert beyond.outcome is GateOutcome.INCONCLUSIVE
    assert "not measured together" in beyond.sentence
    assert ruled("latency_mean<12ms", [10.0], [19.0]).outcome is GateOutcome.FAILED
    assert ruled("latency_mean<20ms", [10.0], [19.0]).outcome is GateOutcome.PASSED


@pytest.mark.req("E9")
def test_a_slowdown_that_chance_explains_is_inconclusive() -> None:
    before = [10.0] * 8
    after = [4.0, 30.0, 5.0, 6.0, 28.0, 4.0, 5.0, 6.0]
    check = ruled("latency_mean=5%", before, after, repeats=3)
    assert check.outcome is GateOutcome.INCONCLUSIVE
    assert "holds 0" in check.sentence


def test_a_side_without_times_is_inconclusive(tmp_path: Path) -> None:
    for limit in ("latency_p95=20%", "latency_p95<100ms"):
        report = gate(side(0.8), side(0.8), parse_limits([limit]))
        assert report.outcome is GateOutcome.INCONCLUSIVE
        assert "how long" in report.checks[0].sentence
    path = tmp_path / "base.json"
    times = {"n": 3, "mean": 10.0, "p50": 9.0, "p95": 12.0}
    path.write_text(json.dumps({"metrics": {"recall_at_10": 0.8}, "latency_ms": times}))
    read = side_of_file(path, MEASURES)
    report = gate(read, timed_side("now", 10.0), parse_limits(["latency_p95=20%"]))
    assert (report.checks[0].baseline, report.outcome) == (12.0, GateOutcome.PASSED)
    path.write_text(json.dumps({"metrics": {}, "latency_ms": {"p95": "fast"}}))
    with pytest.raises(FormatError, match=r"latency_ms\.p95"):
        side_of_file(path, MEASURES)


@pytest.mark.parametrize(
    "text",
    ["latency=5%", "latency_p99=5%", "latency_p95", "latency_p95=5", "latency_p95<5%",
     "latency_p95=-5%", "latency_mean=nanms", "latency_p95>5ms"],
)  # fmt: skip
def test_what_is_not_a_limit_of_latency_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a limit of latency"):
        parse_limit(text)


def test_a_slowdown_and_a_ceiling_are_two_limits() -> None:
    texts = ["latency_p95=20%", "latency_p95<500ms"]
    assert [str(limit) for limit in parse_limits(texts)] == texts
    with pytest.raises(UsageError, match="two limits"):
        parse_limits(["latency_p95=20%", "latency_p95=5ms"])


@pytest.mark.parametrize(
    "text",
    ["", "5%", "=5%", "Recall@10", "Recall@10=", "Recall@10=-1", "Recall@10=nan", "Recall@10=1e3"],
)
def test_what_is_not_a_limit_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_limit(text)


@pytest.mark.req("E9")
@pytest.mark.parametrize("text", ["Recall@10=5", "nDCG@10=1", "EmptyResultRate=2.5"])
def test_an_absolute_limit_that_can_never_fail_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="can never fail") as error:
        parse_limit(text)
    assert error.value.hint == f'did you mean "{text}%"?'
    assert measure_limit("nDCG@10=0.99").amount == 0.99


def test_two_limits_for_one_measure_are_refused() -> None:
    with pytest.raises(UsageError, match="two limits"):
        parse_limits(["Recall@10=5%", "recall_at_10=3%"])


def test_more_empty_results_are_worse() -> None:
    limit = measure_limit("EmptyResultRate=0.02")
    assert limit.exceeded(0.01, 0.05)
    assert not limit.exceeded(0.05, 0.01)


@pytest.mark.req("E9")
def test_a_degraded_run_is_never_compared() -> None:
    degraded = replace(side(0.9), degraded=3)
    report = gate(side(0.8), degraded, parse_limits([]))
    assert report.outcome is GateOutcome.INCONCLUSIVE
    assert "3 queries" in report.blockers[0]
    assert gate(degraded, side(0.1), parse_limits([])).outcome.exit_code == 4


def test_one_failure_outweighs_what_is_undefined() -> None:
    limits = parse_limits(["Recall@10=5%", "nDCG@10=0.02"])
    report = gate(side(0.8, None), side(0.1, None), limits)
    assert {check.outcome.value for check in report.checks} == {"failed", "inconclusive"}
    assert report.outcome is GateOutcome.FAILED


# --- stored runs

GOOD = {f"q{at:02}": 1 + at % 3 for at in range(40)}


@pytest.mark.req("E9")
def test_runs_show_measures_types_and_failing_queries() -> None:
    before = side_of_run(ranks("main", dict(GOOD), types=True), MEASURES)
    worse: dict[str, int | None] = {**GOOD, "q03": None, "q04": None, "q05": None}
    after = side_of_run(ranks("branch", worse, types=True), MEASURES)
    report = gate(before, after, parse_limits([]))
    assert report.outcome is GateOutcome.FAILED  # 37 of 40 found: a drop of 7.5 %
    assert list(report.shown["Recall@10"]) == pytest.approx([1.0, 0.925])
    assert set(report.by_type) == {"exact_term", "paraphrase", "complex_clinical"}
    assert [query.query_id for query in report.failing] == ["q03", "q04", "q05"]
    assert report.failing[0].query_text == "question q03"


def test_an_unfinished_run_is_inconclusive() -> None:
    whole = ranks("main", dict(GOOD))
    part = stored("b", whole.test_set, whole.outcomes, status=RunStatus.INTERRUPTED)
    report = gate(side_of_run(whole, MEASURES), side_of_run(part, MEASURES), parse_limits([]))
    assert report.outcome.exit_code == 4


def test_another_test_set_is_inconclusive() -> None:
    a, b = ranks("a", dict(GOOD)), ranks("b", {**GOOD, "q99": 1})
    report = gate(side_of_run(a, MEASURES), side_of_run(b, MEASURES), parse_limits([]))
    assert report.outcome.exit_code == 4
    assert "test sets differ" in report.blockers[0]


@pytest.mark.req("E9", "K14")
def test_runs_of_different_chunkers_are_matched_by_characters() -> None:
    tests = suite(golden("q", "D:chunk_3"))
    old = replace(result("D:chunk_3", spans=((300, 400),)), chunker_version="old")
    new = replace(result("D:chunk_1", spans=((200, 380),)), chunker_version="new")
    a = stored("a", tests, [QueryOutcome("q", (old,))], versions=["old"])
    b = stored("b", tests, [QueryOutcome("q", (new,))], versions=["new"])
    report = gate(*sides_of_runs(a, b, MEASURES), parse_limits([]))
    assert report.outcome is GateOutcome.PASSED
    assert any("chunkers differ" in line for line in report.warnings)
    by_id = gate(side_of_run(a, MEASURES), side_of_run(b, MEASURES), parse_limits([]))
    assert by_id.outcome is GateOutcome.INCONCLUSIVE  # as a file against a run would be


def interval_gate(after: dict[str, int | None], limit: str = "Recall@10=5%") -> GateReport:
    before = side_of_run(ranks("a", dict(GOOD)), MEASURES)
    current = side_of_run(ranks("b", after), MEASURES)
    return gate(before, current, parse_limits([limit]), non_inferiority=True)


@pytest.mark.req("E9")
def test_non_inferiority_asks_the_interval() -> None:
    assert interval_gate(dict(GOOD)).outcome is GateOutcome.PASSED
    lost: dict[str, int | None] = {**GOOD, **{f"q{at:02}": None for at in range(20)}}
    assert interval_gate(lost).outcome is GateOutcome.FAILED
    one: dict[str, int | None] = {**GOOD, "q00": None}
    unsure = interval_gate(one)
    assert unsure.outcome is GateOutcome.INCONCLUSIVE  # the mean alone would pass
    assert unsure.checks[0].interval is not None


@pytest.mark.req("E9")
def test_a_baseline_of_0_cannot_be_held_against() -> None:
    nothing: dict[str, int | None] = dict.fromkeys(GOOD)
    before, after = (side_of_run(ranks(name, nothing), MEASURES) for name in "ab")
    for limits in ((), ("Recall@10=0.02",)):
        for mode in (False, True):
            report = gate(before, after, parse_limits(limits), non_inferiority=mode)
            assert report.outcome is GateOutcome.INCONCLUSIVE
            assert "is 0" in report.checks[0].sentence
    empty = [Baseline(name, {"EmptyResultRate": value}) for name, value in (("a", 0.0), ("b", 0.1))]
    limit = measure_limit("EmptyResultRate=0.02")  # here 0 is the best that there is
    assert gate(empty[0], empty[1], [limit]).outcome is GateOutcome.FAILED


def test_non_inferiority_of_one_query_is_inconclusive() -> None:
    a, b = (side_of_run(ranks(name, {"q": 1}), MEASURES) for name in "ab")
    report = gate(a, b, parse_limits([]), non_inferiority=True)
    assert report.outcome is GateOutcome.INCONCLUSIVE


# --- files


def write(folder: Path, content: object) -> Path:
    place = folder / "baseline.json"
    place.write_text(content if isinstance(content, str) else json.dumps(content))
    return place


@pytest.mark.req("E9")
def test_a_baseline_may_be_a_file(tmp_path: Path) -> None:
    content = {
        "metrics": {"recall_at_10": 1.0, "ndcg_at_10": None},
        "scoring": {"match": "exact"},
        "chunker_versions": ["text-1"],
        "per_query_type": {"exact_term": {"recall_at_10": 1.0}},
    }
    baseline = side_of_file(write(tmp_path, content), MEASURES)
    current = side_of_run(ranks("b", {**GOOD, "q00": None}, types=True), MEASURES)
    report = gate(baseline, current, parse_limits([]))
    assert report.outcome is GateOutcome.PASSED
    assert list(report.by_type["exact_term"]["Recall@10"]) == pytest.approx([1.0, 13 / 14])
    assert gate(baseline, current, parse_limits(["nDCG@10=1%"])).outcome.exit_code == 4


def rounded_file(folder: Path, exact: dict[str, float]) -> Baseline:
    """A baseline file with the values of a run, to four decimals."""
    content = {
        "metrics": {"ndcg_at_10": round(sum(exact.values()) / len(exact), 4)},
        "per_query": {query: {"ndcg_at_10": round(value, 4)} for query, value in exact.items()},
    }
    return side_of_file(write(folder, content), MEASURES)


@pytest.mark.req("E9")
def test_what_a_file_rounded_did_not_get_worse(tmp_path: Path) -> None:
    exact = {f"q{at}": (7 + at % 2) / 11 for at in range(12)}  # 0.63636 and 0.72727: both round up
    baseline = rounded_file(tmp_path, exact)
    current = Baseline("run", {"nDCG@10": 7.5 / 11}, {"nDCG@10": exact})
    same = gate(baseline, current, [parse_limit("nDCG@10=0")])
    assert same.outcome is GateOutcome.PASSED
    assert same.checks[0].sentence == "it did not get worse"
    assert same.failing == ()
    by_interval = gate(baseline, current, [parse_limit("nDCG@10=0")], non_inferiority=True)
    assert by_interval.outcome is GateOutcome.PASSED
    worse = rounded_file(tmp_path, {**exact, "q0": exact["q0"] + 0.0002})
    found = gate(worse, current, [parse_limit("nDCG@10=5%")])
    assert [query.query_id for query in found.failing] == ["q0"]


@pytest.mark.req("E9")
def test_non_inferiority_without_values_of_queries_says_what_to_do(tmp_path: Path) -> None:
    run = ranks("b", dict(GOOD))
    stated = {
        "metrics": {"recall_at_10": 1.0},
        "scoring": {"match": "exact"},
        "chunker_versions": ["text-1"],
    }
    bare = side_of_file(write(tmp_path, stated), MEASURES)
    (check,) = gate(bare, side_of_run(run, MEASURES), parse_limits([]), non_inferiority=True).checks
    assert check.outcome is GateOutcome.INCONCLUSIVE
    assert "baseline.json has no values of single queries" in check.sentence
    assert "assay eval show RUN --json --per-query, or name the stored run" in check.sentence
    per_query = {**stated, "per_query": {"other": {"recall_at_10": 1.0}}}
    other = side_of_file(write(tmp_path, per_query), MEASURES)
    (check,) = gate(
        other, side_of_run(run, MEASURES), parse_limits([]), non_inferiority=True
    ).checks
    assert "same test set" in check.sentence
    rates = side_of_run(run, parse_measures("Recall@10 EmptyResultRate"))
    limit = measure_limit("EmptyResultRate=0.02")
    (check,) = gate(rates, rates, [limit], non_inferiority=True).checks
    assert check.outcome is GateOutcome.PASSED  # single answers have values, too


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"metrics": 3}',
        '{"metrics": {"recall_at_10": "0.8"}}',
        '{"metrics": {"recall_at_10": true}}',
        '{"metrics": {"recall_at_10": NaN}}',
        '{"metrics": {"recall_at_10": 1e999}}',
        "[" * 100_000,
    ],
)
def test_a_file_that_is_no_baseline_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(FormatError):
        side_of_file(write(tmp_path, content), MEASURES)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="nowhere"):
        side_of_file(tmp_path / "nowhere.json", MEASURES)
    with pytest.raises(AssayError):
        side_of_file(tmp_path, MEASURES)


def test_no_row_says_passed_of_what_was_not_compared() -> None:
    degraded = replace(side(0.9), degraded=2)
    report = gate(side(0.8), degraded, parse_limits(()))
    assert report.blockers
    assert {check.outcome for check in report.checks} == {GateOutcome.INCONCLUSIVE}
