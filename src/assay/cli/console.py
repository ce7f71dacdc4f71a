"""How does a command show its result: as JSON, as columns, or in color?

Data goes to stdout, notes and progress to stderr. A console is the only thing here
that imports rich.
"""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from typing import TYPE_CHECKING

from assay.cli.streams import complain, is_utf8
from assay.render.escape import visible, visible_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType

PIPE_WIDTH = 120  # columns where there is no terminal


def emit_json(value: object) -> None:
    """Write a value of ours to stdout as one line of JSON; NaN and infinity are our own defect."""
    from assay.model.codec import encode

    ascii_only = not is_utf8(sys.stdout.encoding)
    text = json.dumps(encode(value), allow_nan=False, ensure_ascii=ascii_only)
    sys.stdout.write(f"{visible_json(text)}\n")


def emit_text(text: str) -> None:
    """Write a text to stdout with a newline at its end; what would steer a terminal is escaped."""
    sys.stdout.write(f"{visible(text)}\n")


def emit_data(text: str) -> None:
    """Write a file to stdout as it is, for another program to read."""
    sys.stdout.write(f"{text}\n")


def emit_columns(rows: Sequence[Sequence[str]]) -> None:
    """Write aligned columns to stdout; the last one is left as long as it is."""
    from assay.render.tables import aligned

    if rows:
        emit_text(aligned(rows))


def note(text: str) -> None:
    """Tell the person something that is not data, on stderr."""
    complain(text)


def stdout_console(color: str = "auto", *, at_least: int = 0) -> Console:
    """The console of rich on stdout, under the ``color`` setting; wider than it is, if need be."""
    console = _console(color, stderr=False)
    return console if console.width >= at_least else _console(color, stderr=False, width=at_least)


def stdout_room() -> int | None:
    """How many characters a line of stdout holds; ``None`` where it is no terminal."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return None
    return stdout_console().width


def stderr_console(color: str = "auto") -> Console:
    """The console of rich on stderr, for progress."""
    return _console(color, stderr=True)


@cache
def _console(color: str, *, stderr: bool, width: int | None = None) -> Console:
    from rich.console import Console
    from rich.segment import Segment

    class Escaping(Console):
        """Escapes foreign text on its way out; styles are added later."""

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for one in super().render(renderable, options):
                yield one if one.control else Segment(visible(one.text), one.style)

    stream = sys.stderr if stderr else sys.stdout
    fixed_width = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Escaping(
        stderr=stderr,
        width=width or fixed_width,
        force_terminal=True if color == "always" else None,
        no_color={"always": False, "never": True}.get(color),
        highlight=False,
        soft_wrap=False,
    )
