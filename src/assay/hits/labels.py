"""Which labels and scores does this file hold?

A row has a ``label`` (0/1, true/false, yes/no) and a ``score``, and may have a cluster: CSV or TSV
with a header, JSON lines, or parquet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay import strict_json
from assay.delimited import read_table
from assay.errors import FormatError
from assay.hits import frames
from assay.hits.json_fields import ValueLocation
from assay.hits.numbers import finite, shown
from assay.hits.sources import Kind, read_all, sniff, source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.model.arrays import BoolArray, FloatArray

TRUE = {"1", "true", "yes", "1.0"}
FALSE = {"0", "false", "no", "0.0"}


@dataclass(frozen=True, slots=True)
class Labels:
    """Parallel columns; ``clusters`` if they were requested."""

    labels: BoolArray
    scores: FloatArray
    clusters: list[str] | None


def read_labels(path: str, cluster: str | None = None) -> Labels:
    """The rows of a file, each checked."""
    with source(path) as origin, origin.open() as stream:
        name = origin.name
        kind, head = sniff(stream)
        if kind is Kind.PARQUET:
            frame = frames.read_parquet(origin, stream, head)
            rows = list(enumerate(frame.iter_rows(named=True), 1))
        else:
            data = head + read_all(stream)
            rows = list(
                _json_rows(data, name)
                if kind is Kind.JSON
                else read_table(data, name, numbers=frozenset({"score"}))
            )
    if not rows:
        raise FormatError("there is no row", source=name, hint="a row has a label and a score")
    placed = [(row, ValueLocation(name, line)) for line, row in rows]
    labels = [_label(row, where) for row, where in placed]
    scores = [_score(row, where) for row, where in placed]
    clusters = [str(_field(row, cluster, where)) for row, where in placed] if cluster else None
    return Labels(np.array(labels, dtype=np.bool_), np.array(scores, dtype=np.float64), clusters)


def _json_rows(data: bytes, name: str) -> Iterable[tuple[int, dict[str, Any]]]:
    rows = strict_json.values(data, name)
    if len(rows) == 1 and isinstance(rows[0][1], list):
        rows = [(rows[0][0], row) for row in rows[0][1]]
    for line, row in rows:
        if not isinstance(row, dict):
            raise ValueLocation(name, line).error(f"a row must be an object, not {shown(row)}")
        yield line, row


def _field(row: Mapping[str, Any], field: str, location: ValueLocation) -> Any:
    value = row.get(field)
    if value is None or value == "":
        known = ", ".join(str(key) for key in row)
        raise location.error(
            f"no {field!r} among: {known}" if field not in row else f"no {field!r}"
        )
    return value


def _label(row: Mapping[str, Any], location: ValueLocation) -> bool:
    value = _field(row, "label", location)
    text = str(value).strip().lower()
    if text not in TRUE | FALSE:
        raise location.error(
            f"the label {shown(value)} is neither 0 nor 1", "true and yes are 1 too"
        )
    return text in TRUE


def _score(row: Mapping[str, Any], location: ValueLocation) -> float:
    value = _field(row, "score", location)
    number = finite(_parsed(value) if isinstance(value, str) else value)
    if number is None:
        raise location.error(f"the score {shown(value)} is not a finite number")
    return number


def _parsed(text: str) -> float | None:
    """A decimal number in ASCII; ``float`` also accepts 1_000 and digits of other scripts."""
    try:
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None
