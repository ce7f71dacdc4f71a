"""How is a run file of any size scored in bounded memory?

The file is read in pieces of a few megabytes, each parsed by polars, reduced to its judged hits and
forgotten. The fast parser only sees pieces that are as regular as they should be (the number of
blanks says so); everything else goes through the careful reader, which either understands it or
names the line that is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay import limits
from assay.errors import DuplicateError, LimitError
from assay.hits.builder import ScatteredRowsError, TableBuilder
from assay.hits.frame_reduce import (
    DuplicateRowError,
    JudgedIndex,
    group_starts,
    hashes,
    reduce_block,
)
from assay.hits.trec_lines import UTF8_MARK, read_run_lines

if TYPE_CHECKING:
    import polars as pl

    from assay.hits.sources import Bytes, Source
    from assay.measures.table import JudgedHits
    from assay.model.judgments import Qrels

Progress: TypeAlias = Callable[[int, int | None], None]

COLUMNS = 6


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
    try:
        try:
            frames = _frames(origin, extra_columns=extra_columns, progress=progress)
            return _reduce(qrels, index, _whole_queries(frames), float32=float32)
        except ScatteredRowsError:
            frames = _frames(origin, extra_columns=extra_columns, progress=progress)
            return _reduce(qrels, index, [_gathered(frames, origin.name)], float32=float32)
    except DuplicateRowError as twice:
        raise _duplicate(origin, twice, extra_columns=extra_columns) from None


def _reduce(
    qrels: Qrels,
    index: JudgedIndex,
    frames: Iterator[pl.DataFrame] | list[pl.DataFrame],
    *,
    float32: bool,
) -> JudgedHits:
    builder = TableBuilder(qrels)
    for frame in frames:
        score = frame["score"].to_numpy()
        if float32:
            score = score.astype(np.float32).astype(np.float64)
        builder.add(reduce_block(index, frame["query"], frame["doc"], score))
    return builder.build()


def _whole_queries(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows in frames that never part a query."""
    import polars as pl

    pending: list[pl.DataFrame] = []
    for frame in frames:
        starts = group_starts(hashes(frame["query"]))
        last = int(starts[-1])
        goes_on = bool(pending) and pending[-1]["query"][-1] == frame["query"][0]
        if pending and (last > 0 or not goes_on):
            yield pl.concat([*pending, frame[:last]] if last else pending)
            pending = []
        elif last > 0:
            yield frame[:last]
        pending.append(frame[last:])
    if pending:
        yield pl.concat(pending)


def _gathered(frames: Iterator[pl.DataFrame], name: str) -> pl.DataFrame:
    """All rows in one frame, those of a query together, in the order they came."""
    import polars as pl

    held, size = [], 0
    for frame in frames:
        held.append(frame)
        size += int(frame.estimated_size())
        if size > limits.SCATTERED_MAX_BYTES:
            raise LimitError(
                f"{name}: a query's rows do not stand together and the file is too large to sort",
                hint="sort it first: LC_ALL=C sort -s -k1,1",
            )
    return pl.concat(held).sort("query", maintain_order=True)


def _frames(
    origin: Source, *, extra_columns: bool, progress: Progress | None
) -> Iterator[pl.DataFrame]:
    total = origin.size()
    with origin.open() as stream:
        line = 1
        for data in pieces(stream):
            frame = _parse_fast(data, first=line == 1)
            if frame is None:
                frame = _parse_carefully(data, origin.name, line, extra_columns=extra_columns)
            if len(frame):
                yield frame
            line += _lines(data)
            if progress is not None:
                progress(stream.consumed(), total)


def pieces(stream: Bytes) -> Iterator[bytes]:
    """The content in pieces that end with a line; a last line without its end gets one."""
    rest = b""
    while data := stream.read(limits.STREAM_CHUNK_BYTES):
        cut = data.rfind(b"\n") + 1
        if not cut and len(rest) + len(data) > limits.MAX_LINE_BYTES:
            raise LimitError(
                f"{stream.name}: a line of more than {limits.MAX_LINE_BYTES:,} bytes",
                hint="is this a TREC file?",
            )
        if cut:
            yield b"".join((rest, memoryview(data)[:cut]))
            rest = data[cut:]
        else:
            rest += data
    if rest:
        yield rest + b"\n"


def _parse_fast(data: bytes, *, first: bool) -> pl.DataFrame | None:
    """The piece as a frame, or None where anything about it is unusual."""
    import polars as pl

    if first:
        data = data.removeprefix(UTF8_MARK)
    separator, lines = _form(data)
    if separator is None:
        data = _evened_out(data)
        separator, lines = _form(data)
        if separator is None:
            return None
    try:
        frame = pl.read_csv(
            data,
            has_header=False,
            separator=separator,
            quote_char=None,
            columns=[0, 2, 4],
            schema={
                "query": pl.String,
                "q0": pl.String,
                "doc": pl.String,
                "rank": pl.String,
                "score": pl.Float64,
                "tag": pl.String,
            },
        )
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        return None
    sound = len(frame) == lines and not sum(frame.null_count().row(0))
    return frame if sound and np.isfinite(frame["score"].to_numpy()).all() else None


def _lines(data: bytes) -> int:
    """Ten times the speed of ``bytes.count``."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")))


def _form(data: bytes) -> tuple[str | None, int]:
    """The one blank that parts six columns on every line, if it exists; and the lines."""
    content = np.frombuffer(data, dtype=np.uint8)
    lines = _lines(data)
    if b"\0" in data or (b"#" in data and (data.startswith(b"#") or b"\n#" in data)):
        return None, lines
    separator = "\t" if b"\t" in data else " "
    blank = content <= ord(" ")
    regular = (
        np.count_nonzero(content == ord(separator)) == (COLUMNS - 1) * lines
        and np.count_nonzero(blank) == COLUMNS * lines
        and not (blank[1:] & blank[:-1]).any()
        and not blank[:1].any()
    )
    return (separator if regular else None), lines


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


def _parse_carefully(data: bytes, name: str, line: int, *, extra_columns: bool) -> pl.DataFrame:
    import polars as pl

    rows = read_run_lines(data, name, first_line=line, extra_columns=extra_columns)
    return pl.DataFrame(
        {"query": rows.query, "doc": rows.doc, "score": rows.score},
        schema={"query": pl.String, "doc": pl.String, "score": pl.Float64},
    )


def _duplicate(origin: Source, twice: DuplicateRowError, *, extra_columns: bool) -> DuplicateError:
    """The error with both line numbers, found by reading the file once more."""
    lines: list[int] = []
    with origin.open() as stream:
        line = 1
        for data in pieces(stream):
            if twice.doc.encode() in data:
                rows = read_run_lines(
                    data, origin.name, first_line=line, extra_columns=extra_columns
                )
                lines += [
                    number
                    for query, doc, number in zip(rows.query, rows.doc, rows.line, strict=True)
                    if doc == twice.doc and query == twice.query
                ]
            line += _lines(data)
    return duplicate_in_run(origin.name, twice.query, twice.doc, lines)


def duplicate_in_run(source: str, query: str, doc: str, lines: list[int]) -> DuplicateError:
    """The error for a document that one query's ranking holds twice."""
    return DuplicateError(
        f"query {query!r} has document {doc!r} again (first on line {lines[0]})",
        source=source,
        line=lines[1],
        hint="a ranking names each document once; keep the better score",
    )
