"""Which group does each query belong to?

Groups come from a field of the judgments (``query_type``) or from a file: JSON ``{query: group}``,
JSON lines, or two columns separated by tab, comma,
semicolon or blank.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from assay import strict_json
from assay.delimited import read_rows
from assay.errors import DuplicateError, FormatError, InputError, UsageError
from assay.hits.json_fields import ValueLocation, first_of
from assay.hits.numbers import shown
from assay.hits.sources import Kind, read_all, sniff, source
from assay.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from assay.model.judgments import Qrels
    from assay.strict_json import Json

HEADERS = {"query_id", "qid", "query-id", "query"}
HINT = "groups are {query: group}, lines with query_id and group, or two columns; all text"


def load_groups(value: str | os.PathLike[str] | Mapping[str, str], qrels: Qrels) -> dict[str, str]:
    """Query to group, from a mapping, a field's name or a file."""
    if isinstance(value, Mapping):
        return _checked(((None, query, group) for query, group in value.items()), "groups")
    field = {query: fields[str(value)] for query, fields in qrels.fields.items() if value in fields}
    if field:
        return field
    if value != "-" and not os.path.exists(value):
        known = sorted({name for fields in qrels.fields.values() for name in fields})
        raise UsageError(
            f"{str(value)!r} is neither a file nor a field of the judgments",
            hint=f"fields: {', '.join(known)}"
            if known
            else "the judgments have no fields; name a file",
        )
    return _from_file(value)


def _from_file(path: str | os.PathLike[str]) -> dict[str, str]:
    with source(path) as origin, origin.open() as stream:
        kind, head = sniff(stream)
        data = head + read_all(stream)
        name = origin.name
    rows = _json_rows(data, name) if kind is Kind.JSON else _text_rows(data, name)
    groups = _checked(rows, name)
    if not groups:
        raise FormatError("there is no group", source=name, hint=HINT)
    return groups


def _json_rows(data: bytes, name: str) -> Iterable[tuple[int | None, Json, Json]]:
    values = strict_json.values(data, name)
    if len(values) == 1 and isinstance(values[0][1], dict) and "group" not in values[0][1]:
        for query, group in values[0][1].items():
            yield None, query, group
        return
    if len(values) == 1 and isinstance(values[0][1], list):
        values = [(values[0][0], row) for row in values[0][1]]
    for line, row in values:
        if not isinstance(row, dict):
            raise ValueLocation(name, line).error(
                f"a row must be an object, not {shown(row)}", HINT
            )
        yield line, first_of(row, ("query_id", "qid")), row.get("group")


def _text_rows(data: bytes, name: str) -> Iterable[tuple[int | None, str, str]]:
    for number, (line, row) in enumerate(read_rows(data, name, blanks=True)):
        if number == 0 and row[0].lower() in HEADERS:
            continue
        if len(row) != 2:
            raise FormatError(
                f"{counted(len(row), 'column')} instead of 2",
                source=name,
                line=line,
                hint="a line is: query group",
            )
        yield line, row[0], row[1]


def _checked(rows: Iterable[tuple[int | None, Json, Json]], name: str) -> dict[str, str]:
    groups: dict[str, str] = {}
    for line, query, group in rows:
        for what, value in (("query", query), ("group", group)):
            if not isinstance(value, str) or not value:
                if line is None:
                    raise InputError(f"{name}: the {what} {shown(value)} is not text", hint=HINT)
                raise ValueLocation(name, line).error(
                    f"the {what} {shown(value)} is not text", HINT
                )
        if query in groups:
            raise DuplicateError(
                f"query {query!r} is in a group already",
                source=name,
                line=line,
                hint="a query belongs to one group",
            )
        groups[query] = group
    return groups
