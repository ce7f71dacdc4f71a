"""Which format does this database have, and how is an older one upgraded?

The steps of ``migrations/versions`` are numbered like the formats. A table of its own holds the
format of a database; files of format 1, which predate that table, are recognised by SQLite's
``user_version``, which is kept in sync so that an old program rejects a new file.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from sqlalchemy import Column, Connection, MetaData, String, Table, delete, insert, inspect, select

from assay.errors import CorruptError, StorageError
from assay.store.migrations import versions as steps
from assay.store.migrations.tables import Tables
from assay.store.schema import APPLICATION_ID, VERSION

VERSION_TABLE = "assay_schema"
_VERSIONS = Table(VERSION_TABLE, MetaData(), Column("version_num", String(32), primary_key=True))


def installed_version(connection: Connection, place: str) -> int:
    """The format of the database, 0 if it is empty; an error if it is foreign or newer."""
    tables = set(inspect(connection).get_table_names())
    version = 0
    if VERSION_TABLE in tables:
        version = _number(connection.execute(select(_VERSIONS.c.version_num)).scalar(), place)
    if connection.dialect.name == "sqlite":
        application = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
        if tables and application != APPLICATION_ID:
            raise _foreign(place)
        version = max(version, connection.exec_driver_sql("PRAGMA user_version").scalar_one())
    elif {"documents", "eval_runs"} & tables and not version:
        raise _foreign(place)
    refuse_newer(version, place)
    return version


def _number(written: object, place: str) -> int:
    text = str(written or 0)
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise CorruptError(
            f"{place} was damaged: its format is {text!r:.40}",
            hint="assay restore puts a backup into a new folder; keep the damaged file",
        )
    return int(text)


def refuse_newer(version: int, place: str) -> None:
    """Raise an error for a format that only a newer version knows."""
    if version > VERSION:
        raise StorageError(
            f"{place} was written by a newer assay (format {version}, this one reads {VERSION})",
            hint="upgrade assay",
        )


def migrate(connection: Connection, place: str) -> None:
    """Run every missing step, within the caller's transaction."""
    version = installed_version(connection, place)  # again, now that nobody else can write
    if version == VERSION:
        return
    tables = Tables(connection)
    for number, upgrade in upgrades().items():
        if number > version:
            upgrade(tables)
    _VERSIONS.create(connection, checkfirst=True)
    connection.execute(delete(_VERSIONS))
    connection.execute(insert(_VERSIONS).values(version_num=f"{VERSION:04}"))
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.exec_driver_sql(f"PRAGMA user_version = {VERSION}")


def upgrades() -> dict[int, Callable[[Tables], None]]:
    """What brings a database to each format, in order."""
    names = sorted(module.name for module in iter_modules(steps.__path__))
    return {
        int(name.partition("_")[0]): import_module(f"{steps.__name__}.{name}").upgrade
        for name in names
    }


def _foreign(place: str) -> StorageError:
    return StorageError(f"{place} is a database of another program", hint="choose another one")
