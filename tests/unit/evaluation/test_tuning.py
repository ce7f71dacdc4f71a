"""Is the best setting found, and is luck called luck?"""

from __future__ import annotations

import random

import numpy as np
import pytest

import assay
from assay.errors import UsageError
from assay.evaluation.tuning import Judged, Rank, judged, tune
from assay.measures.parse import parse_measure
from assay.model.arrays import IntArray
from assay.model.sampling import Sampling
from assay.model.testset import GoldenQuery, Judgment, TestSet

NDCG = parse_measure("nDCG@10")
FEW = Sampling(resamples=500)
CANDIDATES = tuple(f"d{n}:chunk_0" for n in range(30))


def queries(count: int, first: int = 0) -> TestSet:
    return TestSet(
        "tuned",
        "v1",
        tuple(
            GoldenQuery(
                f"q{first + n}",
                "t",
                relevant_docs=(
                    Judgment("d3:chunk_0", 3),
                    Judgment("d7:chunk_0", 1),
                    Judgment("d99:chunk_0", 2),
                ),
            )
            for n in range(count)
        ),
    )


def part(test_set: TestSet, rank: Rank) -> tuple[Judged, Rank]:
    names = {query.query_id: CANDIDATES for query in test_set.queries}
    return judged(test_set, names, {}), rank


def by_quality(settings: float, query: str) -> IntArray:
    """The better the setting, the higher the relevant ones."""
    order = np.arange(30, dtype=np.int64)
    scores = -order.astype(float)
    scores[3] += 30 * settings
    ranks = np.empty(30, dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, 31)
    return ranks


def by_luck(settings: int, query: str) -> IntArray:
    order = list(range(1, 31))
    random.Random(f"{settings} {query}").shuffle(order)
    return np.array(order, dtype=np.int64)


def test_ranks_are_scored_as_the_ruler_scores_them() -> None:
    test_set = queries(3)
    table, rank = part(test_set, by_luck)
    column = NDCG.column(table.table(lambda query: rank(1, query)))
    run = {
        query: [CANDIDATES[at] for at in np.argsort(by_luck(1, query))]
        for query in ("q0", "q1", "q2")
    }
    wanted = assay.score(test_set.qrels(), run, [NDCG])
    assert column.values.tolist() == pytest.approx(list(wanted.per_query(NDCG).values()))


def test_the_best_setting_is_found_and_holds_on_unseen_queries() -> None:
    found = tune(
        [0.0, 0.2, 0.3],
        0.0,
        NDCG,
        evaluation=part(queries(20), by_quality),
        held_out=part(queries(8, 100), by_quality),
        sampling=FEW,
    )
    assert found.best == 0.2  # as good as 0.3, and tried before it
    assert found.trials[0].mean == found.trials[1].mean
    assert found.evaluation.difference == pytest.approx(found.held_out.difference)  # type: ignore[union-attr]
    assert found.warnings == ()


def test_luck_is_called_overfitting() -> None:
    found = tune(
        range(200),
        0,
        NDCG,
        evaluation=part(queries(10), by_luck),
        held_out=part(queries(40, 100), by_luck),
        sampling=FEW,
    )
    assert (found.evaluation.difference or 0) > 0.05
    assert any(warning.startswith("overfitting") for warning in found.warnings)


def test_without_a_held_out_part_the_gain_is_not_to_be_believed() -> None:
    found = tune([0.1], 0.0, NDCG, evaluation=part(queries(5), by_quality), sampling=FEW)
    assert found.held_out is None
    assert "no held-out part" in found.warnings[0]


def test_what_cannot_be_tuned_is_refused() -> None:
    where = part(queries(2), by_quality)
    with pytest.raises(UsageError, match="no setting"):
        tune([], 0.0, NDCG, evaluation=where)
    with pytest.raises(UsageError, match="not a measure of rankings"):
        tune([0.1], 0.0, parse_measure("AUROC"), evaluation=where)
    with pytest.raises(UsageError, match="no query"):
        judged(TestSet("bare", "v1", ()), {}, {})


def test_the_best_of_each_kind_is_reported_on_both_parts_and_a_better_rival_is_named() -> None:
    here, there = part(queries(12), by_quality), part(queries(5, first=12), by_quality)
    found = tune(
        [0.0, 0.06, 0.08],
        0.0,
        NDCG,
        evaluation=here,
        held_out=there,
        sampling=FEW,
        kind=lambda one: "low" if one < 0.07 else "high",
        others={"something else": 0.9, "nothing": 0.05},
    )
    assert [(one.name, one.settings) for one in found.kinds] == [
        ("low", 0.06),
        ("high", 0.08),
        ("something else", 0.9),
        ("nothing", 0.05),
    ]
    assert found.best == 0.08  # what is only compared is never chosen
    assert all(one.held_out == pytest.approx(one.evaluation) for one in found.kinds)
    assert [one for one in found.warnings if "better than any fusion" in one] == [
        f"something else is better than any fusion on these queries: "
        f"{found.kinds[2].evaluation:.4f} against {found.trials[0].mean:.4f}"
    ]
