"""Is a value found that turned on the disk: in keys, jobs, grades, tags, the query log?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import REAL, Column, Engine, Integer, Table, bindparam, insert, select, update

from assay.store import check
from assay.store.database import open_database, writing
from assay.store.keys import KeyStore
from assay.store.schema import SEALED, metadata


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    if request.param == "sqlite":
        return tmp_path / "assay.db"
    found: str = request.getfixturevalue("postgresql")
    return found


@pytest.fixture
def engine(place: Path | str) -> Iterator[Engine]:
    """A database with one row in every table; what refers to another refers to that row."""
    opened = open_database(place)
    _empty(opened)
    with writing(opened) as connection:
        for table in metadata.sorted_tables:
            connection.execute(insert(table).values(_row(table)))
    yield opened
    _empty(opened)  # a server is shared, and does not count keys that were given
    opened.dispose()


def _empty(engine: Engine) -> None:
    with writing(engine) as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())


def _row(table: Table) -> dict[str, object]:
    return {one.name: _value(one, 1, "one") for one in table.columns if one.name != "seal"}


def _value(column: Column[Any], number: int, text: str) -> object:
    if isinstance(column.type, Integer):
        return number
    return number / 2 if isinstance(column.type, REAL) else text


def _damage(engine: Engine, table: Table, column: str, value: object) -> object:
    """Another value behind the back of the store; the value of before."""
    with engine.connect() as connection:
        before = connection.execute(select(table.c[column])).scalar_one()
        seal = connection.execute(select(table.c.seal)).scalar_one()
        values: dict[str, Any] = {column: bindparam("new"), "seal": bindparam("old_seal")}
        connection.execute(update(table).values(values), {"new": value, "old_seal": seal})
        connection.commit()
        return before


@pytest.mark.parametrize("name", [table.name for table in SEALED])
def test_every_value_of_every_table(name: str, engine: Engine, place: Path | str) -> None:
    table = metadata.tables[name]
    sound = check.problems(place)
    assert not any(name in one for one in sound)
    bound = {key.parent.name for key in table.foreign_keys}
    bound |= {
        key.column.name
        for other in metadata.sorted_tables
        for key in other.foreign_keys
        if key.column.table is table
    }
    tried = 0
    for column in table.columns:
        if column.name == "seal" or column.name in bound:
            continue
        before = _damage(engine, table, column.name, _value(column, 3, "ond"))
        (said,) = set(check.problems(place)) - set(sound)
        assert f"of {name} was damaged" in said
        _damage(engine, table, column.name, before)
        assert check.problems(place) == sound
        tried += 1
    assert tried


def test_a_key_whose_scopes_turned_lets_nobody_in(tmp_path: Path) -> None:
    store = KeyStore(tmp_path / "assay.db")
    key, _ = store.create("reader", ["read"])
    assert [one.state() for one in store.all()] == ["active"]
    engine = open_database(tmp_path / "assay.db")
    _damage(engine, metadata.tables["api_keys"], "scopes", "admin")
    engine.dispose()
    assert [(one.key_id, one.state()) for one in store.all()] == [(key.key_id, "revoked")]
    store.close()


def test_a_row_that_is_changed_by_the_store_stays_sound(tmp_path: Path) -> None:
    store = KeyStore(tmp_path / "assay.db")
    key, _ = store.create("reader", ["read"])
    assert store.revoke(key.key_id).state() == "revoked"
    assert check.problems(tmp_path / "assay.db") == []
    store.close()
