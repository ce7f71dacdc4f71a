"""Which stretches of a Markdown text are tables?

A table is a row of cells between bars, a row of dashes, and the rows below them. Its text stays as
it is written; the section says that it is a table, and has its markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assay.ingest.parsed import FileLocation
from assay.ingest.tables import Table, simple_table, table_kind, table_markup
from assay.model.document import Section
from assay.model.sections import intent_of

_DASHES = re.compile(r"\s{0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_BAR = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_CAPTION = re.compile(r"[\s*_]*(table\b(?:.*[^\s*_])?)[\s*_]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Found:
    """A table, and the text it stands in."""

    start: int
    end: int
    table: Table


def with_tables(
    sections: Sequence[Section], text: str, location: FileLocation
) -> tuple[Section, ...]:
    """The sections, parted where a table stands in them; text without headings is one section."""
    tables = list(_tables(text))
    if not tables:
        return tuple(sections)
    kept: list[Section] = []
    for section in sections or (Section(0, len(text)),):
        at = section.start
        for found in tables:
            if not section.start <= found.start < section.end:
                continue
            if text[at : found.start].strip():
                kept.append(_part(section, at, found.start, text))
            kept.append(_table(section, found, location))
            at = found.end
        if text[at : section.end].strip():
            kept.append(_part(section, at, section.end, text))
    return tuple(kept)


def _part(section: Section, start: int, end: int, text: str) -> Section:
    hint = intent_of(section.label, text[start:end])
    return replace(section, start=start, end=end, intent_hint=hint)


def _table(section: Section, found: _Found, location: FileLocation) -> Section:
    kind = table_kind(found.table)
    label = kind or section.label
    return replace(
        section,
        start=found.start,
        end=found.end,
        label=label,
        intent_hint="ae" if kind == "adverse_events" else intent_of(label, is_table=True),
        is_table=True,
        table_html=table_markup(found.table, location),
    )


def _tables(text: str) -> Iterator[_Found]:
    lines = list(placed_lines(text))
    number, fenced = 0, False
    while number < len(lines):
        start, line = lines[number]
        if _FENCE.match(line):
            fenced = not fenced
        below = lines[number + 1][1] if number + 1 < len(lines) else ""
        header = _cells(line)
        if fenced or "|" not in line or not _DASHES.fullmatch(below) or len(header) != len(
            _cells(below)
        ):  # fmt: skip
            number += 1
            continue
        last = number + 1
        while last + 1 < len(lines) and "|" in lines[last + 1][1]:
            last += 1
        rows = [_fitted(_cells(row), len(header)) for _, row in lines[number + 2 : last + 1]]
        caption = _CAPTION.fullmatch(lines[_above(lines, number)][1])
        end = min(lines[last][0] + len(lines[last][1]) + 1, len(text))
        yield _Found(start, end, simple_table(caption[1] if caption else "", header, rows))
        number = last + 1


def _above(lines: Sequence[tuple[int, str]], number: int) -> int:
    """The last line with words before a table; its own first line where there is none."""
    before = (at for at in range(number - 1, max(number - 3, -1), -1) if lines[at][1].strip())
    return next(before, number)


def placed_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text, and where each begins."""
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _cells(line: str) -> list[str]:
    inner = line.strip()
    inner = inner.removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(inner)]


def _fitted(cells: list[str], width: int) -> list[str]:
    """As many cells as there are columns, as renderers show them."""
    return [*cells[:width], *[""] * (width - len(cells))]
