"""How is a row inserted that may already exist, or that must come last, on either database?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Connection, Table, func, select

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite


def insert_unless_there(
    connection: Connection, table: Table, rows: Sequence[dict[str, Any]]
) -> None:
    """Insert rows; those whose key exists are skipped."""
    if rows:
        statement = _insert(connection, table).on_conflict_do_nothing(index_elements=_key(table))
        connection.execute(statement, list(rows))


def insert_or_replace(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows; those whose key exists replace the old ones."""
    if rows:
        statement = _insert(connection, table)
        new: dict[str, Any] = {name: statement.excluded[name] for name in rows[0]}
        if "seal" in table.c:
            new["seal"] = None  # whoever commits makes it anew
        connection.execute(
            statement.on_conflict_do_update(index_elements=_key(table), set_=new), list(rows)
        )


def next_number(connection: Connection, column: Column[int]) -> int:
    """A number above all in an autoincrement column, which no new row will get."""
    if connection.dialect.name == "sqlite":
        wanted = select(func.coalesce(func.max(column), 0) + 1)
    else:
        sequence = func.pg_get_serial_sequence(column.table.name, column.name)
        wanted = select(func.nextval(sequence))
    return int(connection.execute(wanted).scalar_one())


def _insert(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite

        return sqlite.insert(table)
    from sqlalchemy.dialects import (
        postgresql,
    )  # importing it takes time that SQLite users need not spend

    return postgresql.insert(table)


def _key(table: Table) -> list[str]:
    return [column.name for column in table.primary_key.columns]
