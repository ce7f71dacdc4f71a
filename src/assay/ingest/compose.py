"""How do pieces of text become one text with sections that point into it?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from assay import limits
from assay.ingest.parsed import FileLocation
from assay.ingest.tables import Table, table_kind, table_markup, table_text
from assay.model.document import BELOW, Section
from assay.model.sections import intent_of

_SPACE = re.compile(r"[^\S\n]+")
_NEWLINES = re.compile(r" ?\n\s*")


def tidy(text: str) -> str:
    """The text with blanks collapsed and blank lines removed; other line breaks stay."""
    return _NEWLINES.sub("\n", _SPACE.sub(" ", text)).strip()


class Composer:
    """A text that grows section by section; what is between two sections belongs to neither.

    Headings are opened with ``under``. Each occurs once in the text, above the first running text
    below it; all open headings make up a section's ``heading``: ``Methods > Patients``.
    """

    def __init__(self, location: FileLocation, gap: str = "\n\n") -> None:
        self._place = location
        self._gap = gap
        self._pieces: list[str] = []
        self._sections: list[Section] = []
        self._length = 0
        self._open: list[str] = []
        self._written = 0  # how many of the open headings are in the text already

    @contextmanager
    def under(self, heading: str) -> Iterator[None]:
        """Put what is added in this context below a heading; an empty one changes nothing."""
        if not heading:
            yield
            return
        self._open.append(heading)
        yield
        self._open.pop()
        self._written = min(self._written, len(self._open))

    def add(
        self, text: str, label: str, *, name: str = "", details: Mapping[str, str] | None = None
    ) -> None:
        """Append running text below the open headings; ``name`` is a heading left out of it.

        ``details`` goes into the metadata of its chunks.
        """
        if text:
            text = "\n".join([*self._open[self._written :], text])
            self._written = len(self._open)
            section = Section(0, 0, label, self._path(name), metadata=details or {})
            self.append(text, section)

    def add_table(
        self, table: Table, label: str, location: FileLocation, *, name: str = ""
    ) -> None:
        """Append a table; an adverse-event table has that intent in any section."""
        text = table_text(table, location)
        if text:
            hint = "ae" if table_kind(table) == "adverse_events" else ""
            html = table_markup(table, location)
            section = Section(0, 0, label, self._path(name), hint, is_table=True, table_html=html)
            self.append(text, section)

    def append(self, text: str, section: Section) -> None:
        """Append text, which may be empty, as a section like this one.

        A section without an intent gets that of its label.
        """
        if self._pieces:
            self._append(self._gap)
        start = self._length
        self._append(text)
        hint = section.intent_hint or intent_of(section.label, text, is_table=section.is_table)
        self._sections.append(replace(section, start=start, end=self._length, intent_hint=hint))
        if len(self._sections) > limits.MAX_SECTIONS:
            raise self._place.limit_error(f"more than {limits.MAX_SECTIONS:,} sections")

    def _path(self, name: str) -> str:
        return BELOW.join([*self._open, name] if name else self._open)[: limits.MAX_TITLE_CHARS]

    def _append(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length > limits.MAX_DOCUMENT_CHARS:
            raise self._place.limit_error(
                f"a document of more than {limits.MAX_DOCUMENT_CHARS:,} characters", hint="split it"
            )

    @property
    def text(self) -> str:
        """Everything so far."""
        return "".join(self._pieces)

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections so far, in order."""
        return tuple(self._sections)
