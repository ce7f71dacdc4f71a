"""How far is an evaluation, and how good does it look so far?

On a terminal a bar with the measures of the queries that were answered up to now; elsewhere a
plain line every few seconds. Everything goes to stderr.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.cli.console import note, stderr_console

if TYPE_CHECKING:
    from assay.app.evaluation import EvaluationProgress, EvaluationStep

EVERY_SECONDS = 10.0
LOOK_SECONDS = 0.5


@contextmanager
def evaluation_progress(color: str) -> Iterator[EvaluationProgress]:
    """A function to call after every query."""
    if not sys.stderr.isatty():
        yield _lines()
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

        def show(step: EvaluationStep) -> None:
            nonlocal looked
            if time.monotonic() - looked < LOOK_SECONDS and step.done < step.total:
                bar.update(task, completed=step.done, total=step.total)
                return
            looked = time.monotonic()
            bar.update(task, completed=step.done, total=step.total, description=step.so_far())

        yield show


def _lines() -> EvaluationProgress:
    said = time.monotonic()

    def show(step: EvaluationStep) -> None:
        nonlocal said
        if time.monotonic() - said >= EVERY_SECONDS:
            said = time.monotonic()
            measures = step.so_far()
            note(f"evaluated {step.done:,} of {step.total:,}{measures and f': {measures}'}")

    return show
