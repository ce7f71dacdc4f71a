"""What may a step do to the tables of a database?"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Connection, Index, MetaData, Table
from sqlalchemy.schema import CreateColumn, SchemaItem


class Tables:
    """The tables of a database, within the caller's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known = MetaData()
        self._known.reflect(connection)

    def create(self, name: str, *parts: SchemaItem, **options: Any) -> None:
        """Create a table."""
        Table(name, self._known, *parts, **options).create(self._connection)

    def create_index(
        self, name: str, table: str, columns: tuple[str, ...], *, unique: bool = False
    ) -> None:
        """Create an index over columns of a table."""
        own = self._known.tables[table].columns
        Index(name, *(own[column] for column in columns), unique=unique).create(self._connection)

    def add_column(self, table: str, column: Column[Any]) -> None:
        """Add a column to a table."""
        self._known.tables[table].append_column(column)
        dialect = self._connection.dialect
        name = dialect.identifier_preparer.format_table(column.table)
        declared = str(CreateColumn(column).compile(dialect=dialect)).strip()
        self._connection.exec_driver_sql(f"ALTER TABLE {name} ADD COLUMN {declared}")
