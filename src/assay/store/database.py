"""How is the workspace's database opened, and is it ours?

SQLite in WAL mode with ``synchronous=FULL``: what was committed survives a crash of the process
and of the machine. Several processes may read and write; a writer waits for another up to a
deadline.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError, OperationalError

from assay.errors import BusyError, StorageError
from assay.store.schema import APPLICATION_ID, VERSION, metadata

BUSY_SECONDS = 30


def open_database(path: Path) -> Engine:
    """The engine of an existing or new database; a foreign or newer file is refused by name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    try:
        with writing(engine, path) as connection:
            _check_version(connection, path)
            metadata.create_all(connection)
    except DatabaseError as problem:
        raise StorageError(
            f"{path} cannot be opened: {problem.orig}", hint="is it an assay database?"
        ) from None
    return engine


def _prepare(connection: sqlite3.Connection, _: Any) -> None:
    # SQLAlchemy begins transactions itself (see _begin); the driver must not
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    """Writers take the lock when they begin, so that two of them queue instead of failing late."""
    write = connection.get_execution_options().get("write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


@contextmanager
def writing(engine: Engine, path: Path | str = "the database") -> Iterator[Connection]:
    """One transaction that writes; commits at the end, rolls back on any error."""
    try:
        with engine.connect() as plain:
            connection = plain.execution_options(write=True)
            with connection.begin():
                yield connection
    except OperationalError as problem:
        text = str(problem.orig)
        if "locked" in text or "busy" in text:
            raise BusyError(
                f"another process kept {path} locked for {BUSY_SECONDS} s", hint="try again"
            ) from None
        raise StorageError(f"{path}: {text}", hint="check disk space and permissions") from None


def _check_version(connection: Connection, path: Path) -> None:
    application = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
    version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
    tables = connection.exec_driver_sql("SELECT count(*) FROM sqlite_schema").scalar_one()
    if tables and application != APPLICATION_ID:
        raise StorageError(f"{path} is a database of another program", hint="choose another home")
    if version > VERSION:
        raise StorageError(
            f"{path} was written by a newer assay (format {version}, this one reads {VERSION})",
            hint="upgrade assay",
        )
    connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.exec_driver_sql(f"PRAGMA user_version = {VERSION}")
