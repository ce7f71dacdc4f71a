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
from assay.ingest.columns import arranged, as_json
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
_WHOLE = re.compile(r"-?[1-9]\d{0,14}|0")


def read_tabular(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The rows of a table, or of every table in a folder."""
    for file in corpus_files(path, SUFFIXES, watch):
        with watch.passing():
            rows = _parquet(file, watch) if suffix(file) == PARQUET else _separated(file, watch)
            for location, row in rows:
                with watch.passing():
                    ours = arranged(row, watch.columns, location, watch)
                    yield document_entry(ours, location, watch, "table")


def _separated(file: Path, watch: Watch) -> Iterator[tuple[FileLocation, Row]]:
    texts = _texts(file, watch)
    head = next(texts, None)
    if head is None:
        watch.left_out(f"{file}: empty")
        return
    yield from separated_rows(_with(head, texts), str(file))


def separated_rows(texts: Iterator[str], source: str) -> Iterator[tuple[FileLocation, Row]]:
    """The rows of CSV, from its lines; cells that hold a whole number are numbers."""
    head = next(texts, "")
    cells = csv.reader(_with(head, texts), delimiter=_separator(head), strict=True)
    names = _names(next(_rows(cells, source), []), FileLocation(source, 1))
    start = cells.line_num + 1
    for row in _rows(cells, source):
        location = FileLocation(source, start)
        start = cells.line_num + 1
        if not any(row):
            continue
        if len(row) != len(names):
            raise location.format_error(
                f"{len(row)} cells, but {len(names)} columns", hint="quote cells that hold commas"
            )
        yield location, {name: _value(cell) for name, cell in zip(names, row, strict=True)}


def head_names(line: str) -> list[str]:
    """The names of columns in the first line of CSV."""
    cells = csv.reader([line], delimiter=_separator(line), strict=True)
    return _names(next(_rows(cells, "head"), []), FileLocation("head", 1))


def _separator(head: str) -> str:
    return max(SEPARATORS, key=head.count)


def _with(head: str, texts: Iterator[str]) -> Iterator[str]:
    yield head
    yield from texts


def _texts(file: Path, watch: Watch) -> Iterator[str]:
    for line in lines(file, watch):
        location = FileLocation(str(file), line.number)
        data = line.data.removeprefix(b"\xef\xbb\xbf") if line.number == 1 else line.data
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise location.format_error("not UTF-8", hint="save it as UTF-8") from None
        if "\0" in text:
            raise location.format_error("a NUL character", hint="is this a text file?")
        yield text.replace("\r", "") + "\n"


def _rows(cells: Any, source: str) -> Iterator[list[str]]:
    """The rows, with cells as long as lines may be; the usual limit holds again between rows."""
    while True:
        usual = csv.field_size_limit(limits.MAX_CORPUS_LINE_BYTES)
        try:
            row = next(cells, None)
        except csv.Error as problem:
            at = FileLocation(source, cells.line_num or None)
            raise at.format_error(f"not CSV: {problem}") from None
        finally:
            csv.field_size_limit(usual)
        if row is None:
            return
        yield row


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
