"""Is what a run says of itself of the shape that lists, history, gauges and pages rely on?

Figures are kept as plain JSON, and runs come from other machines. The same check stands before what
is stored and behind what is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from assay.errors import InputError
from assay.model.answers import Usage
from assay.model.codec import decode
from assay.model.runs import RunInfo

MOST_QUERIES = 10**9


@dataclass(frozen=True, slots=True)
class _Figure:
    measure: str
    mean: float | None = None
    median: float | None = None
    std: float | None = None
    n: int | None = None
    undefined: int | None = None
    reason: str | None = None
    ci: tuple[float | None, float | None] | None = None
    ci_reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Figures:
    """What is read of an aggregate; whatever else it holds is only passed on."""

    metrics: Mapping[str, float | None] | None = None
    aggregates: Mapping[str, _Figure] | None = None
    per_query_type: Mapping[str, Mapping[str, float | None]] | None = None
    per_speaker: Mapping[str, Mapping[str, float | None]] | None = None
    latency_ms: Mapping[str, float | None] | None = None
    usage: Usage | None = None
    warnings: tuple[str, ...] | None = None
    sampling: Mapping[str, Any] | None = None
    total_queries: int | None = None
    skipped_queries: int | None = None
    failed_queries: int | None = None
    degraded_queries: int | None = None


def check_figures(info: RunInfo) -> RunInfo:
    """The run, where its figures, counts and moments can be relied on; else an ``InputError``."""
    read = decode(_Figures, dict(info.aggregate), "aggregate")
    for name in ("metrics", "aggregates", "per_speaker", "latency_ms", "sampling", "warnings"):
        if getattr(read, name) is None and name in info.aggregate:
            raise InputError(f"aggregate.{name}: must not be null")
    for name, number in (
        ("queries", info.queries),
        ("total_queries", read.total_queries),
        ("skipped_queries", read.skipped_queries),
        ("failed_queries", read.failed_queries),
        ("degraded_queries", read.degraded_queries),
    ):
        if number is not None and not 0 <= number <= MOST_QUERIES:
            raise InputError(f"{name}: must be between 0 and {MOST_QUERIES:,}")
    for name, moment in (("created_at", info.created_at), ("finished_at", info.finished_at)):
        if moment is not None:
            _check_moment(name, moment)
    return info


def _check_moment(name: str, text: str) -> None:
    try:
        datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise InputError(
            f"{name}: {text!r:.60} is not a date and time", hint="as in 2024-03-15T16:00:00Z"
        ) from None
