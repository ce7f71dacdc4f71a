"""How is a run file of any size scored in bounded memory?

The file is read in pieces of a megabyte or so. Each is split into columns by array operations,
reduced to its judged hits and discarded. That works for regular text only; everything else goes
through the careful reader, which either makes it regular or reports the bad line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay import limits
from assay.errors import DuplicateError, LimitError
from assay.hits.blocks import (
    DuplicateRowError,
    JudgedIndex,
    ScatteredRowsError,
    TableBuilder,
    reduce_block,
    text_index,
)
from assay.hits.chunk_ids import holds
from assay.hits.fields import Text, evened_out
from assay.hits.numbers import in_float32
from assay.hits.rows import place_of
from assay.hits.text_rows import TextRows, text_rows
from assay.hits.trec_lines import UTF8_MARK, read_run_lines, refuse_long_lines

if TYPE_CHECKING:
    from assay.hits.sources import Bytes, Source
    from assay.measures.table import JudgedHits
    from assay.model.judgments import Qrels

Progress: TypeAlias = Callable[[int, int | None], None]


def judge_trec_stream(
    qrels: Qrels,
    origin: Source,
    *,
    float32: bool = False,
    extra_columns: bool = False,
    separators: Iterable[str] = (),
    progress: Progress | None = None,
) -> JudgedHits:
    """The judged-hits table of a TREC run file, in memory that does not grow with its length.

    Text that holds one of ``separators`` is irregular: it may name chunks of judged documents.
    """
    index = text_index(qrels)
    reader = _Reader(
        origin,
        float32=float32,
        extra_columns=extra_columns,
        separators=tuple(one.encode() for one in separators),
        progress=progress,
    )
    try:
        try:
            return _reduce(qrels, index, reader.blocks())
        except ScatteredRowsError:
            return _reduce(qrels, index, [reader.everything().gathered()])
    except DuplicateRowError as twice:
        raise _duplicate(origin, twice) from None


def _reduce(qrels: Qrels, index: JudgedIndex, blocks: Iterable[TextRows]) -> JudgedHits:
    builder = TableBuilder(qrels)
    for rows in blocks:
        builder.add(reduce_block(index, rows))
    return builder.build()


class IrregularTextError(Exception):
    """Lines are valid, but an id holds what the array reader takes for a blank, or is a chunk's."""


class _Reader:
    """Reads a file piece by piece, and splits it between queries."""

    def __init__(
        self,
        origin: Source,
        *,
        float32: bool,
        extra_columns: bool,
        separators: tuple[bytes, ...],
        progress: Progress | None,
    ) -> None:
        self._origin = origin
        self._float32 = float32
        self._extra_columns = extra_columns
        self._separators = separators
        self._progress = progress
        self._step = limits.STREAM_CHUNK_BYTES

    def blocks(self) -> Iterator[TextRows]:
        """The rows in blocks that never split a query; memory is reused from block to block."""
        held: bytes | memoryview = b""  # the last query so far, which may continue
        held_lines = 0
        total, line = self._origin.size(), 1
        self._step = limits.STREAM_CHUNK_BYTES
        with self._origin.open() as stream:
            for data, is_last in with_last(pieces(stream, lambda: self._step)):
                refuse_long_lines(data, self._origin.name, line)
                if any(holds(data, mark) for mark in self._separators):
                    raise IrregularTextError
                rows, as_is = self._rows(held, data, line)
                line += len(rows) - held_lines if rows and as_is else _lines(data)
                if rows is not None and is_last:
                    held = b""
                    yield rows
                elif rows is not None:
                    last = int(rows.starts[-1])
                    held_lines = len(rows) - last
                    held = rows.text.part(int(rows.query.start[last]), rows.text.size)
                    if last:
                        self._step = limits.STREAM_CHUNK_BYTES
                        yield rows.head(last)
                    else:  # one long query: read more at once, or it takes quadratic time
                        self._double(len(held))
                if self._progress is not None:
                    self._progress(stream.consumed(), total)
        if held:  # there is no row in the last piece
            rows, _ = self._rows(held, b"", line)
            if rows is not None:
                yield rows

    def everything(self) -> TextRows:
        """All rows at once, for a file whose queries are not contiguous."""
        with self._origin.open() as stream:
            parts = []
            size = 0
            for data in pieces(stream, lambda: limits.STREAM_CHUNK_BYTES):
                parts.append(data)
                size += len(data)
                if size > limits.SCATTERED_MAX_BYTES:
                    raise LimitError(
                        f"{self._origin.name}: the rows of a query are not together, "
                        "and the file is too large to sort",
                        hint="sort it first: LC_ALL=C sort -s -k1,1",
                    )
        rows, _ = self._rows(b"", b"".join(parts), 1, floats=True)
        assert rows is not None  # otherwise the rows would have been together
        return rows

    def _double(self, held: int) -> None:
        if held > limits.SCATTERED_MAX_BYTES:
            raise LimitError(
                f"{self._origin.name}: one query alone takes more than {held:,} bytes",
                hint="keep the first results of each query only",
            )
        self._step *= 2

    def _rows(
        self, held: bytes | memoryview, data: bytes, line: int, *, floats: bool = False
    ) -> tuple[TextRows | None, bool]:
        """The rows of the held and the new data, if any, and whether every line is a row."""
        plain = data.removeprefix(UTF8_MARK) if line == 1 else data
        floats = floats or self._float32
        ways: tuple[Callable[[], bytes], ...] = (
            lambda: plain,
            lambda: evened_out(plain),
            lambda: self._rewritten(data, line),
        )
        for at, way in enumerate(ways):
            text = Text(held, way())
            if not text.size:
                return None, False
            rows = text_rows(text, floats=floats)
            if rows is not None:
                return (self._in_float32(rows) if self._float32 else rows), at == 0
        raise IrregularTextError

    def _rewritten(self, data: bytes, line: int) -> bytes:
        """The same rows as regular text, or an error that names the bad line."""
        rows = read_run_lines(
            data, self._origin.name, first_line=line, extra_columns=self._extra_columns
        )
        lines = zip(rows.query, rows.doc, rows.score, strict=True)
        return "".join(f"{query} 0 {doc} 0 {score!r} 0\n" for query, doc, score in lines).encode()

    def _in_float32(self, rows: TextRows) -> TextRows:
        name = self._origin.name
        score = in_float32(rows.score, lambda row: f"{name}: {place_of(rows, row)}")
        return replace(rows, score=score)


def pieces(stream: Bytes, size: Callable[[], int]) -> Iterator[bytes]:
    """The content in pieces of whole lines; a newline is added to the last line if it has none.

    A line above the size limit is returned unfinished: the caller knows its number and rejects it.
    """
    held: list[bytes] = []
    length = 0
    while data := stream.read(size()):
        cut = data.rfind(b"\n") + 1
        if cut or length + len(data) > limits.MAX_LINE_BYTES:
            cut = cut or len(data)
            yield b"".join((*held, memoryview(data)[:cut]))
            held, length, data = [], 0, data[cut:]
        if data:
            held.append(data)
            length += len(data)
    if held:
        yield b"".join((*held, b"\n"))


def with_last(parts: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Each part, and whether it is the last."""
    held = None
    for part in parts:
        if held is not None:
            yield held, False
        held = part
    if held is not None:
        yield held, True


def _lines(data: bytes) -> int:
    """Ten times the speed of ``bytes.count``."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")))


def _duplicate(origin: Source, twice: DuplicateRowError) -> DuplicateError:
    """The error with both line numbers, found by reading the file again."""
    query, doc = (re.escape(text.encode()) for text in (twice.query, twice.doc))
    blanks = rb"[ \t\r\f\v]"
    row = re.compile(
        rb"^%s*%s%s+\S+%s+%s(?=\s)" % (blanks, query, blanks, blanks, doc), re.MULTILINE
    )
    lines: list[int] = []
    with origin.open() as stream:
        line = 1
        for data in pieces(stream, lambda: limits.STREAM_CHUNK_BYTES):
            text = data.removeprefix(UTF8_MARK) if line == 1 else data
            for found in row.finditer(text):
                lines.append(line + text.count(b"\n", 0, found.start()))
                if len(lines) == 2:
                    return duplicate_in_run(origin.name, twice.query, twice.doc, lines)
            line += _lines(data)
    return duplicate_in_run(origin.name, twice.query, twice.doc, lines)


def duplicate_in_run(source: str, query: str, doc: str, lines: list[int]) -> DuplicateError:
    """The error for a document that occurs twice in one query's ranking."""
    first = f" (first on line {lines[0]})" if lines else ""
    return DuplicateError(
        f"query {query!r} has document {doc!r} again{first}",
        source=source,
        line=lines[1] if len(lines) > 1 else None,
        hint="a ranking names each document once; keep the better score",
    )
