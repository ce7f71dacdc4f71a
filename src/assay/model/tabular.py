"""How does a result become a data frame, and how do a notebook and ``print`` show it?

A result names its rows once, as ``Records``; frames, HTML and text are made from them here. The
words of documents and queries come from anyone: everything that goes into HTML is escaped.
"""

from __future__ import annotations

import html
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from assay.errors import MissingDependencyError, UsageError
from assay.extras import import_optional, is_here

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

FrameLibrary: TypeAlias = Literal["polars", "pandas"]
LIBRARIES: tuple[FrameLibrary, ...] = ("polars", "pandas")
SHOWN_ROWS = 50
SHOWN_CHARACTERS = 300
PRINTED_CHARACTERS = 60  # of a cell in a terminal


@dataclass(frozen=True, slots=True)
class Records:
    """Rows of values under names; title and notes are what a reader should know beside them."""

    names: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    title: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, rows: Iterable[Mapping[str, object]], title: str = "", notes: Iterable[str] = ()
    ) -> Records:
        """Rows that name their values; those that a row lacks are None."""
        listed = list(rows)
        names = tuple(dict.fromkeys(name for row in listed for name in row))
        return cls(
            names, [[row.get(name) for name in names] for row in listed], title, tuple(notes)
        )


class Tabular:
    """A result with rows."""

    __slots__ = ()

    @abstractmethod
    def records(self) -> Records:
        """The rows of the data frame."""

    def overview(self) -> Records:
        """What a notebook shows; the same rows, unless a result has something better."""
        return self.records()

    @overload
    def to_frame(self, library: Literal["polars"]) -> pl.DataFrame: ...
    @overload
    def to_frame(self, library: Literal["pandas"]) -> pd.DataFrame: ...
    @overload
    def to_frame(self, library: None = None) -> Any: ...
    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """The rows as a data frame: of polars where it is installed, otherwise of pandas."""
        if library is not None and library not in LIBRARIES:
            raise UsageError(f"library={library!r:.40} is not one of: {', '.join(LIBRARIES)}")
        chosen = _installed() if library is None else library
        frames = import_optional(chosen)
        found = self.records()
        columns = {
            name: [_plain(row[at]) for row in found.rows] for at, name in enumerate(found.names)
        }
        if chosen == "polars":
            return frames.DataFrame(columns, strict=False)
        return frames.DataFrame(columns)

    def _repr_html_(self) -> str:
        """The table that a notebook shows."""
        return as_html(self.overview())

    def __str__(self) -> str:
        """The same table as text; ``to_frame()`` has all of it."""
        return as_text(self.overview())


def _installed() -> FrameLibrary:
    """The library of frames that is here, polars first."""
    for library in LIBRARIES:
        if is_here(library):
            return library
    raise MissingDependencyError(
        "a data frame needs polars or pandas, and neither is installed",
        hint="pip install polars, or pip install pandas; to_dict() needs neither",
    )


def _shown_notes(records: Records) -> list[str]:
    more = len(records.rows) - SHOWN_ROWS
    return [*records.notes, *([f"{more:,} more rows: see to_frame()"] if more > 0 else [])]


def as_text(records: Records) -> str:
    """Rows as lines with aligned columns, below the title; notes follow. Long texts are cut."""
    shown = [[_cell(value) for value in row] for row in records.rows[:SHOWN_ROWS]]
    table = [list(records.names), *shown]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in table
    )
    return "\n".join(
        line.rstrip() for line in (records.title, *lines, *_shown_notes(records)) if line.strip()
    )


def _cell(value: object) -> str:
    words = " ".join(_text(value).split())
    text = "".join(one if one.isprintable() else "\ufffd" for one in words)
    return text if len(text) <= PRINTED_CHARACTERS else f"{text[: PRINTED_CHARACTERS - 1]}…"


def as_html(records: Records) -> str:
    """Rows as an HTML table with its title and notes; long texts and tables are cut."""
    notes = _shown_notes(records)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in records.names)
    rows = "".join(
        f"<tr>{''.join(f'<td>{html.escape(_text(value))}</td>' for value in row)}</tr>"
        for row in records.rows[:SHOWN_ROWS]
    )
    caption = f"<caption>{html.escape(records.title)}</caption>" if records.title else ""
    listed = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" + (
        f"<ul>{listed}</ul>" if listed else ""
    )


def _plain(value: object) -> object:
    """A value as a frame holds it: words for members of enums, lists for tuples."""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple | frozenset):
        return [_plain(one) for one in value]
    return value


def _text(value: object) -> str:
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, tuple | list):
        return ", ".join(map(_text, value))
    text = str(_plain(value))
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"
