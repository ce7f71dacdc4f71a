"""How far is an evaluation, and how good does it look so far?

On a terminal a bar with the measures of the queries that were answered up to now; elsewhere a
plain line every few seconds. Everything goes to stderr.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from assay.cli.console import note, stderr_console
from assay.evaluation.defaults import PROGRESS_MEASURES
from assay.evaluation.outcomes import score_outcomes
from assay.evaluation.record import ReportProgress
from assay.evaluation.scores import shown
from assay.model.runs import QueryOutcome
from assay.model.testset import TestSet

EVERY_SECONDS = 10.0
LOOK_SECONDS = 0.5


@contextmanager
def evaluation_progress(test_set: TestSet, color: str) -> Iterator[ReportProgress]:
    """A function to call after every query."""
    if not sys.stderr.isatty():
        yield _lines(test_set)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("evaluating"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=stderr_console(color), transient=True) as bar:
        task = bar.add_task("", total=None)
        looked = 0.0

        def told(done: int, total: int, seen: Sequence[QueryOutcome]) -> None:
            nonlocal looked
            if time.monotonic() - looked < LOOK_SECONDS and done < total:
                bar.update(task, completed=done, total=total)
                return
            looked = time.monotonic()
            bar.update(task, completed=done, total=total, description=so_far(test_set, seen))

        yield told


def so_far(test_set: TestSet, seen: Sequence[QueryOutcome]) -> str:
    """The measures over the queries that were answered, in one line."""
    from dataclasses import replace

    ids = {one.query_id for one in seen}
    part = tuple(q for q in test_set.queries if q.query_id in ids)
    failed = sum(one.error is not None for one in seen)
    words = [f"{failed} failed"] if failed else []
    if any(query.judged for query in part):
        scores = score_outcomes(replace(test_set, queries=part), seen, PROGRESS_MEASURES)
        words = [*(f"{m} {shown(scores[m])}" for m in scores.measures), *words]
    return "  ".join(words)


def _lines(test_set: TestSet) -> ReportProgress:
    said = time.monotonic()

    def told(done: int, total: int, seen: Sequence[QueryOutcome]) -> None:
        nonlocal said
        if time.monotonic() - said >= EVERY_SECONDS:
            said = time.monotonic()
            note(f"evaluated {done:,} of {total:,}: {so_far(test_set, seen)}")

    return told
