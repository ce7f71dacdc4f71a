"""What documents does a table hold: CSV, TSV or parquet, a document per row?

The first row of CSV names the columns. Parquet is read in pieces of ``ROWS``.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from io import BytesIO
from itertools import chain, count
from pathlib import Path
from typing import Any

from assay import limits
from assay.delimited import SEPARATORS, cells_of, separator
from assay.errors import FormatError
from assay.ingest.columns import arranged, reads
from assay.ingest.documents import document_entry
from assay.ingest.files import lines
from assay.ingest.folders import corpus_files, suffix
from assay.ingest.json_rows import Row
from assay.ingest.parquet import NotParquetError, rows_of_parquet
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.watch import Watch
from assay.plural import counted

PARQUET = ".parquet"
PARQUET_MAGIC = b"PAR1"
TEXTUAL = frozenset({".csv", ".tsv", ".tab"})
SUFFIXES = TEXTUAL | {PARQUET}
ROWS = 2_000
LOOKED_AT = 2  # rows below the names that tell a table from prose
_WHOLE = re.compile(r"-?[1-9]\d{0,14}|0")


def read_tabular(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The rows of a table, or of every table in a folder."""
    for file in corpus_files(path, SUFFIXES, watch):
        with watch.passing():
            rows = _parquet(file, watch) if suffix(file) == PARQUET else _separated(file, watch)
            empty = True
            for location, row in rows:
                empty = False
                with watch.passing():
                    ours = arranged(row, watch.columns, location, watch, in_table=True)
                    yield document_entry(ours, location, watch, "table")
            if empty:
                watch.left_out(f"{file}: no rows", file)


def _separated(file: Path, watch: Watch) -> Iterator[tuple[FileLocation, Row]]:
    yield from separated_rows(_texts(file, watch), str(file), watch)


def separated_rows(
    texts: Iterator[str], source: str, watch: Watch | None = None
) -> Iterator[tuple[FileLocation, Row]]:
    """The rows of CSV, from its lines; cells that hold a whole number are numbers.

    A row that cannot be read is an error, or passed over where the watch passes it.
    """
    watch = watch or Watch()
    head = next(texts, None)
    if head is None:
        return
    cells = cells_of(chain([head], texts))
    mark = cells.mark
    at = FileLocation(source, cells.line_num + 1)
    names = _names(_row(cells, at) or [], at, watch)
    while True:
        at = FileLocation(source, cells.line_num + 1)
        with watch.passing():
            row = _row(cells, at)
            if row is None:
                return
            if not any(row):
                continue
            if len(row) != len(names):
                raise at.format_error(
                    f"{counted(len(row), 'cell')}, but {counted(len(names), 'column')}",
                    hint=f"quote cells that hold {SEPARATORS.get(mark, mark)}"
                    if len(names) > 1
                    else f"the first line must name the columns, but it is {head.strip()!r:.60}",
                )
            if any(line.count(mark) == len(names) - 1 for line in cells.swallowed):
                watch.note(
                    f"{at}: one row goes on to line {cells.line_num:,} and holds lines that look "
                    "like rows: is a closing quote missing?"
                )
            yield at, {name: _value(cell) for name, cell in zip(names, row, strict=True)}


def head_names(line: str) -> list[str]:
    """The names of columns in the first line of CSV."""
    cells = csv.reader([line], delimiter=separator(line), strict=True)
    at = FileLocation("head", 1)
    return _names(_row(cells, at) or [], at, Watch())


def holds_documents(text: str) -> bool:
    """Does a text begin with the names of columns that hold ids and texts?"""
    try:
        return reads(head_names(text.partition("\n")[0]))
    except FormatError:
        return False


def is_table(text: str) -> bool:
    """Is the beginning of a text a table: names, and rows with as many cells?

    In prose a blank follows a comma.
    """
    if holds_documents(text):
        return True
    shown = [line for line in text.splitlines() if line.strip()][: LOOKED_AT + 1]
    mark = separator(shown[0]) if shown else ""
    if len(shown) <= LOOKED_AT or not mark or f"{mark} " in shown[0]:
        return False
    cells = shown[0].count(mark)
    most = 1 if mark == "\t" else 2
    return cells >= most and all(line.count(mark) == cells for line in shown)


def _texts(file: Path, watch: Watch) -> Iterator[str]:
    """The lines; bytes that are not UTF-8 stay in them as half characters, which ``_row`` finds.

    A carriage return ends a line, too: older programs write nothing else.
    """
    for line in lines(file, watch):
        data = line.data
        if line.number == 1:
            data = data.removeprefix(codecs.BOM_UTF8)
        for text in data.decode(errors="surrogateescape").rstrip("\r").split("\r"):
            yield text + "\n"


def _row(cells: Any, at: FileLocation) -> list[str] | None:
    """The cells of the next row, which begins here; None where there is none.

    They may be as long as lines; the usual limit holds again between rows.
    """
    usual = csv.field_size_limit(limits.MAX_CORPUS_LINE_BYTES)
    try:
        row: list[str] | None = next(cells, None)
    except csv.Error as problem:
        said = f"not CSV: {problem}"
        if cells.line_num > (at.line or 1):
            said += f" (a cell that begins here goes on to line {cells.line_num:,})"
        raise at.format_error(said, hint="is a closing quote missing?") from None
    finally:
        csv.field_size_limit(usual)
    text = "".join(row or ())
    if "\0" in text:
        raise at.format_error("a NUL character", hint="is this a text file?")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise at.format_error("not UTF-8", hint="save it as UTF-8 (Excel: CSV UTF-8)") from None
    return row


def _names(cells: list[str], location: FileLocation, watch: Watch) -> list[str]:
    """The names of the columns; one without a name, or with that of another, gets one."""
    given = [" ".join(cell.split()) for cell in cells]
    if given and not any(given):
        raise location.format_error(
            "the first row does not name the columns", hint="add a row with their names"
        )
    names: dict[str, None] = {}
    taken = {*given}
    used: dict[str, Iterator[int]] = {}  # the numbers that a name was not given yet
    for number, name in enumerate(given, 1):
        own = name or f"column_{number}"
        if own in names or (own != name and own in taken):
            numbers = used.setdefault(own, count(2))
            own = next(other for extra in numbers if (other := f"{own}_{extra}") not in taken)
        if own != name:
            why = f"is another {name!r:.60}" if name else "has no name"
            watch.note_once(f"{location.file}: column {number} {why}: it is called {own:.80}")
        names[own] = None
        taken.add(own)
    return [*names]


def _value(cell: str) -> str | int | None:
    """A number where the cell holds a whole one, None where it is empty."""
    text = cell.strip()
    return int(text) if _WHOLE.fullmatch(text) else text or None


def _parquet(file: Path, watch: Watch) -> Iterator[tuple[FileLocation, Row]]:
    watch.opened(str(file))
    yield from parquet_rows(file, str(file))
    watch.consumed(file.stat().st_size)


def parquet_rows(table: Path | BytesIO, source: str) -> Iterator[tuple[FileLocation, Row]]:
    """The rows of parquet, one by one."""
    try:
        for number, row in enumerate(rows_of_parquet(table)):
            yield FileLocation(f"{source}[{number}]"), row
    except NotParquetError as problem:
        raise FileLocation(source).format_error(f"not parquet: {problem}") from None
