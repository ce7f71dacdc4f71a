"""How is the workspace's database opened, and is it ours?

By default it is SQLite in WAL mode with ``synchronous=FULL``: committed data survives a crash of
the process or the machine. A URL selects a PostgreSQL server instead. With both, several processes
may read and write; a writer waits for another up to a deadline.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    ExceptionContext,
    Insert,
    Select,
    Table,
    Update,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError

from assay import extras
from assay.durable import keep_log, make_folder, private_file
from assay.errors import ConfigError, StorageError
from assay.store.database_errors import translated_error
from assay.store.schema import APPLICATION_ID, SEALED, VERSION
from assay.store.seals import seal_rows
from assay.store.versions import installed_version, migrate

BUSY_SECONDS = 30
CONNECT_SECONDS = 10
MOST_ROWS = (1 << 63) - 1
_Rows = TypeVar("_Rows", bound=tuple[Any, ...])


def open_database(place: Path | str) -> Engine:
    """The engine of an existing or new database; an error for a foreign or newer one.

    ``place`` is the path of a file, or the URL of a PostgreSQL database.
    """
    engine = _postgresql(place) if isinstance(place, str) else _sqlite(place)
    name = shown(engine)
    event.listen(engine, "handle_error", _complain)
    try:
        with engine.connect() as connection:
            ready = installed_version(connection, name) == VERSION
        if not ready:
            with writing(engine) as connection:
                migrate(connection, name)
    except StorageError:
        engine.dispose()
        raise
    except DatabaseError as problem:
        engine.dispose()
        raise StorageError(
            f"{name} cannot be opened: {problem.orig}", hint="is it an assay database?"
        ) from None
    return engine


def _complain(context: ExceptionContext) -> StorageError | None:
    """Turn database errors into ours, wherever they happen."""
    if context.is_pre_ping:  # a lost connection is reopened
        return None
    if context.engine is None or not isinstance(context.original_exception, Exception):
        return None
    return translated_error(context.original_exception, shown(context.engine), BUSY_SECONDS)


def shown(engine: Engine) -> str:
    """The path or URL of a database, without any password."""
    if engine.dialect.name == "sqlite":
        return engine.url.database or "the database"
    return engine.url.render_as_string(hide_password=True)


def _sqlite(path: Path) -> Engine:
    make_folder(path.parent)
    with suppress(OSError):  # it is there, or opening it says why not
        private_file(path).close()
    engine = create_engine(
        URL.create("sqlite", database=str(path)), connect_args={"timeout": BUSY_SECONDS}
    )
    event.listen(engine, "connect", partial(_prepare_sqlite, path))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(path: Path, connection: sqlite3.Connection, _: Any) -> None:
    # SQLAlchemy begins transactions itself (see _begin_sqlite); the driver must not
    connection.isolation_level = None
    try:
        keep_log(connection, BUSY_SECONDS)
        for pragma in ("synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")
    except UnicodeDecodeError as problem:  # not a database error, so it is not translated elsewhere
        raise translated_error(problem, str(path), BUSY_SECONDS) or problem from None


def _begin_sqlite(connection: Connection) -> None:
    """Take the write lock at the start, so that two writers queue instead of failing late."""
    write = connection.get_execution_options().get("write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _postgresql(text: str) -> Engine:
    try:
        url = make_url(text)
    except ArgumentError:
        raise ConfigError("the setting database is not the URL of a database") from None
    if url.get_backend_name() != "postgresql":
        raise ConfigError(
            f"there is no support for {url.get_backend_name()}",
            hint="sqlite, or postgresql://user@host/name",
        )
    try:
        engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            connect_args={
                "connect_timeout": CONNECT_SECONDS,
                "options": f"-c lock_timeout={BUSY_SECONDS}s",
            },
            pool_pre_ping=True,
        )
    except (ImportError, NoSuchModuleError) as problem:
        broken = problem if isinstance(problem, ImportError) else None
        raise extras.missing("psycopg", broken) from None
    event.listen(engine, "begin", _begin_postgresql)
    return engine


def _begin_postgresql(connection: Connection) -> None:
    """Allow one writer at a time, as in SQLite: changes are numbered without gaps or races."""
    if connection.get_execution_options().get("write", False):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({APPLICATION_ID})")


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A write transaction; commits at the end, rolls back on any error.

    Rows that were written get their checksums before that.
    """
    touched: set[Table] = set()

    def note(_: Connection, statement: object, *__: object) -> None:
        if isinstance(statement, Insert | Update) and isinstance(statement.table, Table):
            touched.add(statement.table)

    with engine.connect() as plain:
        connection = plain.execution_options(write=True)
        event.listen(connection, "after_execute", note)
        with connection.begin():
            yield connection
            for table in sorted(touched & {*SEALED}, key=str):
                seal_rows(connection, table)


def paged(wanted: Select[_Rows], limit: int | None, offset: int = 0) -> Select[_Rows]:
    """Some rows of a query; numbers that no database can hold stand for its end."""
    most = None if limit is None else min(limit, MOST_ROWS)
    return wanted.limit(most).offset(min(offset, MOST_ROWS) or None)
