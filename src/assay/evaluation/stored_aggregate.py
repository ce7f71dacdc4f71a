"""What is kept of a run's figures, so that lists, history and checks need no outcomes?

Everything that a result says, and beside it the aggregate of seed 001: hits of chunks, their
reciprocal rank in the top 10 (``metrics`` has the MRR of whole rankings), the recall of documents,
and the measures of answers, null where they are undefined.
"""

from __future__ import annotations

from typing import Any

from assay.evaluation.compare import aggregate_metrics
from assay.evaluation.result import EvaluationResult
from assay.evaluation.stored_run import StoredRun
from assay.model.runs import RunInfo

KEPT = (
    *("hit_at_k", "rr_at_10", "recall_at_k_doc", "citation_coverage", "groundedness"),
    *("empty_result_rate", "refusal_correctness", "reasons"),
)


def stored_aggregate(info: RunInfo, result: EvaluationResult) -> dict[str, Any]:
    """The aggregate of a run, JSON-ready (``eval_runs.aggregate_json``)."""
    run = StoredRun(info, result.test_set, result.outcomes)
    seed = aggregate_metrics(run).to_dict()
    return {**result.to_dict(), **{name: seed[name] for name in KEPT}}
