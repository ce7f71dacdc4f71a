"""Which columns of a data frame hold the query, the document and the score?

Taken are polars and pandas frames, parquet files and plain parallel arrays. Everything becomes
polars columns; pandas is never imported here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import DuplicateError, FormatError, InputError, UsageError
from assay.hits.builder import ScatteredRowsError, TableBuilder
from assay.hits.frame_reduce import DuplicateRowError, JudgedIndex, reduce_block
from assay.model.judgments import Qrels

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from assay.measures.table import JudgedHits

NAMES = {
    "query": ("query_id", "qid", "query", "q_id", "topic", "topic_id"),
    "doc": ("doc_id", "docno", "docid", "doc", "did", "document_id", "chunk_id", "corpus_id"),
    "score": ("score", "sim", "similarity"),
    "grade": ("grade", "relevance", "rel", "label", "judgment", "score"),
}


def is_frame(value: object) -> bool:
    """A polars or pandas frame, told by its module so that neither is imported."""
    module = type(value).__module__.split(".")[0]
    return module in {"polars", "pandas"} and hasattr(value, "columns")


def is_columns(value: object) -> bool:
    """Three parallel arrays: queries, documents, scores or grades."""
    return (
        isinstance(value, tuple)
        and len(value) == 3
        and all(isinstance(part, (np.ndarray, list, tuple)) or is_series(part) for part in value)
    )


def is_series(value: object) -> bool:
    """A column of polars or pandas."""
    module = type(value).__module__.split(".")[0]
    return module in {"polars", "pandas"} and not hasattr(value, "columns")


def read_parquet(path: str | os.PathLike[str]) -> pl.DataFrame:
    """A parquet file as a frame, or an error that names it."""
    import polars as pl

    try:
        return pl.read_parquet(os.fspath(path), glob=False)
    except (pl.exceptions.PolarsError, OSError) as problem:
        raise FormatError(f"not a readable parquet file: {problem}", source=str(path)) from None


def columns(value: Any, last: str, place: str) -> tuple[pl.Series, pl.Series, pl.Series]:
    """(query, document, ``last``) of a frame or of three arrays, ids as text."""
    if is_columns(value):
        parts = dict(zip(("query", "doc", last), value, strict=True))
    else:
        parts = {role: value[_column(value, role, place)] for role in ("query", "doc", last)}
    query, doc = (_ids(parts[role], role, place) for role in ("query", "doc"))
    numbers = _series(parts[last])
    if not len(query) == len(doc) == len(numbers):
        raise InputError(
            f"{place}: the columns differ in length: {len(query)}, {len(doc)}, {len(numbers)}"
        )
    return query, doc, numbers


def _column(frame: Any, role: str, place: str) -> str:
    names = {str(name).lower().replace("-", "_"): name for name in frame.columns}
    for name in NAMES[role]:
        if name in names:
            return str(names[name])
    raise UsageError(
        f"{place}: no column for the {role} among: {', '.join(map(str, frame.columns))}",
        hint=f"name it one of: {', '.join(NAMES[role])}",
    )


def _series(part: Any) -> pl.Series:
    import polars as pl

    if isinstance(part, pl.Series):
        return part
    if type(part).__module__.startswith("pandas"):
        return _from_pandas(part)
    return pl.Series(values=part, strict=False)


def _from_pandas(part: Any) -> pl.Series:
    """Numbers through numpy, text through arrow where that is what pandas holds."""
    import polars as pl

    arrow = getattr(part.array, "__arrow_array__", None)
    if arrow is not None and part.dtype.kind not in "iuf":
        return pl.Series(values=part.array.__arrow_array__())
    if part.dtype.kind in "iufb":
        return pl.Series(values=part.to_numpy())
    return pl.Series(values=part.to_list(), strict=False)


def _ids(part: Any, role: str, place: str) -> pl.Series:
    import polars as pl

    series = _series(part)
    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype != pl.String and len(series):
        raise InputError(
            f"{place}: the {role} column holds {series.dtype}, not text",
            hint="ids are text: cast the column to strings, on both sides in the same way",
        )
    if series.null_count():
        at = int(series.is_null().arg_max() or 0)
        raise InputError(f"{place}: row {at} has no {role}")
    return series.cast(pl.String)


def judge_frame(
    qrels: Qrels, value: Any, *, place: str = "run", float32: bool = False
) -> JudgedHits:
    """The judged-hits table of a frame or of arrays; ties go to the higher document id."""
    query, doc, numbers = columns(value, "score", place)
    score = _finite(numbers, query, place)
    if float32:
        score = score.astype(np.float32).astype(np.float64)
    index = JudgedIndex(qrels)
    builder = TableBuilder(qrels)
    try:
        try:
            builder.add(reduce_block(index, query, doc, score))
        except ScatteredRowsError:
            order = query.arg_sort().to_numpy()
            builder.add(reduce_block(index, query.gather(order), doc.gather(order), score[order]))
    except DuplicateRowError as twice:
        raise DuplicateError(
            f"{place}: query {twice.query!r} has document {twice.doc!r} twice",
            hint="a ranking names each document once; keep the better score",
        ) from None
    return builder.build()


def _finite(
    numbers: pl.Series, query: pl.Series, place: str
) -> np.ndarray[Any, np.dtype[np.float64]]:
    if not numbers.dtype.is_numeric():
        raise InputError(f"{place}: the score column holds {numbers.dtype}, not numbers")
    nulls = numbers.null_count()
    values = numbers.to_numpy().astype(np.float64, copy=False)
    bad = np.flatnonzero(~np.isfinite(values))
    if nulls or len(bad):
        at = int(bad[0])
        raise InputError(
            f"{place}: row {at} (query {query[at]!r}): "
            f"the score {numbers[at]!r} is not a finite number"
        )
    return values


def qrels_from_frame(value: Any, place: str = "qrels") -> Qrels:
    """Judgments from a frame or from arrays."""
    query, doc, numbers = columns(value, "grade", place)
    if not numbers.dtype.is_integer() and len(numbers):
        raise InputError(
            f"{place}: the grade column holds {numbers.dtype}, not whole numbers",
            hint="cast the grades to integers",
        )
    if numbers.null_count():
        raise InputError(f"{place}: row {int(numbers.is_null().arg_max() or 0)} has no grade")
    return qrels_from_columns(query.to_list(), doc.to_list(), numbers.to_list(), place)


def qrels_from_columns(
    query: Sequence[str], doc: Sequence[str], grade: Sequence[int], place: str
) -> Qrels:
    """Judgments from checked columns; the same document twice for one query is refused."""
    table: dict[str, dict[str, int]] = {}
    for q, d, g in zip(query, doc, grade, strict=True):
        table.setdefault(q, {})[d] = g
    if sum(map(len, table.values())) < len(query):
        seen: set[tuple[str, str]] = set()
        for row, pair in enumerate(zip(query, doc, strict=True)):
            if pair in seen:
                raise DuplicateError(
                    f"{place}: row {row}: query {pair[0]!r} judges document {pair[1]!r} again"
                )
            seen.add(pair)
    return Qrels.from_mapping(table)
