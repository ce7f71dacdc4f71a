"""How does a long job show how far it is?

On a terminal a bar, elsewhere a plain line every few seconds, so that logs stay readable. An
evaluation also shows the measures of the queries answered so far. Everything goes to stderr.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.cli.console import note, stderr_console

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

    from assay.app.evaluation import EvaluationProgress, EvaluationStep
    from assay.app.scoring import ReadProgress

LINE_EVERY_SECONDS = 10.0
SCORE_EVERY_SECONDS = 0.5
LARGE_FILE_BYTES = 64 << 20
MOST_NOTES = 20  # of one job; a corpus of a million files may have as many


@contextmanager
def staged_progress(color: str) -> Iterator[Callable[[str, int, int], None]]:
    """A function to call with (stage, done, total); a total of 0 is not known."""
    if not sys.stderr.isatty():
        due = _every(LINE_EVERY_SECONDS)

        def write_line(stage: str, done: int, total: int) -> None:
            begun.setdefault(stage, (done, time.monotonic()))
            if due():
                left = time_left(*begun[stage], done, total, time.monotonic())
                note(f"{stage}: {done:,}" + (f" of {total:,}{left}" if total else ""))

        begun: dict[str, tuple[int, float]] = {}
        yield write_line
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with _bar(color, *columns) as bar:
        tasks = {}

        def move_bar(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=None)
            bar.update(tasks[stage], completed=done, total=total or None)

        yield move_bar


def time_left(first: int, begun: float, done: int, total: int, now: float) -> str:
    """How long the rest takes at the speed since the first report; empty while that is unknown."""
    if done <= first or done >= total:
        return ""
    seconds = (now - begun) / (done - first) * (total - done)
    if seconds < 90:
        return f", about {max(1, round(seconds))} s left"
    minutes = seconds / 60
    return (
        f", about {minutes:.0f} min left" if minutes < 90 else f", about {minutes / 60:.1f} h left"
    )


@contextmanager
def evaluation_progress(color: str) -> Iterator[EvaluationProgress]:
    """A function to call after every query."""
    if not sys.stderr.isatty():
        due = _every(LINE_EVERY_SECONDS)

        def write_line(step: EvaluationStep) -> None:
            if due():
                measures = step.so_far()
                note(f"evaluated {step.done:,} of {step.total:,}{measures and f': {measures}'}")

        yield write_line
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    title, measures = TextColumn("evaluating"), TextColumn("{task.description}")
    with _bar(color, title, BarColumn(), MofNCompleteColumn(), measures) as bar:
        task = bar.add_task("", total=None)
        due = _every(SCORE_EVERY_SECONDS)

        def move_bar(step: EvaluationStep) -> None:
            description = step.so_far() if step.done == step.total or due() else None
            bar.update(task, completed=step.done, total=step.total, description=description)

        yield move_bar


@contextmanager
def reading_progress(color: str) -> Iterator[ReadProgress | None]:
    """A function to call with (file, bytes read, bytes in all); None where nobody is looking.

    Only files that take a while have a bar.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn

    description = TextColumn("{task.description}")
    with _bar(color, description, BarColumn(), DownloadColumn(), TimeRemainingColumn()) as bar:
        tasks = {}

        def move_bar(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, visible=False, total=None)
            visible = (total or done) > LARGE_FILE_BYTES
            bar.update(tasks[name], completed=done, total=total, visible=visible)

        yield move_bar


def limited_notes() -> Callable[[str], None]:
    """A function that shows the notes of a job, and after many of them says that there are more."""
    shown = 0

    def show(text: str) -> None:
        nonlocal shown
        shown += 1
        if shown <= MOST_NOTES:
            note(f"note: {text}")
        elif shown == MOST_NOTES + 1:
            note("note: and more of this kind")

    return show


def _bar(color: str, *columns: ProgressColumn) -> Progress:
    from rich.progress import Progress

    return Progress(*columns, console=stderr_console(color), transient=True)


def _every(seconds: float) -> Callable[[], bool]:
    """Whether so much time has passed since this was last true."""
    last = time.monotonic()

    def due() -> bool:
        nonlocal last
        if time.monotonic() - last < seconds:
            return False
        last = time.monotonic()
        return True

    return due
