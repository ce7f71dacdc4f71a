"""Is a value that was read the value that was written?

SQLite checks the structure of its pages, not their content. So important rows carry a CRC of their
values: a flipped bit is detected when the row is read, and ``assay doctor`` finds it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from typing import Any

from pydantic_core import from_json
from sqlalchemy import Connection, RowMapping, Table, bindparam, select, update

from assay.errors import CorruptError

_NAME = "$crc"  # no setting has this name
_MARK = f',"{_NAME}":'
UNREADABLE = (ValueError, KeyError, IndexError, TypeError, AttributeError)
"""What reading a value raises that is not what was written."""


def seal(values: Iterable[object]) -> int:
    """The CRC of values, in this order."""
    parts = []
    for value in values:
        if value is None:
            parts.append("-1:")
        else:
            text = str(value)
            size = len(text) if text.isascii() else len(text.encode())
            parts.append(f"{size}:{text}")
    return zlib.crc32("".join(parts).encode())


def sealed(text: str) -> str:
    """The text of a JSON object with one more field, the CRC of all others."""
    crc = zlib.crc32(text.encode())
    return f"{text[:-1]}{_MARK if len(text) > 2 else _MARK[1:]}{crc}}}"


def unsealed(text: str) -> dict[str, Any]:
    """The object, if its seal is intact; ``ValueError`` otherwise. Old objects have no seal."""
    start, mark, crc = text.rpartition(_MARK)
    if mark and str(zlib.crc32(f"{start}}}".encode())) != crc[:-1]:
        raise ValueError("the checksum differs")
    content: dict[str, Any]
    try:
        content = from_json(text)
    except ValueError:
        content = json.loads(text)  # slower, but also reads lone surrogates
    content.pop(_NAME, None)
    return content


def row_seal(row: RowMapping) -> int:
    """The CRC of a row of a table with a column for it."""
    return seal(value for name, value in row.items() if name != "seal")


def seal_rows(connection: Connection, table: Table) -> None:
    """Give a checksum to every row that has none."""
    key = list(table.primary_key.columns)
    found = connection.execute(select(table).where(table.c.seal.is_(None))).mappings().all()
    if found:
        rows = [
            {**{f"own_{one.name}": row[one.name] for one in key}, "crc": row_seal(row)}
            for row in found
        ]
        own = [one == bindparam(f"own_{one.name}") for one in key]
        connection.execute(update(table).where(*own).values(seal=bindparam("crc")), rows)


def is_sound(row: RowMapping) -> bool:
    """Whether a row is what was written; one from before there were checksums is."""
    return row["seal"] is None or row["seal"] == row_seal(row)


def damaged(what: str, problem: object) -> CorruptError:
    """The error for a value that cannot be read, or is not what was written."""
    return CorruptError(
        f"{what} was damaged: {problem}",
        hint="assay doctor lists all that is; assay restore brings back a backup",
    )
