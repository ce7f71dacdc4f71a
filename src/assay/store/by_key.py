"""How are the rows of a few keys read within a fraction of a millisecond?

Every search ends with this. Putting a statement together and adapting its values takes SQLAlchemy
three times as long as the database takes to answer, so the statement is made once for each number
of keys, and keys and rows go to and from the driver as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Column, Engine, select

from assay.store.schema import chunks

PART = 500  # keys in one statement


def chunk_rows(
    engine: Engine, keys: Sequence[int], *columns: Column[Any]
) -> Iterator[Sequence[Any]]:
    """Columns of the chunks that have one of the keys, in any order."""
    with engine.connect() as connection:
        for start in range(0, len(keys), PART):
            part = tuple(keys[start : start + PART])
            yield from connection.exec_driver_sql(_statement(engine, len(part), *columns), part)


@lru_cache(maxsize=1024)
def _statement(engine: Engine, count: int, *columns: Column[Any]) -> str:
    mark = "?" if engine.dialect.paramstyle == "qmark" else "%s"
    plain = select(*columns).select_from(chunks).compile(engine)
    marks = ", ".join([mark] * count)
    return f'{plain} WHERE chunks."key" IN ({marks})'
