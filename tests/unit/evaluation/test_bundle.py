"""Does every reported number say what it was computed over?"""

from __future__ import annotations

import pytest

from assay.evaluation.bundle import Recipe, master
from assay.model.answers import Answer, Expect
from assay.model.sampling import Sampling
from tests.unit.evaluation.stored import golden, outcome, stored, suite


@pytest.mark.req("M6")
def test_measures_of_answers_count_what_they_look_at_and_have_an_interval() -> None:
    queries = [golden(f"q{at}", "d") for at in range(8)]
    queries += [golden(f"r{at}", expect=Expect.REFUSAL) for at in range(2)]
    outcomes = [
        outcome(q.query_id, "d", answer=Answer("x", (), q.expect is Expect.EVIDENCE, None))
        for q in queries
    ]
    run = stored("run", suite(*queries), outcomes)
    recipe = Recipe("nDCG@10 RefusalCorrectness Groundedness EmptyResultRate", Sampling())
    entries = {e["measure"]: e for e in master([run], recipe)["metrics"] if e["group"] == "all"}
    assert {name: entry["n"] for name, entry in entries.items()} == {
        "nDCG@10": 8,
        "RefusalCorrectness": 2,
        "Groundedness": 0,
        "EmptyResultRate": 10,
    }
    for entry in entries.values():
        assert entry["ci"] is not None or entry["reason"]
    assert entries["RefusalCorrectness"]["ci"] == [0.3424, 1.0]
    assert "must_contain" in entries["Groundedness"]["reason"]
    before = {e["measure"]: e for e in master([run], recipe, form=1)["metrics"]}
    assert before["RefusalCorrectness"]["ci"] is None
    assert "no interval" in before["RefusalCorrectness"]["reason"]


@pytest.mark.req("M6")
def test_a_value_without_an_interval_says_why() -> None:
    run = stored("run", suite(golden("q", "d")), [outcome("q", "d")])
    (entry,) = master([run], Recipe("nDCG@10", Sampling()))["metrics"]
    assert (entry["value"], entry["ci"], entry["n"]) == (1.0, None, 1)
    assert entry["reason"] == "one query has no spread"
