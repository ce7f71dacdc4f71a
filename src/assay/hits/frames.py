"""How are runs and judgments read from data frames, arrays and parquet files?"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from assay import extras
from assay.errors import DuplicateError, FormatError
from assay.hits.blocks import (
    DuplicateRowError,
    JudgedIndex,
    ScatteredRowsError,
    TableBuilder,
    reduce_block,
)
from assay.hits.columns import choose, graded_columns, scored_columns
from assay.hits.numbers import in_float32
from assay.hits.rows import BLOCK_ROWS, FrameRows, list_hashes, place_of
from assay.hits.sources import read_all
from assay.model.judgments import Qrels
from assay.panics import without_panic_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from assay.hits.sources import Bytes, Source
    from assay.measures.table import JudgedHits
    from assay.model.ranking import ScoreRun


def read_parquet(
    origin: Source, stream: Bytes, head: bytes, last: str | None = None
) -> pl.DataFrame:
    """A parquet file as a frame, or an error that names it.

    With ``last`` (score or grade), only the columns for the query, the document and that value.
    """
    extras.require("polars")
    import polars as pl

    where: Path | io.BytesIO
    if origin.path is None or stream.packed or not origin.path.is_file():
        where = io.BytesIO(head + read_all(stream))
    else:
        where = origin.path.absolute()
    try:
        with without_panic_text():
            frame = pl.scan_parquet(where, glob=False)
            if last is not None:
                chosen = choose(frame.collect_schema().names(), last, origin.name)
                frame = frame.select(list(dict.fromkeys(chosen)))
            return frame.collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as problem:
        raise FormatError(
            f"not a readable parquet file: {problem}",
            source=origin.name,
            hint="create or download the file again",
        ) from None


def judge_frame(
    qrels: Qrels, value: Any, *, place: str = "run", float32: bool = False
) -> JudgedHits:
    """The judged-hits table of a frame or of arrays; ties go to the higher document id."""
    rows = FrameRows.of(*scored_columns(value, place))
    if float32:
        rows = rows.with_score(
            in_float32(rows.score, lambda row: f"{place}: {place_of(rows, row)}")
        )
    index = JudgedIndex(qrels, list_hashes)
    try:
        try:
            return _reduce(qrels, index, rows)
        except ScatteredRowsError:
            return _reduce(qrels, index, rows.gathered())
    except DuplicateRowError as twice:
        raise duplicate_rows(place, twice.query, twice.doc, twice.first, twice.second) from None


def has_ids_with(value: Any, place: str, separators: Sequence[str]) -> bool:
    """Whether ids of documents hold one of these."""
    if not separators:
        return False
    _, doc, _ = scored_columns(value, place)
    return any(bool(doc.str.contains(mark, literal=True).any()) for mark in separators)


def _reduce(qrels: Qrels, index: JudgedIndex, rows: FrameRows) -> JudgedHits:
    """Reduce in blocks of whole queries that fit the CPU cache."""
    builder = TableBuilder(qrels)
    first, groups = 0, len(rows.starts)
    while first < groups:
        until = int(np.searchsorted(rows.starts, rows.starts[first] + BLOCK_ROWS))
        last = max(until, first + 1)
        try:
            builder.add(reduce_block(index, rows.part(first, last)))
        except DuplicateRowError as twice:
            begin = 0 if rows.origin is not None else int(rows.starts[first])
            raise DuplicateRowError(
                twice.query, twice.doc, twice.first + begin, twice.second + begin
            ) from None
        first = last
    return builder.build()


def run_from_frame(value: Any, place: str = "run") -> ScoreRun:
    """A frame or arrays as plain dicts, in the order of the rows."""
    query, doc, score = scored_columns(value, place)
    run: ScoreRun = {}
    seen: dict[tuple[str, str], int] = {}
    rows = zip(query.to_list(), doc.to_list(), score.tolist(), strict=True)
    for row, (q, d, s) in enumerate(rows):
        if (q, d) in seen:
            raise duplicate_rows(place, q, d, seen[q, d], row)
        seen[q, d] = row
        run.setdefault(q, {})[d] = s
    return run


def duplicate_rows(place: str, query: str, doc: str, first: int, second: int) -> DuplicateError:
    """The error for a document that occurs twice in one query's rows."""
    return DuplicateError(
        f"{place}: query {query!r} has document {doc!r} twice, in rows {first} and {second}",
        hint="a ranking names each document once; keep the better score",
    )


def qrels_from_frame(value: Any, place: str = "qrels") -> Qrels:
    """Judgments from a frame or from arrays."""
    return qrels_from_columns(*graded_columns(value, place), place)


def qrels_from_columns(
    query: Sequence[str], doc: Sequence[str], grade: Sequence[int], place: str
) -> Qrels:
    """Judgments from checked columns; a document judged twice for one query is an error."""
    table: dict[str, dict[str, int]] = {}
    for q, d, g in zip(query, doc, grade, strict=True):
        table.setdefault(q, {})[d] = g
    if sum(map(len, table.values())) < len(query):
        seen: set[tuple[str, str]] = set()
        for row, pair in enumerate(zip(query, doc, strict=True)):
            if pair in seen:
                raise DuplicateError(
                    f"{place}: row {row}: query {pair[0]!r} judges document {pair[1]!r} again",
                    hint="keep one judgment",
                )
            seen.add(pair)
    return Qrels.from_mapping(table)
