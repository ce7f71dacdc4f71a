import pytest

import assay
from tests.unit.measures.rankings import value


@pytest.mark.req("K1")
def test_hit_at_k_on_ranks_one_four_and_a_miss() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    run = {"q1": ["a"], "q2": ["x", "y", "z", "a"], "q3": ["x"]}
    scores = assay.score(qrels, run, "Success@{1,3,5,10}")
    assert [scores[f"Success@{k}"] for k in (1, 3, 5, 10)] == pytest.approx(
        [1 / 3, 1 / 3, 2 / 3, 2 / 3]
    )


def test_hit_is_another_name() -> None:
    assert value("hit@5", {"a": 1}, ["a"]) == 1.0
    assert assay.parse_measure("hit@5") == assay.parse_measure("Success@5")
    assert assay.parse_measure("Success@5").key == "hit_at_5"
