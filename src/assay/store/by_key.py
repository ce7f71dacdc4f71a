"""How are the rows of a few keys read within a fraction of a millisecond?

Every search ends with this. Putting a statement together, beginning a transaction and adapting
values takes SQLAlchemy four times as long as the database takes to answer, so the statement is made
once for each number of keys, and the driver itself is asked. Rows are complete when the connection
goes back: nobody holds one while they are worked on.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import lru_cache
from typing import Any

from sqlalchemy import Column, Dialect, Engine, select
from sqlalchemy.engine.interfaces import DBAPICursor

from assay.store.complaints import in_our_words
from assay.store.database import BUSY_SECONDS, shown
from assay.store.schema import chunks

PART = 500  # keys in one statement


def chunk_rows(engine: Engine, keys: Sequence[int], *columns: Column[Any]) -> list[Sequence[Any]]:
    """Columns of the chunks that have one of the keys, in any order."""
    try:
        connection = engine.raw_connection()
        try:
            # a cursor that is left half read would keep its transaction, and the next reader in it
            with closing(connection.cursor()) as cursor:
                return _rows(cursor, engine.dialect, keys, columns)
        except Exception as problem:
            gone = connection.dbapi_connection
            if engine.dialect.is_disconnect(problem, gone, None):  # type: ignore[arg-type]
                connection.invalidate()
            raise
        finally:
            connection.close()  # back to the others
    except Exception as problem:
        complaint = in_our_words(problem, shown(engine), BUSY_SECONDS)
        if complaint is None:
            raise
        raise complaint from problem


def _rows(
    cursor: DBAPICursor, dialect: Dialect, keys: Sequence[int], columns: tuple[Column[Any], ...]
) -> list[Sequence[Any]]:
    found: list[Sequence[Any]] = []
    for start in range(0, len(keys), PART):
        part = tuple(keys[start : start + PART])
        cursor.execute(_statement(dialect, len(part), columns), part)
        found += cursor.fetchall()
    return found


def _statement(dialect: Dialect, count: int, columns: tuple[Column[Any], ...]) -> str:
    mark = "?" if dialect.paramstyle == "qmark" else "%s"
    return f'{_all_rows(columns)} WHERE chunks."key" IN ({_marks(mark, count)})'


@lru_cache
def _all_rows(columns: tuple[Column[Any], ...]) -> str:
    """Without a condition this is the same text for every database."""
    return str(select(*columns).select_from(chunks))


@lru_cache(maxsize=PART)
def _marks(mark: str, count: int) -> str:
    return ", ".join([mark] * count)
