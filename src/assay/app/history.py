"""How did the measures of one test set go from run to run?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.evaluation.defaults import HISTORY_MEASURES
from assay.measures.base import Measure
from assay.measures.parse import parse_measures
from assay.model.run_store import RunFilter, RunStore
from assay.model.runs import RunInfo, RunStatus

LOOKED_AT = 1_000
"""Runs of a suite that are looked through for those of a part."""


@dataclass(frozen=True, slots=True)
class History:
    """Complete runs of a test set, the oldest first, and what to read of them."""

    suite: str
    runs: tuple[RunInfo, ...]
    measures: tuple[Measure, ...]


def history(
    store: RunStore, suite: str, measures: Sequence[str] = (), *, part: str = "", limit: int = 20
) -> History:
    """The newest ``limit`` complete runs; ``part`` keeps those of one part of the set."""
    asked = parse_measures(" ".join(measures) or HISTORY_MEASURES)
    chosen = RunFilter(suite=suite, status=RunStatus.COMPLETE)
    page = store.runs(chosen, limit=max(limit, LOOKED_AT) if part else limit)
    runs = [info for info in page.runs if not part or info.part == part][:limit]
    return History(suite, oldest_first(runs), asked)


def oldest_first(newest_first: Sequence[RunInfo]) -> tuple[RunInfo, ...]:
    """By when they were made, whichever has answered again since."""
    found = list(reversed(newest_first))
    found.sort(key=lambda info: info.created_at)
    return tuple(found)
