"""The metric contract, line by line: two protocols, definitions, splits, intervals, one source."""

from __future__ import annotations

import math
import random

import pytest

import assay
from assay.evaluation.bundle import Recipe, as_text, differences, master
from assay.evaluation.result import result_of
from assay.model.answers import Expect
from assay.model.runs import QueryOutcome
from assay.model.sampling import Sampling
from assay.model.scoring import Scoring
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.testsets.split import split_by_group
from tests.unit.evaluation.stored import golden, outcome, stored, suite


def half_with_evidence() -> tuple[TestSet, list[QueryOutcome]]:
    queries = [golden(f"p{at}", f"D{at}") for at in range(6)]
    queries += [golden(f"n{at}", expect=Expect.NOTHING) for at in range(4)]
    found = [outcome(f"p{at}", f"D{at}", "X") for at in range(6)]
    return suite(*queries), [*found, *(outcome(f"n{at}") for at in range(4))]


@pytest.mark.req("M1")
def test_positives_only_looks_at_queries_with_evidence() -> None:
    test_set, outcomes = half_with_evidence()
    options = Scoring("nDCG@10 Recall@10 MRR AP@10", protocol="positives_only")
    scores = result_of(test_set, outcomes, options).scores
    assert len(scores.queries) == 6
    assert [scores[m] for m in scores.measures] == [1.0, 1.0, 1.0, 1.0]


@pytest.mark.req("M1")
def test_all_queries_looks_at_those_without_evidence_too() -> None:
    test_set, outcomes = half_with_evidence()
    options = Scoring("AUROC AUPRC Sensitivity Specificity", protocol="all_queries")
    scores = result_of(test_set, outcomes, options).scores
    assert len(scores.queries) == 10
    assert scores["AUROC"] == 1.0


@pytest.mark.req("M1")
def test_one_class_only_is_undefined_with_a_reason() -> None:
    only = suite(golden("p0", "D0"))
    options = Scoring("AUROC", protocol="all_queries")
    found = result_of(only, [outcome("p0", "D0")], options).scores.aggregate("AUROC")
    assert found.mean is None
    assert found.reason


@pytest.mark.req("M2")
def test_ndcg_is_binary_here_and_divides_by_the_ideal() -> None:
    """DCG@K = sum of rel_i / log2(i + 1), IDCG with all positives first, retrieved or not."""
    qrels, run = {"q": {"a": 3, "b": 1}}, {"q": ["x", "a"]}
    wanted = (1 / math.log2(3)) / (1 / math.log2(2) + 1 / math.log2(3))
    name = "nDCG(gain=binary)@10"
    assert assay.score(qrels, run, name)[name] == pytest.approx(wanted)


@pytest.mark.req("M2")
def test_auroc_is_the_chance_that_a_positive_scores_higher() -> None:
    labels, scores = [1, 1, 0, 0], [0.9, 0.4, 0.4, 0.1]
    wins = sum(1.0 if p > n else 0.5 if p == n else 0.0 for p in (0.9, 0.4) for n in (0.4, 0.1))
    found = assay.classify(labels, scores, "AUROC")
    assert next(iter(found.outcomes.values())).value == pytest.approx(wins / 4)


@pytest.mark.req("M4")
def test_splits_of_80_10_10_share_no_post() -> None:
    draw = random.Random(4)
    queries = tuple(
        GoldenQuery(f"q{at}", f"t{at}", relevant_docs=(Judgment("d", 1),), group=f"post{post}")
        for at, post in enumerate(draw.randrange(100) for _ in range(1000))
    )
    group_of = {query.query_id: query.group for query in queries}
    parts = split_by_group(TestSet("posts", "v1", queries), seed=1).parts
    groups = [{group_of[one] for one in ids} for ids in parts.values()]
    assert sum(map(len, parts.values())) == 1000
    assert len(set.union(*groups)) == sum(len(one) for one in groups), "disjoint"
    posts = sum(map(len, groups))
    assert [len(one) / posts for one in groups] == pytest.approx([0.8, 0.1, 0.1], abs=0.05)


@pytest.mark.req("M5")
def test_intervals_come_from_10000_resamples_of_pairs() -> None:
    draw = random.Random(7)
    labels = [draw.random() < 0.4 for _ in range(300)]
    scores = [draw.gauss(1.0 if label else 0.0, 1.0) for label in labels]
    found = assay.classify(labels, scores, "AUROC")
    (interval,) = found.intervals.values()
    (value,) = (one.value for one in found.outcomes.values())
    assert found.sampling.resamples == 10_000
    assert value is not None
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low < value < interval.high
    again = assay.classify(labels, scores, "AUROC")
    assert again.intervals == found.intervals, "one seed, one interval"


@pytest.mark.req("M6")
def test_the_master_file_is_the_source_and_any_discrepancy_shows() -> None:
    test_set, outcomes = half_with_evidence()
    run = stored("run-1", test_set, outcomes)
    recipe = Recipe("nDCG@10 AUROC", Sampling(resamples=500))
    content = master([run], recipe)
    assert as_text(content) == as_text(master([run], recipe))
    entry = content["metrics"][0]
    assert {"value", "ci", "protocol", "split", "seed", "n", "run"} <= set(entry)
    changed = master([stored("run-1", test_set, outcomes[1:])], recipe)
    assert differences(content, changed)
