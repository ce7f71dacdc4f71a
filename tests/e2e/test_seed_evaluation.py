"""The scenarios of the evaluation capability, each under its own name.

Those of the refresh stand in ``test_seed_test_set_refresh.py``, those of the endpoint and of
Prometheus in ``tests/unit/http/test_evaluate.py``, ``test_metrics.py`` and ``tests/ops``.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

import assay
from assay.app.workspace import Workspace
from assay.errors import ProblemsError
from assay.evaluation.ab import ab
from assay.evaluation.baseline import side_of_run
from assay.evaluation.components import HYBRID, component_report
from assay.evaluation.gate import GateOutcome, GateReport, gate, parse_limits
from assay.evaluation.parts import part_of
from assay.evaluation.record import Recorded, RecordOptions, record
from assay.evaluation.stored_run import StoredRun
from assay.model.testset import GoldenQuery, Judgment, QueryType, TestSet
from assay.render.gate import gate_markdown
from assay.search.fuse_again import fuser_of
from assay.testsets.load import parse_test_set
from assay.testsets.split import hold_out
from tests.e2e.clinic import DRUGS
from tests.unit.evaluation.stored import ranks

CPU_RERANKER = "ms-marco-minilm-l12-v2"


def one_query(relevant: dict[str, int], ranking: list[str], measures: str) -> assay.Scores:
    return assay.score({"q": relevant}, {"q": ranking}, measures)


def drug_questions() -> TestSet:
    """Questions to the clinic: one of each type for every drug."""
    queries = []
    for drug in DRUGS:
        for kind, text, judged in (
            (QueryType.EXACT_TERM, f"{drug} adverse events", f"AE-{drug}:chunk_0"),
            (QueryType.PARAPHRASE, f"how much {drug} is given", f"TXT-{drug}:chunk_1"),
            (QueryType.COMPLEX_CLINICAL, f"survival on {drug} or placebo", f"TXT-{drug}:chunk_0"),
        ):
            queries.append(
                GoldenQuery(f"{drug}-{kind}", text, kind, relevant_docs=(Judgment(judged, 3),))
            )
    return TestSet("drugs", "v1", tuple(queries))


def evaluated(clinic: Workspace, **options: object) -> Recorded:
    system = clinic.system(**options)  # type: ignore[arg-type]
    return record(system, part_of(drug_questions()), clinic.runs, RecordOptions())


def stored(clinic: Workspace, made: Recorded) -> StoredRun:
    return clinic.stored_run(made.info.run_id, stages=True)


# Recall@K, nDCG@K, MRR


@pytest.mark.req("E1")
def test_recall_at_10_calculation() -> None:
    """GIVEN 5 relevant documents WHEN 3 are in the top 10 THEN Recall@10 is 0.60."""
    ranking = [f"doc{n}" for n in (1, 6, 2, 7, 8, 9, 3, 10, 11, 12)]
    relevant = {f"doc{n}": 1 for n in range(1, 6)}
    assert one_query(relevant, ranking, "Recall@10")["Recall@10"] == pytest.approx(0.60)


@pytest.mark.req("E1")
def test_recall_at_k_for_multiple_k_values() -> None:
    scores = one_query(
        {f"d{n}": 1 for n in (1, 8, 15, 40)}, [f"d{n}" for n in range(1, 31)], "Recall@{5,10,20}"
    )
    values = [scores[f"Recall@{k}"] for k in (5, 10, 20)]
    assert values == [0.25, 0.5, 0.75]
    assert all(small <= large for small, large in pairwise(values))  # type: ignore[operator]


@pytest.mark.req("E2")
def test_ndcg_at_10_calculation_with_graded_relevance() -> None:
    relevant = {"doc1": 3, "doc2": 2, "doc3": 1, "doc4": 0}
    found = one_query(relevant, ["doc1", "doc4", "doc2"], "nDCG@10 nDCG(gain=linear)@10")
    dcg = 7 / math.log2(2) + 0 / math.log2(3) + 3 / math.log2(4)
    ideal = 7 / math.log2(2) + 3 / math.log2(3) + 1 / math.log2(4)
    assert found["nDCG@10"] == pytest.approx(dcg / ideal)
    assert found["nDCG@10"] == pytest.approx(0.9049, abs=5e-5)
    assert found["nDCG(gain=linear)@10"] == pytest.approx(0.8400, abs=5e-5)


@pytest.mark.req("E2")
def test_ndcg_at_10_with_binary_relevance() -> None:
    graded, plain = {"a": 3, "b": 1, "c": 0}, {"a": 1, "b": 1, "c": 0}
    ranking = ["c", "b", "a"]
    binary = one_query(graded, ranking, "nDCG(gain=binary)@10")["nDCG(gain=binary)@10"]
    assert binary == one_query(plain, ranking, "nDCG@10")["nDCG@10"]


@pytest.mark.req("E3")
def test_mrr_calculation_for_single_query() -> None:
    relevant = {f"doc{n}": 1 for n in (1, 2, 3)}
    assert one_query(relevant, ["doc5", "doc6", "doc1", "doc7"], "MRR")["MRR"] == pytest.approx(
        1 / 3
    )


@pytest.mark.req("E3")
def test_mrr_calculation_across_multiple_queries() -> None:
    qrels = {name: {"x": 1} for name in "abc"}
    run = {"a": ["x"], "b": ["y", "x"], "c": ["y", "z", "x"]}
    assert assay.score(qrels, run, "MRR")["MRR"] == pytest.approx(0.611, abs=5e-4)


# Test sets


@pytest.mark.req("E4")
def test_load_test_set_from_yaml() -> None:
    test_set = assay.load_test_set("test_set_v1")
    assert len(test_set.queries) == 50
    assert all(query.query_id and query.query_text for query in test_set.queries)
    assert {j.grade for query in test_set.queries for j in query.relevant_docs} <= {0, 1, 2, 3}
    assert Counter(query.query_type for query in test_set.queries) == {
        QueryType.EXACT_TERM: 20,
        QueryType.PARAPHRASE: 15,
        QueryType.COMPLEX_CLINICAL: 15,
    }


@pytest.mark.req("E4")
def test_test_set_validation() -> None:
    text = """
name: wrong
version: v1
queries:
  - {query_id: q1, query_text: a, relevant_docs: [{doc_id: d, grade: 0}]}
  - {query_id: q2, query_text: b, relevant_docs: [{doc_id: d, grade: 4}]}
  - {query_id: q1, query_text: c, relevant_docs: [{doc_id: d, grade: 1}]}
"""
    with pytest.raises(ProblemsError) as refused:
        parse_test_set(text.encode(), source="wrong.yaml").sound()
    said = [str(problem) for problem in refused.value.problems]
    assert len(said) == 3, "all of them at once"
    for word in ("relevant", "grade", "twice"):
        assert any(word in line for line in said)


# Runner


@pytest.mark.req("E5")
def test_run_evaluation_on_test_set() -> None:
    asked: list[str] = []
    test_set = assay.load_test_set("test_set_v1")
    best = {
        query.query_text: [j.id for j in query.relevant_docs if j.grade > 0]
        for query in test_set.queries
    }

    def retrieve(text: str) -> list[str]:
        asked.append(text)
        return best[text]

    result = assay.evaluate(retrieve, test_set)
    assert len(asked) == 50
    assert [str(m) for m in result.scores.measures] == [
        *("Recall@5", "Recall@10", "Recall@20", "nDCG@10", "MRR")
    ]
    found = result.scores.aggregate("MRR")
    assert (found.mean, found.median, found.std, found.n) == (1.0, 1.0, 0.0, 50)


@pytest.mark.req("E6")
def test_per_component_evaluation(clinic: Workspace) -> None:
    made = evaluated(clinic)
    report = component_report(
        made.result.test_set,
        made.result.outcomes,
        fuse_again=fuser_of(made.info.config),
        hybrid=made.result,
    )
    assert list(report.results) == ["bm25", "splade", "dense", HYBRID]
    for result in report.results.values():
        assert result["Recall@10"] is not None
        assert result["nDCG@10"] is not None
    for given in report.contributions.values():
        assert 0 <= given.unique <= given.found <= given.relevant
        assert given.loss


@pytest.mark.req("E7")
def test_evaluation_caching(clinic: Workspace) -> None:
    first, again = evaluated(clinic, rrf_k=31), evaluated(clinic, rrf_k=31)
    assert again.cached
    assert again.info.run_id == first.info.run_id
    assert again.info.config_hash == first.info.config_hash
    assert not evaluated(clinic, rrf_k=32).cached


# A/B


@pytest.mark.req("E8")
def test_ab_test_rrf_vs_weighted_fusion(clinic: Workspace) -> None:
    weights = {"bm25": 0.3, "splade": 0.4, "dense": 0.3}
    one = evaluated(clinic, fusion_method="rrf", rrf_k=60)
    other = evaluated(clinic, fusion_method="weighted", weights=weights)
    result = ab(stored(clinic, one), stored(clinic, other), "nDCG@10")
    t_test = result.primary.t_test
    assert result.primary.difference == pytest.approx(
        other.result["nDCG@10"] - one.result["nDCG@10"]  # type: ignore[operator]
    )
    assert t_test.p is not None
    assert t_test.significant == (t_test.p < 0.05)


@pytest.mark.req("E8")
def test_ab_test_with_and_without_reranking(clinic: Workspace) -> None:
    plain = evaluated(clinic)
    reranked = evaluated(
        clinic, rerank=True, reranker=CPU_RERANKER, rerank_depth=5, rerank_timeout_ms=20_000.0
    )
    result = ab(stored(clinic, plain), stored(clinic, reranked), "nDCG@10")
    assert result.primary.difference is not None
    assert result.latency.difference.mean is not None
    assert result.latency.difference.mean > 0, "the cross-encoder takes its time"


# Gate


def judged(baseline: StoredRun, current: StoredRun) -> GateReport:
    measures = assay.parse_measures("Recall@10 nDCG@10")
    before, now = (side_of_run(run, measures) for run in (baseline, current))
    return gate(before, now, parse_limits(["Recall@10=5%"]))


@pytest.mark.req("E9")
@pytest.mark.parametrize(
    ("hits", "outcome"),
    [(20, GateOutcome.PASSED), (19, GateOutcome.PASSED), (18, GateOutcome.FAILED)],
)
def test_ci_evaluation_on_pull_request(hits: int, outcome: GateOutcome) -> None:
    """Exactly 5 % less passes; more fails with a message."""
    baseline = ranks("main", {f"q{at:02}": 1 for at in range(20)})
    current = ranks("pull", {f"q{at:02}": 1 if at < hits else None for at in range(20)})
    ruling = judged(baseline, current)
    assert ruling.outcome is outcome
    assert ruling.outcome.exit_code == (0 if hits >= 19 else 3)


@pytest.mark.req("E9")
def test_evaluation_report_in_ci() -> None:
    baseline = ranks("main", {f"q{at}": 1 for at in range(6)}, types=True)
    current = ranks("pull", {f"q{at}": 1 if at else None for at in range(6)}, types=True)
    text = gate_markdown(judged(baseline, current))
    for part in ("Recall@10", "nDCG@10", "By query type", "paraphrase", "got worse", "q0"):
        assert part in text


@pytest.mark.req("E13")
def test_held_out_validation_set() -> None:
    plain = replace(assay.load_test_set("test_set_v1"), held_out=None)
    split = hold_out(plain)
    assert (len(split.evaluation_queries), len(split.held_out_queries)) == (40, 10)
    assert not {q.query_id for q in split.evaluation_queries} & split.held_out_ids
