"""Is the difference of two sides that of the queries which both were asked?"""

from __future__ import annotations

import pytest

from assay.evaluation.ab import ab
from assay.evaluation.compare import ComparisonKind, compare_runs
from assay.evaluation.cross_mode import mode_difference
from assay.evaluation.result import EvaluationResult, result_of
from assay.evaluation.stored_run import StoredRun
from assay.model.answers import Expect
from assay.model.ranking import Match
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.scoring import Scoring
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.render.evaluation import modes_tables
from tests.unit.evaluation.stored import golden, outcome, stored, suite


def side(**found: str) -> EvaluationResult:
    """Queries that all look for ``right``, and the one result of each."""
    queries = tuple(
        GoldenQuery(name, name, relevant_docs=(Judgment("right", 1),)) for name in found
    )
    outcomes = [QueryOutcome(name, (RankedResult(one, one),)) for name, one in found.items()]
    return result_of(TestSet("t", "v1", queries), outcomes)


@pytest.mark.req("W9")
def test_only_shared_queries_count() -> None:
    offline = side(a="right", b="right", c="wrong", d="wrong")
    live = side(a="wrong", b="right", e="right")
    found = mode_difference({"OFFLINE": offline, "LIVE": live})
    assert (offline["MRR"], live["MRR"]) == (0.5, 2 / 3), "the means would say LIVE is better"
    assert found.to_dict()["metrics"]["mrr"] == -0.5
    assert found.shared == ("a", "b")
    assert found.only == {"OFFLINE": ("c", "d"), "LIVE": ("e",)}
    assert found.warnings() == [
        "2 queries were asked on both sides, and the difference is over these; "
        "only OFFLINE: c, d; only LIVE: e"
    ]


def test_the_same_queries_need_no_word() -> None:
    found = mode_difference({"OFFLINE": side(a="right"), "LIVE": side(a="wrong")})
    assert found.warnings() == []
    assert found.to_dict()["metrics"]["mrr"] == -1.0


def test_without_a_shared_query_there_is_no_difference() -> None:
    found = mode_difference({"OFFLINE": side(a="right"), "LIVE": side(b="right")})
    assert set(found.to_dict()["metrics"].values()) == {None}
    assert "no query was asked on both sides" in found.warnings()[0]


def test_a_measure_of_one_side_only_is_shown_there_and_rules_are_named() -> None:
    """As AUROC is, where the queries without evidence belong to one side."""
    tests = TestSet(
        "t",
        "v1",
        (
            GoldenQuery("q1", "x", relevant_docs=(Judgment("right", 1),)),
            GoldenQuery("q2", "y", expect=Expect.NOTHING),
        ),
    )
    outcomes = [QueryOutcome(f"q{n}", (RankedResult("right", "right", 1.0 / n),)) for n in (1, 2)]
    both = {
        "OFFLINE": result_of(tests, outcomes, Scoring(match=Match.DOC)),
        "LIVE": side(q1="right"),
    }
    difference = mode_difference(both)
    for results in (both, dict(reversed(both.items()))):
        table, *rest = modes_tables(results, mode_difference(results), per_query=True)
        shown = {row[0]: row[1:] for row in table.rows}
        one, other = ("1.0000", "—") if results is both else ("—", "1.0000")
        assert shown["AUROC"] == (one, other, "—")
        assert shown["MRR"] == ("1.0000", "1.0000", "+0.0000")
        assert "results are matched by document" in table.notes
        assert [one.title for one in rest] == [f"{name} by query" for name in results]
    assert modes_tables(both, difference) == [modes_tables(both, difference)[0]]


# The two runs, compared as any others are


def run_of(mode: str, judged: str, results: tuple[str, ...]) -> StoredRun:
    """A run of one query that asked documents which came one way, judged by those."""
    tests = suite(golden("q1", judged), golden(f"q-{mode}", judged))
    outcomes = [outcome("q1", *results), outcome(f"q-{mode}", *results)]
    return stored(mode, tests, outcomes, config={"mode": mode}, part=mode)


@pytest.mark.req("W10")
def test_each_run_is_compared_by_what_was_judged_of_its_own_documents() -> None:
    offline = run_of("offline", "o1", ("o1", "o2"))
    live = run_of("live", "l1", ("l2", "l1"))
    report = compare_runs(offline, live, measures="MRR Recall@10")
    assert (report.aggregate_a.mrr, report.aggregate_b.mrr) == (1.0, 0.5)
    assert report.aggregate_a.recall_at_k_doc[10] == report.aggregate_b.recall_at_k_doc[10] == 1.0
    (row,) = report.per_query
    assert (row.kind, row.a_hit_rank, row.b_hit_rank) == (ComparisonKind.LOSS, 1, 2)
    (line,) = report.warnings
    assert line.startswith("the runs asked documents of different origin (offline and live)")
    assert "1 query is in both" in line
    tested = ab(offline, live, "MRR")
    assert (tested.a["MRR"], tested.b["MRR"]) == (1.0, 0.5)


def test_runs_of_one_origin_are_compared_by_the_judgments_of_the_second() -> None:
    """The words of the other rule: a test set that was judged anew."""
    before, after = run_of("live", "o1", ("o1", "l1")), run_of("live", "l1", ("o1", "l1"))
    report = compare_runs(before, after)
    assert (report.aggregate_a.mrr, report.aggregate_b.mrr) == (0.5, 0.5)
    assert any("different versions of golden" in line for line in report.warnings)
