"""Is every list of default measures one that can be computed, and said once?"""

from __future__ import annotations

import pytest

from assay.evaluation import defaults
from assay.evaluation.gate import parse_limits
from assay.evaluation.insights import usual_targets
from assay.measures.parse import parse_measures
from assay.settings import configure

LISTS = sorted(name for name in vars(defaults) if name.endswith("_MEASURES"))


@pytest.mark.parametrize("name", LISTS)
def test_every_list_parses(name: str) -> None:
    assert parse_measures(getattr(defaults, name))


def test_the_setting_has_the_measures_of_score() -> None:
    assert configure({}).measures == defaults.SCORE_MEASURES


@pytest.mark.req("E1", "W4", "K1")
def test_the_sets_that_the_contract_names() -> None:
    evaluation = {str(m) for m in parse_measures(defaults.EVALUATION_MEASURES)}
    assert evaluation == {"Recall@5", "Recall@10", "Recall@20", "nDCG@10", "MRR"}
    workflow = {str(m) for m in parse_measures(defaults.WORKFLOW_MEASURES)}
    assert workflow == {
        *(f"{name}@{k}" for name in ("P", "Recall") for k in (1, 3, 5, 10)),
        "MAP",
        "nDCG@10",
    }
    assert defaults.COMPARE_CUTOFFS == (1, 3, 5, 10)
    assert defaults.COMPARE_RECIPROCAL_RANK == "RR@10"
    assert {str(m) for m in parse_measures(defaults.AB_MEASURES)} == evaluation
    assert [str(limit) for limit in parse_limits(())] == [defaults.GATE_LIMIT]
    assert {str(t.measure) for t in usual_targets()} == {"P@5", "Recall@10", "nDCG@10"}


def test_cutoffs_of_ones_own() -> None:
    assert [str(m) for m in parse_measures(defaults.workflow_measures([5, 1, 5]))] == [
        "P@1",
        "P@5",
        "Recall@1",
        "Recall@5",
        "MAP",
        "nDCG@10",
        "MRR",
    ]
