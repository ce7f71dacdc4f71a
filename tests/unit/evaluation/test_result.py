"""Does a result say what a reader must know before believing it?"""

from __future__ import annotations

import pytest

from assay.evaluation.result import result_of
from assay.model.scoring import Scoring
from tests.unit.evaluation.stored import golden, outcome, suite


@pytest.mark.req("E5", "R8")
def test_a_degraded_run_says_what_was_missing() -> None:
    queries = [golden(f"q{at}", "d") for at in range(3)]
    late = outcome("q1", "d", degraded=True, component_errors=("reranker_gpu_unavailable",))
    other = outcome("q2", "d", degraded=True, component_errors=("splade_timeout",))
    outcomes = [outcome("q0", "d"), late, other]
    (said,) = result_of(suite(*queries), outcomes, Scoring(measures="P@1")).warnings()
    assert said == (
        "2 of 3 queries answered without some component "
        "(reranker_gpu_unavailable ×1, splade_timeout ×1): q1, q2"
    )
