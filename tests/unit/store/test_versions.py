"""Does every database end up with the same schema, whatever it was before?"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from assay.errors import StorageError
from assay.model.document import Chunk, Document
from assay.store import database, versions
from assay.store.corpus import CorpusStore
from assay.store.database import open_database
from assay.store.runs import SqlRunStore
from assay.store.schema import APPLICATION_ID, VERSION, metadata

FORMAT_1 = Path(__file__).parent / "format_1.sql"


def old_database(path: Path) -> None:
    """A database as the first release wrote it, with a document in it."""
    with sqlite3.connect(path) as connection:
        connection.executescript(FORMAT_1.read_text(encoding="utf-8"))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
    connection.close()


def differences(path: Path | str) -> list[object]:
    engine = open_database(path)
    with engine.connect() as connection:
        options = {"version_table": versions.VERSION_TABLE}
        found = compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
    engine.dispose()
    return list(found)


def test_the_steps_build_the_tables_that_the_program_uses(tmp_path: Path) -> None:
    assert differences(tmp_path / "assay.db") == []


def test_the_steps_build_them_on_postgresql_too(postgresql: str) -> None:
    assert differences(postgresql) == []


def test_there_is_one_line_of_steps_and_its_end_is_the_version() -> None:
    assert list(versions.upgrades()) == list(range(1, VERSION + 1))


def test_a_database_of_format_1_is_upgraded_and_keeps_its_documents(tmp_path: Path) -> None:
    path = tmp_path / "assay.db"
    old_database(path)
    store = CorpusStore(path)
    assert store.counts()["documents"] == 1
    store.put([(Document("d2", "more"), (Chunk("d2:chunk_0", "d2", "more"),))])
    store.close()
    assert SqlRunStore(path).runs().total == 0
    assert differences(path) == []
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_an_upgrade_that_fails_leaves_the_old_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "assay.db"
    old_database(path)
    monkeypatch.setattr(versions, "APPLICATION_ID", "not a number")  # the last statement fails
    monkeypatch.setattr(versions, "installed_version", lambda *_: 1)
    with pytest.raises(StorageError):
        open_database(path)
    monkeypatch.undo()
    with sqlite3.connect(path) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table'"
        ).fetchall()
        assert ("eval_runs",) not in tables
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    assert differences(path) == []


def test_a_newer_version_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "assay.db"
    SqlRunStore(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE {versions.VERSION_TABLE} SET version_num = '0099'")
    connection.close()
    with pytest.raises(StorageError, match="newer assay"):
        SqlRunStore(path)


def test_a_server_that_is_not_there_is_an_error_without_the_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(database, "CONNECT_SECONDS", 2)
    with pytest.raises(StorageError, match="cannot be used") as caught:
        SqlRunStore("postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in str(caught.value)
