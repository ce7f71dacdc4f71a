"""How is a row written that may be there already, on either kind of database?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert_unless_there(
    connection: Connection, table: Table, rows: Sequence[dict[str, Any]]
) -> None:
    """Insert; rows whose key is taken are passed over."""
    if rows:
        statement = _insert(connection, table).on_conflict_do_nothing(index_elements=_key(table))
        connection.execute(statement, list(rows))


def insert_or_replace(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert; rows whose key is taken replace what stands there."""
    if rows:
        statement = _insert(connection, table)
        new = {name: statement.excluded[name] for name in rows[0]}
        connection.execute(
            statement.on_conflict_do_update(index_elements=_key(table), set_=new), list(rows)
        )


def _insert(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)


def _key(table: Table) -> list[str]:
    return [column.name for column in table.primary_key.columns]
