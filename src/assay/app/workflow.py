"""How are the metrics of the evaluation workflow computed, step by step?

The steps are pure: each takes what the one before answered. The formulas are those of
``assay.score``; a query without ground truth is skipped and counted, never a silent 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from assay.errors import InputError
from assay.evaluation.score import score
from assay.evaluation.scores import rounded
from assay.http.wire.workflow import MetricsRequest, QueryMetrics
from assay.measures.parse import parse_measures

NO_TRUTH = "the query has no relevant segments"
SPEAKERS = ("PATIENT", "CLINICIAN", "ALL")
_AVERAGE_PRECISION, _MEAN = "average_precision", "mean_average_precision"


def query_metrics(asked: MetricsRequest) -> dict[str, Any]:
    """Precision and recall at each cutoff, average precision and nDCG@10 of one query."""
    cutoffs = sorted(set(asked.k_values))
    names = {
        **{f"precision_at_{k}": f"P@{k}" for k in cutoffs},
        **{f"recall_at_{k}": f"Recall@{k}" for k in cutoffs},
        _AVERAGE_PRECISION: "MAP",
        "ndcg_at_10": "nDCG@10",
    }
    relevant = set(asked.relevant_segment_ids)
    found = dict.fromkeys(asked.retrieved_segment_ids)  # the first occurrence counts
    metrics: dict[str, float | None] = dict.fromkeys(names)
    if relevant:
        scores = score(
            {asked.query_id: dict.fromkeys(sorted(relevant), 1)},
            {asked.query_id: list(found)},
            " ".join(names.values()),
        )
        by_text = {key: str(parse_measures(text)[0]) for key, text in names.items()}
        metrics = {
            key: rounded(scores.value(asked.query_id, text)) for key, text in by_text.items()
        }
    return {
        "query_id": asked.query_id,
        "metrics": metrics,
        "retrieved_relevant": len(relevant & set(found)),
        "total_relevant": len(relevant),
        "speaker_filter": asked.speaker_filter,
        "skipped": not relevant,
        "reason": None if relevant else NO_TRUTH,
    }


def aggregate(rows: Sequence[QueryMetrics]) -> dict[str, Any]:
    """Means over the queries that have ground truth."""
    _refuse_twice(rows)
    counted = [row for row in rows if not row.skipped]
    return {
        "overall_metrics": _means(counted),
        "total_queries": len(rows),
        "skipped_queries": len(rows) - len(counted),
    }


def speaker_breakdown(rows: Sequence[QueryMetrics]) -> dict[str, Any]:
    """The same means for each speaker filter that occurs."""
    _refuse_twice(rows)
    counted = [row for row in rows if not row.skipped]
    by_speaker = {
        speaker: [row for row in counted if (row.speaker_filter or "ALL") == speaker]
        for speaker in SPEAKERS
    }
    return {
        "speaker_specific_metrics": {
            speaker: {**_means(part), "num_queries": len(part)}
            for speaker, part in by_speaker.items()
            if part
        }
    }


def _means(rows: Sequence[QueryMetrics]) -> dict[str, float | None]:
    """The mean of every metric; undefined values are left out, all of them undefined is None."""
    if not rows:
        return {}
    names = list(rows[0].metrics)
    for row in rows:
        if set(row.metrics) != set(names):
            raise InputError(
                f"{row.query_id} and {rows[0].query_id} have different metrics",
                hint="compute every query with the same k_values",
            )
    found = {_plural(name): _mean(row.metrics[name] for row in rows) for name in names}
    return {name: rounded(value) for name, value in found.items()}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _plural(name: str) -> str:
    return _MEAN if name == _AVERAGE_PRECISION else name


def _refuse_twice(rows: Sequence[QueryMetrics]) -> None:
    seen: set[str] = set()
    for row in rows:
        if row.query_id in seen:
            raise InputError(f"the query {row.query_id} stands twice", hint="send each query once")
        seen.add(row.query_id)
