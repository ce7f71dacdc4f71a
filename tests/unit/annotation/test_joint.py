"""Is a figure by few grades of a person and many of a judge unbiased, and shown beside both?"""

from __future__ import annotations

import numpy as np

from assay.annotation.joint import joint
from assay.evaluation.joint import Joint
from assay.model.annotation import AUTOMATIC, Grade, Item, Order, Plan, Purpose, Round

JUDGE = f"{AUTOMATIC}words"
DEPTH = 4


def a_round(order: Order = Order.QUERIES) -> Round:
    return Round(
        "r",
        Purpose.FIRST,
        "set",
        "v1",
        "",
        ("ann",),
        13,
        "2026-01-01T00:00:00Z",
        source={"depth": DEPTH},
        plan=Plan(order),
    )


def graded(queries: int, judged: int, seed: int) -> tuple[list[Item], list[Grade], float]:
    """Items, grades of a lenient judge for all and of ann for some, and precision of all."""
    rng = np.random.default_rng(seed)
    items, grades = [], []
    truth = rng.random((queries, DEPTH)) < rng.choice([0.2, 0.8], (queries, 1))
    for q in range(queries):
        for rank in range(1, DEPTH + 1):
            key = (f"q{q}", f"c{q}-{rank}")
            items.append(Item(*key, key[1], "text", found_by={"hybrid": rank}))
            relevant = bool(truth[q, rank - 1])
            said = relevant or rng.random() < 0.3
            grades.append(Grade(*key, JUDGE, int(said), "", ""))
            if q < judged:
                grades.append(Grade(*key, "ann", int(relevant), "", ""))
    return items, grades, float(truth.mean())


def found(queries: int, judged: int, seed: int = 0) -> tuple[Joint, Joint, float]:
    items, grades, truth = graded(queries, judged, seed)
    ndcg, precision = joint(a_round(), items, grades, "ann", JUDGE)
    return ndcg, precision, truth


def test_the_judge_is_corrected_and_narrows_the_interval() -> None:
    ndcg, precision, truth = found(400, 80, seed=1)
    assert ndcg.measure == "nDCG@4 of hybrid"
    one = precision.found
    assert one.predicted is not None
    assert one.predicted > truth + 0.1, "the judge alone is lenient"
    assert one.interval.low is not None
    assert one.interval.high is not None
    assert one.interval.low <= truth <= one.interval.high
    alone = one.labelled_interval
    assert one.interval.high - one.interval.low < (alone.high or 1) - (alone.low or 0)
    assert one.saved
    assert one.n == 80
    assert one.unlabelled == 320
    assert "graded queries saved" in precision.lines[0]
    assert precision.to_dict()["graded_queries"] == 80


def test_the_interval_covers_the_whole_set() -> None:
    held = 0
    for seed in range(30):
        _, precision, truth = found(200, 40, seed)
        interval = precision.found.interval
        held += (interval.low or 0) <= truth <= (interval.high or 0)
    assert held >= 27


def test_half_a_query_is_no_query_and_a_draw_is_no_sample_of_queries() -> None:
    items, grades, _ = graded(20, 10, 0)
    ndcg, _ = joint(a_round(), items, grades[1:-1], "ann", JUDGE)
    assert (ndcg.found.n, ndcg.found.unlabelled) == (9, 9)
    assert joint(a_round(Order.ACTIVE), items, grades, "ann", JUDGE) == ()
    assert joint(a_round(), items, grades, "bob", JUDGE) == ()


def test_too_few_queries_are_said() -> None:
    ndcg, _, _ = found(5, 1)
    assert ndcg.found.mean is None
    assert ndcg.lines == (f"nDCG@4 of hybrid by ann and judge: {ndcg.found.reason}",)
