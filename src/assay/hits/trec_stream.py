"""How is a run file of any size scored in bounded memory?

The file is read in pieces of a few megabytes, each parsed by polars, reduced to its judged hits and
forgotten. The fast parser only sees pieces that are as regular as they should be (the number of
blanks says so); everything else goes through the careful reader, which either understands it or
names the line that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay import limits
from assay.errors import DuplicateError, LimitError
from assay.hits.builder import ScatteredRowsError, TableBuilder
from assay.hits.frame_reduce import DuplicateRowError, JudgedIndex, reduce_block
from assay.hits.numbers import in_float32
from assay.hits.rows import Rows, gathered, joined
from assay.hits.trec_lines import UTF8_MARK, read_run_lines, refuse_long_lines

if TYPE_CHECKING:
    from assay.hits.sources import Bytes, Source
    from assay.measures.table import JudgedHits
    from assay.model.judgments import Qrels

Progress: TypeAlias = Callable[[int, int | None], None]

STRETCH = 1 << 17


def judge_trec_stream(
    qrels: Qrels,
    origin: Source,
    *,
    float32: bool = False,
    extra_columns: bool = False,
    progress: Progress | None = None,
) -> JudgedHits:
    """The judged-hits table of a TREC run file, in memory that does not grow with its length."""
    index = JudgedIndex(qrels)

    def parsed() -> Iterator[Rows]:
        parts = _parsed(origin, extra_columns=extra_columns, progress=progress)
        return (_in_float32(rows, origin.name) for rows in parts) if float32 else parts

    try:
        try:
            return _reduce(qrels, index, _whole_queries(parsed(), origin.name))
        except ScatteredRowsError:
            return _reduce(qrels, index, [_together(parsed(), origin.name)])
    except DuplicateRowError as twice:
        raise _duplicate(origin, twice) from None


def _in_float32(rows: Rows, name: str) -> Rows:
    score = in_float32(rows.score, lambda row: f"{name}: {rows.place(row)}")
    return Rows(rows.query, rows.doc, score, rows.starts)


def _reduce(qrels: Qrels, index: JudgedIndex, blocks: Iterator[Rows] | list[Rows]) -> JudgedHits:
    builder = TableBuilder(qrels)
    for rows in blocks:
        builder.add(reduce_block(index, rows))
    return builder.build()


def _whole_queries(parts: Iterator[Rows], name: str) -> Iterator[Rows]:
    """The same rows in blocks that never part a query."""
    pending: list[Rows] = []
    size = 0
    for rows in parts:
        whole, last = rows.split_last()
        if whole is not None:
            yield joined([*pending, whole])
            pending, size = [], 0
        elif pending and pending[-1].query[-1] != last.query[0]:
            yield joined(pending)
            pending, size = [], 0
        pending.append(last)
        size += last.size()
        if size > limits.SCATTERED_MAX_BYTES:
            raise LimitError(
                f"{name}: query {last.query[0]!r} alone takes more than {size:,} bytes",
                hint="keep the first results of each query only",
            )
    if pending:
        yield joined(pending)


def _together(parts: Iterator[Rows], name: str) -> Rows:
    """All rows in one block, those of a query together, in the order they came."""
    held: list[Rows] = []
    size = 0
    for rows in parts:
        held.append(rows)
        size += rows.size()
        if size > limits.SCATTERED_MAX_BYTES:
            raise LimitError(
                f"{name}: a query's rows do not stand together and the file is too large to sort",
                hint="sort it first: LC_ALL=C sort -s -k1,1",
            )
    return gathered(joined(held))


def _parsed(origin: Source, *, extra_columns: bool, progress: Progress | None) -> Iterator[Rows]:
    total = origin.size()
    with origin.open() as stream:
        line = 1
        for data in pieces(stream):
            refuse_long_lines(data, origin.name, line)
            rows = _parse_fast(data, first=line == 1)
            lines = len(rows) if rows is not None else _lines(data)
            if rows is None:
                rows = _parse_fast(_evened_out(data), first=line == 1)
            if rows is None:
                rows = _parse_carefully(data, origin.name, line, extra_columns=extra_columns)
            if len(rows):
                yield rows
            line += lines
            if progress is not None:
                progress(stream.consumed(), total)


def pieces(stream: Bytes) -> Iterator[bytes]:
    """The content in pieces that end with a line; a last line without its end gets one.

    A line beyond the cap comes without its end: whoever takes it knows its number, and refuses it.
    """
    held: list[bytes] = []
    size = 0
    while data := stream.read(limits.STREAM_CHUNK_BYTES):
        cut = data.rfind(b"\n") + 1
        if cut or size + len(data) > limits.MAX_LINE_BYTES:
            cut = cut or len(data)
            yield b"".join((*held, memoryview(data)[:cut]))
            held, size, data = [], 0, data[cut:]
        if data:
            held.append(data)
            size += len(data)
    if held:
        yield b"".join((*held, b"\n"))


def _parse_fast(data: bytes, *, first: bool) -> Rows | None:
    """The piece as rows, one a line, or None where anything about it is unusual.

    The lines must have six columns and single blanks between them, and nothing else. The parser
    would not mind if one had five and another seven; but if all have a tag, so six at least, and
    there are six blanks a line with its end, all have six.
    """
    import polars as pl

    if first:
        data = data.removeprefix(UTF8_MARK)
    blanks = _blanks(data)
    if not blanks or data[:1] == b"#" or (b"#" in data and b"\n#" in data):
        return None
    names = ("query", "q0", "doc", "rank", "score", "tag")
    try:
        frame = pl.read_csv(
            data,
            has_header=False,
            separator=" " if b" " in data else "\t",
            quote_char=None,
            columns=[0, 2, 4, 5],
            schema={name: pl.Float64 if name == "score" else pl.String for name in names},
        )
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        return None
    if blanks != len(names) * len(frame) or any(column.null_count() for column in frame):
        return None
    score = frame["score"].to_numpy()
    if not np.isfinite(score).all():
        return None
    rows = Rows.of(frame["query"], frame["doc"], score)
    return rows if _longest(rows) <= limits.MAX_ID_BYTES else None


def _longest(rows: Rows) -> int:
    """The bytes of the longest id."""
    columns = (rows.doc, rows.query.gather(rows.starts))
    return max(int(column.str.len_bytes().max() or 0) for column in columns)  # type: ignore[arg-type]


def _lines(data: bytes) -> int:
    """Ten times the speed of ``bytes.count``."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")))


def _blanks(data: bytes) -> int | None:
    """How many blanks are there? None where two stand together or one begins the data.

    Anything up to the blank counts as one: line ends, tabs, control characters. The data is looked
    at in stretches that stay in the processor's cache.
    """
    content = np.frombuffer(data, dtype=np.uint8)
    count = 0
    for start in range(0, len(content), STRETCH):
        blank = content[start : start + STRETCH + 1] <= ord(" ")  # and the first of the next
        if (blank[1:] & blank[:-1]).any() or (start == 0 and blank[0]):
            return None
        count += int(np.count_nonzero(blank[:STRETCH]))
    return count


def _evened_out(data: bytes) -> bytes:
    """One blank between columns, none around lines, no empty lines, no comments."""
    data = b"\n" + data.replace(b"\r\n", b"\n").replace(b"\t", b" ")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    data = data.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    if b"\n#" in data:
        kept = (line for line in data.split(b"\n") if not line.startswith(b"#"))
        data = b"\n".join(kept)
    while b"\n\n" in data:
        data = data.replace(b"\n\n", b"\n")
    return data[1:]


def _parse_carefully(data: bytes, name: str, line: int, *, extra_columns: bool) -> Rows:
    import polars as pl

    rows = read_run_lines(data, name, first_line=line, extra_columns=extra_columns)
    return Rows.of(
        pl.Series(rows.query, dtype=pl.String),
        pl.Series(rows.doc, dtype=pl.String),
        np.array(rows.score, dtype=np.float64),
    )


def _duplicate(origin: Source, twice: DuplicateRowError) -> DuplicateError:
    """The error with both line numbers, found by reading the file once more."""
    query, doc = (re.escape(text.encode()) for text in (twice.query, twice.doc))
    blanks = rb"[ \t\r\f\v]"
    row = re.compile(
        rb"^%s*%s%s+\S+%s+%s(?=\s)" % (blanks, query, blanks, blanks, doc), re.MULTILINE
    )
    lines: list[int] = []
    with origin.open() as stream:
        line = 1
        for data in pieces(stream):
            text = data.removeprefix(UTF8_MARK) if line == 1 else data
            for found in row.finditer(text):
                lines.append(line + text.count(b"\n", 0, found.start()))
                if len(lines) == 2:
                    return duplicate_in_run(origin.name, twice.query, twice.doc, lines)
            line += _lines(data)
    return duplicate_in_run(origin.name, twice.query, twice.doc, lines)


def duplicate_in_run(source: str, query: str, doc: str, lines: list[int]) -> DuplicateError:
    """The error for a document that one query's ranking holds twice."""
    first = f" (first on line {lines[0]})" if lines else ""
    return DuplicateError(
        f"query {query!r} has document {doc!r} again{first}",
        source=source,
        line=lines[1] if len(lines) > 1 else None,
        hint="a ranking names each document once; keep the better score",
    )
