"""To which group does each query belong?

A group comes from a field of the judgments (``query_type``) or from a file: JSON ``{query:
group}``, JSON lines, or two columns parted by tab, comma or blank.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import FormatError, UsageError
from assay.hits import strict_json
from assay.hits.sniff import Kind, sniff
from assay.hits.sources import source

if TYPE_CHECKING:
    import os

    from assay.model.judgments import Qrels

HEADERS = {"query_id", "qid", "query-id", "query"}


def load_groups(value: str | os.PathLike[str] | Mapping[str, str], qrels: Qrels) -> dict[str, str]:
    """Query to group, from a mapping, a field's name or a file."""
    if isinstance(value, Mapping):
        return dict(value)
    field = {query: fields[str(value)] for query, fields in qrels.fields.items() if value in fields}
    if field:
        return field
    if not Path(value).exists() and value != "-":
        known = sorted({name for fields in qrels.fields.values() for name in fields})
        raise UsageError(
            f"{str(value)!r} is neither a file nor a field of the judgments",
            hint=f"fields: {', '.join(known)}"
            if known
            else "the judgments have no fields; name a file",
        )
    return _from_file(value)


def _from_file(path: str | os.PathLike[str]) -> dict[str, str]:
    origin = source(path)
    with origin.open() as stream:
        kind, head = sniff(stream)
        data = head + strict_json.read_all(stream)
    if kind is Kind.JSON:
        return _from_json(data, origin.name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError("not UTF-8", source=origin.name) from None
    return _from_text(text, origin.name)


def _from_json(data: bytes, name: str) -> dict[str, str]:
    if strict_json.is_lines(data):
        rows = [row for _, row in strict_json.lines(data, name)]
        pairs = [
            (r.get("query_id", r.get("qid")), r.get("group")) for r in rows if isinstance(r, dict)
        ]
    else:
        value = strict_json.loads(data, name)
        pairs = list(value.items()) if isinstance(value, dict) else []
    if not pairs or not all(isinstance(part, str) for pair in pairs for part in pair):
        raise FormatError(
            "groups are {query: group}, or lines with query_id and group, all text", source=name
        )
    return {str(query): str(group) for query, group in pairs}


def _from_text(text: str, name: str) -> dict[str, str]:
    first = text.partition("\n")[0]
    delimiter = "\t" if "\t" in first else "," if "," in first else " "
    groups: dict[str, str] = {}
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    for row in reader:
        if not row or (reader.line_num == 1 and row[0].lower() in HEADERS):
            continue
        if len(row) != 2:
            raise FormatError(
                f"{len(row)} columns where 2 belong",
                source=name,
                line=reader.line_num,
                hint="a line is: query group",
            )
        groups[row[0]] = row[1]
    return groups
