"""Which columns of a data frame hold the query, the document and the number?

Accepts polars and pandas frames and plain parallel arrays or lists. Ids become polars strings,
numbers become numpy arrays; values that are missing, of the wrong type or not finite are rejected
with their row. pandas is never imported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from assay import extras, limits
from assay.errors import InputError, UsageError
from assay.hits.numbers import is_number, is_whole, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from assay.model.arrays import FloatArray

NAMES = {
    "query": ("query_id", "qid", "query", "q_id", "topic", "topic_id"),
    "doc": ("doc_id", "docno", "docid", "doc", "did", "document_id", "chunk_id", "corpus_id"),
    "score": ("score", "sim", "similarity"),
    "grade": ("grade", "relevance", "rel", "label", "judgment", "score"),
}
KEY = "key"
"""The name that an index without one gets."""
TEXT_HINT = "ids are text: cast the column to strings, on both sides in the same way"


def is_frame(value: object) -> bool:
    """Whether this is a frame of polars or pandas, or a table of arrow; none of them is imported.

    Any other library hands its tables over by the arrow interface.
    """
    return (
        _is(value, "polars", "DataFrame", "LazyFrame")
        or _is(value, "pandas", "DataFrame")
        or (hasattr(value, "__arrow_c_stream__") and not is_series(value))
    )


def columns_of(value: Any) -> dict[str, list[Any]]:
    """The columns of a frame, or of a dict of columns, by their names in lower case.

    An index of pandas is a column, too, if it has a name or holds text; ``KEY`` is then its name.
    """
    if _is(value, "pandas", "DataFrame"):
        if _is_text(value.index) and KEY not in value.columns:
            value = value.rename_axis(KEY)
        if any(name is not None for name in value.index.names):
            value = value.reset_index()
        return {_plain(name): value[name].tolist() for name in value.columns}
    if is_frame(value):
        frame = _polars(value)
        return {_plain(name): frame[name].to_list() for name in frame.columns}
    return {_plain(name): _listed(column) for name, column in value.items()}


def _listed(column: Any) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def is_labelled(series: Any) -> bool:
    """Whether a column of pandas holds scores under the ids of its index.

    Whole numbers may be ids themselves: they are scores only under ids that are text.
    """
    if not _is_pandas(series) or _is(series.index, "pandas", "RangeIndex"):
        return False
    return series.dtype.kind == "f" or (series.dtype.kind in "iu" and _is_text(series.index))


def _is_text(index: Any) -> bool:
    """Whether an index of pandas without a name holds text."""
    return index.nlevels == 1 and index.name is None and index.inferred_type == "string"


def _polars(value: Any) -> pl.DataFrame:
    """A frame of polars or a table of arrow as a frame of polars."""
    extras.require("polars")
    import polars as pl

    if isinstance(value, pl.LazyFrame):
        return value.collect()
    return value if isinstance(value, pl.DataFrame) else pl.DataFrame(value)


def is_columns(value: object) -> bool:
    """Whether these are three parallel arrays: queries, documents, and scores or grades."""
    return (
        isinstance(value, tuple)
        and len(value) == 3
        and all(isinstance(part, (np.ndarray, list, tuple)) or is_series(part) for part in value)
    )


def is_series(value: object) -> bool:
    """Whether this is a polars or pandas column."""
    return _is(value, "polars", "Series") or _is_pandas(value)


def _is_pandas(value: object) -> bool:
    return _is(value, "pandas", "Series")


def _is(value: object, library: str, *names: str) -> bool:
    return any(
        kind.__name__ in names and kind.__module__.partition(".")[0] == library
        for kind in type(value).__mro__
    )


def scored_columns(value: Any, place: str) -> tuple[pl.Series, pl.Series, FloatArray]:
    """(query, document, score) of a frame or of three arrays."""
    extras.require("polars")
    query, doc, numbers = _parts(value, "score", place)
    ids = _ids(query, "query", place), _ids(doc, "doc", place)
    scores = _scores(numbers, place)
    _refuse_lengths(place, len(ids[0]), len(ids[1]), len(scores))
    if not np.isfinite(scores).all():
        row = int(np.argmin(np.isfinite(scores)))
        raise InputError(
            f"{place}: row {row} (query {ids[0][row]!r}): "
            f"the score {_value(numbers, row)} is not a finite number"
        )
    return *ids, scores


def graded_columns(value: Any, place: str) -> tuple[list[str], list[str], list[int]]:
    """(query, document, grade) of a frame or of three arrays."""
    extras.require("polars")
    query, doc, numbers = _parts(value, "grade", place)
    ids = _ids(query, "query", place), _ids(doc, "doc", place)
    grades = _grades(numbers, place)
    _refuse_lengths(place, len(ids[0]), len(ids[1]), len(grades))
    for row, grade in enumerate(grades):
        if not -limits.MAX_GRADE <= grade <= limits.MAX_GRADE:
            raise InputError(
                f"{place}: row {row}: the grade {shown(grade)} is too large",
                hint=f"a grade is at most {limits.MAX_GRADE}",
            )
    return ids[0].to_list(), ids[1].to_list(), grades


def choose(names: Iterable[Any], last: str, place: str) -> list[Any]:
    """The names of the columns that hold the query, the document and ``last``."""
    known = list(names)
    return [_column(known, role, place) for role in ("query", "doc", last)]


def _parts(value: Any, last: str, place: str) -> tuple[Any, Any, Any]:
    if is_columns(value):
        query, doc, numbers = value
        return query, doc, numbers
    if _is(value, "polars", "LazyFrame"):
        names = choose(value.collect_schema().names(), last, place)
        value = value.select(list(dict.fromkeys(names))).collect()
    else:
        value = value if _is(value, "pandas", "DataFrame") else _polars(value)
        names = choose(value.columns, last, place)
    query, doc, numbers = (value[name] for name in names)
    return query, doc, numbers


def _plain(name: Any) -> str:
    return str(name).lower().replace("-", "_")


def _column(known: list[Any], role: str, place: str) -> Any:
    plain = [_plain(name) for name in known]
    for name in NAMES[role]:
        if plain.count(name) > 1:
            raise UsageError(f"{place}: several columns are called {name!r}")
        if name in plain:
            return known[plain.index(name)]
    raise UsageError(
        f"{place}: no column for the {role} among: {', '.join(map(str, known))}",
        hint=f"name it one of: {', '.join(NAMES[role])}",
    )


def _refuse_lengths(place: str, *lengths: int) -> None:
    if len(set(lengths)) > 1:
        raise InputError(
            f"{place}: the columns differ in length: {', '.join(map(str, lengths))}",
            hint="give one query, one document and one number per row",
        )


def _ids(part: Any, role: str, place: str) -> pl.Series:
    """A column of ids as text."""
    import polars as pl

    if isinstance(part, pl.Series):
        series = part
        if series.dtype in (pl.Categorical, pl.Enum):
            series = series.cast(pl.String)
    elif _is_pandas(part):
        series = _pandas_ids(part, role, place)
    elif (
        isinstance(part, np.ndarray)
        and part.size
        and (part.dtype.kind not in "UO" or part.ndim != 1)
    ):
        _not_text(role, place, f"{part.dtype}" if part.ndim == 1 else f"{part.ndim} dimensions")
    else:
        series = _listed_ids(part.tolist() if isinstance(part, np.ndarray) else part, role, place)
    if series.dtype != pl.String and len(series):
        _not_text(role, place, str(series.dtype))
    if series.null_count():
        raise InputError(f"{place}: row {series.is_null().arg_max()} has no {role}")
    return series.cast(pl.String)


def _pandas_ids(part: Any, role: str, place: str) -> pl.Series:
    """Ids of a pandas column, through arrow where pandas stores arrow strings."""
    import polars as pl

    missing = part.isna().to_numpy()
    if missing.any():
        raise InputError(f"{place}: row {int(missing.argmax())} has no {role}")
    if len(part) and part.dtype.kind not in "OUSTV":
        _not_text(role, place, str(part.dtype))
    try:
        arrow = getattr(part.array, "__arrow_array__", None)
        if arrow is not None:
            return pl.Series(values=arrow())
    except ImportError:  # otherwise pandas stores strings as Python objects
        pass
    return _listed_ids(part.to_list(), role, place)


def _listed_ids(ids: Sequence[Any], role: str, place: str) -> pl.Series:
    import polars as pl

    for row, value in enumerate(ids):
        if not isinstance(value, str) and value is not None:
            _not_text(role, place, f"{shown(value)} in row {row}")
    try:
        return pl.Series(values=ids, dtype=pl.String)
    except UnicodeEncodeError:
        raise InputError(f"{place}: a {role} id holds half a surrogate pair") from None


def _not_text(role: str, place: str, what: str) -> NoReturn:
    raise InputError(f"{place}: the {role} column holds {what}, not text", hint=TEXT_HINT)


def _scores(part: Any, place: str) -> FloatArray:
    """A column of numbers; missing values become NaN."""
    import polars as pl

    if isinstance(part, pl.Series):
        if not part.dtype.is_numeric() and len(part):
            _not_numbers(place, str(part.dtype))
        return part.cast(pl.Float64).to_numpy()
    if _is_pandas(part) and part.dtype.kind in "iuf":
        numbers: FloatArray = part.to_numpy(dtype="float64", na_value=np.nan)
        return numbers
    if isinstance(part, np.ndarray) and part.dtype.kind in "iuf" and part.ndim == 1:
        return np.ma.filled(part.astype(np.float64), np.nan)
    if (isinstance(part, np.ndarray) or is_series(part)) and part.dtype.kind != "O":
        _not_numbers(place, str(part.dtype))
    values = list(part)
    for row, value in enumerate(values):
        if value is not None and not is_number(value):
            _not_numbers(place, f"{shown(value)} in row {row}")
    try:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    except (OverflowError, TypeError):
        _not_numbers(place, "numbers beyond 64 bits")


def _not_numbers(place: str, what: str) -> NoReturn:
    raise InputError(
        f"{place}: the score column holds {what}, not numbers", hint="cast it to floats"
    )


def _grades(part: Any, place: str) -> list[int]:
    """A column of whole numbers."""
    import polars as pl

    if isinstance(part, pl.Series):
        if not part.dtype.is_integer() and len(part):
            _not_whole(place, str(part.dtype))
        part = part.to_list()
    elif hasattr(part, "dtype") and (part.dtype.kind not in "iuO" or part.ndim != 1):
        _not_whole(place, str(part.dtype))
    values = part.tolist() if isinstance(part, np.ndarray) else list(part)
    if all(type(value) is int for value in values):
        return values
    for row, value in enumerate(values):
        if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
            raise InputError(f"{place}: row {row} has no grade")
        if not is_whole(value):
            _not_whole(place, f"{shown(value)} in row {row}")
    return [int(value) for value in values]


def _not_whole(place: str, what: str) -> NoReturn:
    raise InputError(
        f"{place}: the grade column holds {what}, not whole numbers",
        hint="cast the grades to integers",
    )


def _value(numbers: Any, row: int) -> str:
    value = numbers.iloc[row] if hasattr(numbers, "iloc") else numbers[row]
    return shown(value.item() if isinstance(value, np.generic) else value)
