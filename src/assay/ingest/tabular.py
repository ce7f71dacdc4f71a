"""What documents does a table hold: CSV, TSV or parquet, a document per row?

The first row of CSV names the columns. The separator is the one of comma, semicolon, tab and bar
that it has most of. Parquet is read in pieces of ``ROWS``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from assay import extras, limits
from assay.errors import FormatError
from assay.ingest.columns import arranged, as_json, reads
from assay.ingest.documents import document_entry
from assay.ingest.files import lines
from assay.ingest.folders import corpus_files, suffix
from assay.ingest.json_rows import Row
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.watch import Watch

PARQUET = ".parquet"
PARQUET_MAGIC = b"PAR1"
TEXTUAL = frozenset({".csv", ".tsv", ".tab"})
SUFFIXES = TEXTUAL | {PARQUET}
SEPARATORS = ",;\t|"
ROWS = 2_000
LOOKED_AT = 2  # rows below the names that tell a table from prose
_WHOLE = re.compile(r"-?[1-9]\d{0,14}|0")


def read_tabular(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The rows of a table, or of every table in a folder."""
    for file in corpus_files(path, SUFFIXES, watch):
        with watch.passing():
            rows = _parquet(file, watch) if suffix(file) == PARQUET else _separated(file, watch)
            for index, (location, row) in enumerate(rows, 1):
                with watch.passing():
                    number = location.line or index
                    ours = arranged(row, watch.columns, location, watch, number=number)
                    yield document_entry(ours, location, watch, "table")


def _separated(file: Path, watch: Watch) -> Iterator[tuple[FileLocation, Row]]:
    texts = _texts(file, watch)
    head = next(texts, None)
    if head is None:
        watch.left_out(f"{file}: empty", file)
        return
    yield from separated_rows(_with(head, texts), str(file), watch)


def separated_rows(
    texts: Iterator[str], source: str, watch: Watch | None = None
) -> Iterator[tuple[FileLocation, Row]]:
    """The rows of CSV, from its lines; cells that hold a whole number are numbers.

    A row that cannot be read is an error, or passed over where the watch passes it.
    """
    watch = watch or Watch()
    head = next(texts, "")
    cells = csv.reader(_with(head, texts), delimiter=_separator(head), strict=True)
    at = FileLocation(source, 1)
    names = _names(_row(cells, at) or [], at)
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
                    f"{len(row)} cells, but {len(names)} columns",
                    hint="quote cells that hold commas",
                )
            yield at, {name: _value(cell) for name, cell in zip(names, row, strict=True)}


def head_names(line: str) -> list[str]:
    """The names of columns in the first line of CSV."""
    cells = csv.reader([line], delimiter=_separator(line), strict=True)
    at = FileLocation("head", 1)
    return _names(_row(cells, at) or [], at)


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
    mark = _separator(shown[0]) if shown else ""
    if len(shown) <= LOOKED_AT or not mark or f"{mark} " in shown[0]:
        return False
    cells = shown[0].count(mark)
    most = 1 if mark == "\t" else 2
    return cells >= most and all(line.count(mark) == cells for line in shown)


def _separator(head: str) -> str:
    return max(SEPARATORS, key=head.count)


def _with(head: str, texts: Iterator[str]) -> Iterator[str]:
    yield head
    yield from texts


def _texts(file: Path, watch: Watch) -> Iterator[str]:
    """The lines; bytes that are not UTF-8 stay in them as half characters, which ``_row`` finds."""
    for line in lines(file, watch):
        data = line.data.removeprefix(b"\xef\xbb\xbf") if line.number == 1 else line.data
        yield data.decode(errors="surrogateescape").replace("\r", "") + "\n"


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
        raise at.format_error(said, hint="does a quote lack its end?") from None
    finally:
        csv.field_size_limit(usual)
    text = "".join(row or ())
    if "\0" in text:
        raise at.format_error("a NUL character", hint="is this a text file?")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise at.format_error("not UTF-8", hint="save it as UTF-8") from None
    return row


def _names(cells: list[str], location: FileLocation) -> list[str]:
    names = [" ".join(cell.split()) for cell in cells]
    if "" in names or len(set(names)) < len(names):
        raise location.format_error(
            "the first row names the columns, each once", hint="add a row with their names"
        )
    return names


def _value(cell: str) -> str | int | None:
    """A number where the cell holds a whole one, None where it is empty."""
    text = cell.strip()
    return int(text) if _WHOLE.fullmatch(text) else text or None


def _parquet(file: Path, watch: Watch) -> Iterator[tuple[FileLocation, Row]]:
    watch.opened(str(file))
    yield from parquet_rows(file, str(file))
    watch.consumed(file.stat().st_size)


def parquet_rows(table: Path | BytesIO, source: str) -> Iterator[tuple[FileLocation, Row]]:
    """The rows of parquet, in pieces."""
    extras.require("polars")
    import polars

    try:
        whole = polars.scan_parquet(table, glob=False)
        start = 0
        while len(piece := whole.slice(start, ROWS).collect()):
            for number, row in enumerate(piece.iter_rows(named=True), start):
                values = {name: as_json(value) for name, value in row.items()}
                yield FileLocation(f"{source}[{number}]"), values
            start += ROWS
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as problem:
        first = str(problem).partition("\n")[0]
        raise FileLocation(source).format_error(f"not parquet: {first:.200}") from None
