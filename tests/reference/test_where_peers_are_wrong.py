"""Are we right where well-known tools are silently wrong? One test for each case."""

from __future__ import annotations

import copy
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import ndcg_score

import assay
from assay.errors import DuplicateError

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}


def test_key_order_of_dicts_does_not_matter() -> None:
    """ranx 0.3 scores 0.0 where the run lists its queries in another order than the qrels."""
    run = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"x": 2.0, "c": 1.0}}
    backwards = {query: dict(reversed(run[query].items())) for query in reversed(run)}
    assert assay.score(QRELS, run, "MRR")["MRR"] == 0.75
    assert assay.score(QRELS, backwards, "MRR")["MRR"] == 0.75


def test_one_tie_rule_for_every_measure_and_cutoff() -> None:
    """ir_measures breaks ties one way for MRR and another for RR@k."""
    run = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"c": 1.0}}  # trec_eval puts b before a
    scores = assay.score(QRELS, run, "MRR RR@10 P@1 Success@1")
    assert scores.value("q1", "MRR") == scores.value("q1", "RR@10") == 0.5
    assert scores.value("q1", "P@1") == scores.value("q1", "Success@1") == 0.0
    theirs = {
        str(m): v
        for m, v in ir_measures.calc_aggregate(
            [ir_measures.RR, ir_measures.RR @ 10], QRELS, run
        ).items()
    }
    assert theirs["RR"] != theirs["RR@10"], "the peer was mended: drop this line"


def test_inputs_are_left_as_they_were() -> None:
    """BEIR's evaluation deletes documents from the caller's run."""
    run = {"q1": {"q1": 3.0, "a": 2.0}, "q2": {"c": 1.0}}
    qrels, before = copy.deepcopy(QRELS), copy.deepcopy(run)
    assay.score(qrels, run, "nDCG@10 MAP bpref")
    assert run == before
    assert qrels == QRELS


def test_the_ideal_ranking_holds_what_was_not_retrieved() -> None:
    """scikit-learn (and torchmetrics) take the ideal from the retrieved documents alone."""
    qrels = {"q": {"a": 3, "b": 2, "c": 1}}
    run = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    ours = assay.score(qrels, run, "nDCG(gain=linear)@10")["nDCG(gain=linear)@10"]
    retrieved_only = ndcg_score(np.array([[3, 0, 2]]), np.array([[3.0, 2.0, 1.0]]))
    everything = ndcg_score(np.array([[3, 0, 2, 1]]), np.array([[3.0, 2.0, 1.0, -1e9]]), k=3)
    assert ours == pytest.approx(4.0 / (3 + 2 / np.log2(3) + 1 / 2))
    assert ours == pytest.approx(everything)
    assert ours < retrieved_only


def test_scores_that_differ_only_beyond_float32_are_not_ties() -> None:
    """pytrec_eval rounds scores to float32, so these two tie and the id decides."""
    run = {"q1": {"a": 1.00000001, "b": 1.0}, "q2": {"c": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(QRELS, {"recip_rank"}).evaluate(run)
    assert theirs["q1"]["recip_rank"] == 0.5
    assert assay.score(QRELS, run, "MRR").value("q1", "MRR") == 1.0
    rounded = assay.score(QRELS, run, "MRR", score_dtype="float32")
    assert rounded.value("q1", "MRR") == 0.5


@pytest.mark.req("W4")
def test_queries_that_the_run_lacks_count_as_zero() -> None:
    """pytrec_eval leaves them out, and the mean over what it returns is too good."""
    run = {"q1": {"a": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(QRELS, {"recip_rank"}).evaluate(run)
    assert list(theirs) == ["q1"]
    ours = assay.score(QRELS, run, "MRR Recall@10")
    assert ours["MRR"] == 0.5
    assert ours.value("q2", "Recall@10") == 0.0
    assert ours.summary.missing == 1


def test_a_duplicate_in_a_file_is_refused(tmp_path: Path) -> None:
    """ranx and ir_measures keep the last one and say nothing."""
    run = tmp_path / "run.trec"
    run.write_text("q1 Q0 a 1 9 t\nq1 Q0 b 2 8 t\nq1 Q0 a 3 1 t\n")
    with pytest.raises(DuplicateError, match=r"run\.trec:3: query 'q1' has document 'a' again"):
        assay.score(QRELS, run, "MRR")


def test_an_undefined_query_does_not_poison_the_mean() -> None:
    """ranx's bpref is NaN for a query without relevant documents, and so is its mean."""
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 0}}
    scores = assay.score(qrels, {"q1": {"a": 1.0}, "q2": {"c": 1.0}}, "bpref")
    assert scores["bpref"] == 1.0
    assert scores.value("q2", "bpref") is None
    found = scores.aggregate("bpref")
    assert (found.n, found.undefined) == (1, 1)
    assert "no judged document" in (found.reason or "")
