"""What do the numbers of the evaluation workflow mean, in its own words?

How the report is laid out is the same for a stored run: ``report/workflow.py``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from assay.evaluation.report import Insight
from assay.http.wire.workflow import ReportRequest
from assay.plural import counted
from assay.render.report_text import workflow_markdown

_AT = re.compile(r"(precision|recall|ndcg|hit)_at_(\d+)")
_WORDS = {"precision": "Precision", "recall": "Recall", "ndcg": "NDCG", "hit": "Hit"}
_SHORT = {"precision": "P", "recall": "R", "ndcg": "NDCG", "hit": "Hit"}
_NAMES = {"mean_average_precision": "MAP", "mrr": "MRR"}
COUNT = "num_queries"


def workflow_report(asked: ReportRequest) -> str:
    """The report in Markdown, laid out as that of a stored run."""
    rows = asked.speaker_specific_metrics
    keys = list(dict.fromkeys(key for row in rows.values() for key in row if key != COUNT))
    return workflow_markdown(
        evaluation_id=asked.evaluation_id,
        dataset=asked.dataset_id,
        date=asked.date or datetime.now(UTC).strftime("%Y-%m-%d"),
        total_queries=asked.total_queries,
        overall={_name(key): _value(value) for key, value in asked.overall_metrics.items()},
        speakers={
            str(who): {
                **{_name(key, short=True): _value(row.get(key)) for key in keys},
                "Queries": _count(row),
            }
            for who, row in rows.items()
        },
        insights=[Insight(line) for line in _insights(asked)],
    )


def _insights(asked: ReportRequest) -> list[str]:
    """Sentences that follow from the numbers: speakers beside each other, targets, what is left."""
    found = []
    rows = {str(name): row for name, row in asked.speaker_specific_metrics.items()}
    patient, clinician = rows.get("PATIENT"), rows.get("CLINICIAN")
    if patient is not None and clinician is not None:
        found += _beside("precision_at_5", patient, clinician)
        found += _beside("recall_at_5", patient, clinician)
    for key, target in asked.targets.items():
        value = asked.overall_metrics.get(key)
        if value is not None and target is not None:
            met = "meets" if value > target else "misses"
            mark = "✓" if value > target else "✗"
            found.append(
                f"Overall system {met} target of {_name(key, short=True)} > {target:.2f} {mark}"
            )
    if asked.skipped_queries:
        found.append(f"{counted(asked.skipped_queries, 'query')} without ground truth: skipped")
    return found


def _beside(
    key: str, patient: Mapping[str, float | None], clinician: Mapping[str, float | None]
) -> list[str]:
    a, b = patient.get(key), clinician.get(key)
    if a is None or b is None:
        return []
    points = round(100 * (a - b))
    if points == 0:
        return [f"Patient and clinician queries perform alike ({_name(key, short=True)})"]
    better = "Patient" if points > 0 else "Clinician"
    return [f"{better}-focused queries perform better (+{abs(points)}% {_name(key, short=True)})"]


def _name(key: str, *, short: bool = False) -> str:
    found = _AT.fullmatch(key)
    if found:
        return f"{(_SHORT if short else _WORDS)[found[1]]}@{found[2]}"
    return _NAMES.get(key, key)


def _value(value: float | None) -> str:
    return "—" if value is None else f"{value:.2f}"


def _count(row: Mapping[str, float | None]) -> str:
    count = row.get(COUNT)
    return "—" if count is None else str(int(count))
