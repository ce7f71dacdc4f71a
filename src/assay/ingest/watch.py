"""How far has reading come, and what should the user know about it?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from assay.ingest.parsed import FileLocation


@dataclass(frozen=True, slots=True)
class Progress:
    """Where reading stands; ``note`` is set when there is something to tell, and else empty."""

    source: str
    documents: int
    read_bytes: int
    total_bytes: int
    note: str = ""


Report: TypeAlias = Callable[[Progress], None]


class Watch:
    """Counts what one pass over a corpus reads, and reports it after every document.

    ``root`` is where the corpus begins: a file that brings no id is named by its way from there.
    With ``skip_empty`` what has no text is left out instead of refused.
    """

    def __init__(
        self, report: Report | None = None, root: Path | None = None, *, skip_empty: bool = False
    ) -> None:
        self.root = root
        self._skip_empty = skip_empty
        self._report = report
        self._source = ""
        self._documents = 0
        self._read = 0
        self._total = 0
        self._told: set[str] = set()

    def expect(self, size: int) -> None:
        """That many stored bytes are going to be read."""
        self._total += size

    def opened(self, source: str) -> None:
        """Reading goes on in this file."""
        self._source = source

    def consumed(self, size: int) -> None:
        """So many more stored bytes were read."""
        self._read += size

    def document(self) -> None:
        """One more document was handed on."""
        self._documents += 1
        self._tell("")

    def empty(self, what: str, location: FileLocation) -> None:
        """A document or chunk has no text: it is refused, or noted and to be left out."""
        message = f"{what} has no text"
        if not self._skip_empty:
            raise location.format_error(
                message, hint="give it one, or leave it out, as assay ingest --skip-empty does"
            )
        self.note(f"{location}: {message}: skipped")

    def note(self, text: str) -> None:
        """Something was left out or done differently, and the user should know."""
        self._tell(text)

    def note_once(self, text: str) -> None:
        """A note that would otherwise come with every document."""
        if text not in self._told:
            self._told.add(text)
            self._tell(text)

    def _tell(self, note: str) -> None:
        if self._report is not None:
            self._report(Progress(self._source, self._documents, self._read, self._total, note))
