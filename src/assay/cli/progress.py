"""How does a long job show how far it is?

On a terminal, a line per stage with a bar; elsewhere a plain line every few seconds, so that logs
stay readable. Everything goes to stderr.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from assay.cli.console import note, stderr_console

EVERY_SECONDS = 10.0
MOST_NOTES = 20  # of one job; a corpus of a million files may have as many


@contextmanager
def staged_progress(color: str) -> Iterator[Callable[[str, int, int], None]]:
    """A function to call with (stage, done, in all); 0 in all means that nobody knows."""
    if not sys.stderr.isatty():
        yield _plain()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=stderr_console(color), transient=True) as bar:
        tasks = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=None)
            bar.update(tasks[stage], completed=done, total=total or None)

        yield report


def _plain() -> Callable[[str, int, int], None]:
    said = time.monotonic()

    def report(stage: str, done: int, total: int) -> None:
        nonlocal said
        if time.monotonic() - said >= EVERY_SECONDS:
            said = time.monotonic()
            note(f"{stage}: {done:,}" + (f" of {total:,}" if total else ""))

    return report


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
