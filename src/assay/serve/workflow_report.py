"""How does the result of the evaluation workflow read, and what follows from its numbers?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from assay.counting import counted
from assay.serve.wire.workflow import ReportRequest

_AT = re.compile(r"(precision|recall|ndcg|hit)_at_(\d+)")
_WORDS = {"precision": "Precision", "recall": "Recall", "ndcg": "NDCG", "hit": "Hit"}
_SHORT = {"precision": "P", "recall": "R", "ndcg": "NDCG", "hit": "Hit"}
_NAMES = {"mean_average_precision": "MAP", "mrr": "MRR"}
_OTHER = "ALL"


def workflow_report(asked: ReportRequest) -> str:
    """The report in Markdown: overall, by speaker, insights."""
    date = asked.date or datetime.now(UTC).strftime("%Y-%m-%d")
    lines = [
        f"# Evaluation Report: {asked.evaluation_id}",
        "",
        f"**Dataset**: {asked.dataset_id}  ",
        f"**Date**: {date}  ",
        f"**Total Queries**: {asked.total_queries}",
        "",
        "## Overall Metrics",
        "",
        "| Metric | Value |",
        "|--------|-------|",
        *(f"| {_name(key)} | {_value(value)} |" for key, value in asked.overall_metrics.items()),
    ]
    if asked.speaker_specific_metrics:
        lines += ["", "## Speaker-Specific Performance", "", *_speakers(asked)]
    found = _insights(asked)
    if found:
        lines += ["", "## Insights", "", *(f"- {line}" for line in found)]
    return "\n".join(lines) + "\n"


def _speakers(asked: ReportRequest) -> list[str]:
    rows = asked.speaker_specific_metrics
    keys = list(dict.fromkeys(key for row in rows.values() for key in row if key != "num_queries"))
    head = " | ".join(["Speaker", *(_name(key, short=True) for key in keys), "Queries"])
    rule = "|".join("-" * (len(part) + 2) for part in head.split(" | "))
    return [
        f"| {head} |",
        f"|{rule}|",
        *(
            f"| {' | '.join([str(name), *(_value(row.get(key)) for key in keys), _count(row)])} |"
            for name, row in rows.items()
        ),
    ]


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
    count = row.get("num_queries")
    return "—" if count is None else str(int(count))
