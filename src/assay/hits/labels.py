"""Which labels and scores does this file hold?

A row has a ``label`` (0/1, true/false, yes/no) and a ``score``, and may have a cluster: CSV or TSV
with a header, JSON lines, or parquet.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import FormatError
from assay.hits import frames, strict_json
from assay.hits.sniff import Kind, sniff
from assay.hits.sources import source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.model.arrays import BoolArray, FloatArray

TRUE = {"1", "true", "yes", "1.0"}
FALSE = {"0", "false", "no", "0.0"}


@dataclass(frozen=True, slots=True)
class Labels:
    """Parallel columns; ``clusters`` where they were asked for."""

    labels: BoolArray
    scores: FloatArray
    clusters: list[str] | None


def read_labels(place: str, cluster: str | None = None) -> Labels:
    """The rows of a file, each checked."""
    origin = source(place)
    with origin.open() as stream:
        kind, head = sniff(stream)
        if kind is Kind.PARQUET:
            rows: list[tuple[int, Mapping[str, Any]]] = list(
                enumerate(frames.read_parquet(place).iter_rows(named=True), 1)
            )
        else:
            data = head + strict_json.read_all(stream)
            rows = list(
                _json_rows(data, origin.name)
                if kind is Kind.JSON
                else _text_rows(data, origin.name)
            )
    if not rows:
        raise FormatError("there is no row", source=origin.name)
    labels = [_label(row, line, origin.name) for line, row in rows]
    scores = [_score(row, line, origin.name) for line, row in rows]
    clusters = [_field(row, cluster, line, origin.name) for line, row in rows] if cluster else None
    return Labels(np.array(labels, dtype=np.bool_), np.array(scores), clusters)


def _json_rows(data: bytes, name: str) -> Iterable[tuple[int, Mapping[str, Any]]]:
    rows = (
        list(strict_json.lines(data, name))
        if strict_json.is_lines(data) or data.lstrip().startswith(b"{")
        else [(1, row) for row in strict_json.loads(data, name)]
    )
    for line, row in rows:
        if not isinstance(row, dict):
            raise FormatError("a row must be an object", source=name, line=line)
        yield line, row


def _text_rows(data: bytes, name: str) -> Iterable[tuple[int, Mapping[str, Any]]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError("not UTF-8", source=name) from None
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    for row in reader:
        yield reader.line_num, row


def _field(row: Mapping[str, Any], field: str, line: int, name: str) -> str:
    value = row.get(field)
    if value is None:
        known = ", ".join(str(key) for key in row)
        raise FormatError(f"no {field!r} among: {known}", source=name, line=line)
    return str(value)


def _label(row: Mapping[str, Any], line: int, name: str) -> bool:
    text = _field(row, "label", line, name).strip().lower()
    if text not in TRUE | FALSE:
        raise FormatError(f"the label {text!r:.40} is neither 0 nor 1", source=name, line=line)
    return text in TRUE


def _score(row: Mapping[str, Any], line: int, name: str) -> float:
    text = _field(row, "score", line, name)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        raise FormatError(f"the score {text!r:.40} is not a finite number", source=name, line=line)
    return value
