"""Is what a database complains of said in our own words, wherever it happens?"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from assay.errors import BusyError, CorruptError, DiskFullError, StorageError
from assay.store import database
from assay.store.corpus import CorpusStore
from assay.store.database import open_database, writing
from assay.store.database_errors import translated_error
from tests.unit.store.test_corpus import document


def test_a_damaged_page_is_named_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "assay.db"
    store = CorpusStore(path)
    store.put([document(f"d{at}", f"text {at} " * 400) for at in range(40)])
    store.close()
    content = bytearray(path.read_bytes())
    for start in range(16 * 4096, len(content), 4096):
        content[start : start + 64] = b"\xff" * 64
    path.write_bytes(content)
    with pytest.raises(CorruptError, match=r"assay\.db was damaged.*\(assay restore"):
        list(CorpusStore(path).added_since(0, 40))


def test_no_space(tmp_path: Path) -> None:
    store = CorpusStore(tmp_path / "assay.db")
    store.put([document("d0", "text")])
    with store._engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(DiskFullError, match=r"assay\.db cannot be written"):
        store.put([document("d1", "text " * 10_000)])
    assert store.counts()["documents"] == 1
    store.close()


@pytest.mark.slow
def test_another_writer_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 1)
    first, second = (open_database(tmp_path / "assay.db") for _ in range(2))
    with writing(first), pytest.raises(BusyError, match="locked for 1 s"), writing(second):
        pass
    first.dispose()
    second.dispose()


def test_what_was_asked_wrongly_stays_what_it_is() -> None:
    assert translated_error(sqlite3.IntegrityError("NOT NULL"), "here", 1) is None
    other = translated_error(sqlite3.OperationalError("disk I/O error"), "here", 1)
    assert type(other) is StorageError
    assert str(other) == "here cannot be used: disk I/O error (check disk and permissions)"


def test_commits_wait_for_the_disk(tmp_path: Path) -> None:
    """WAL with ``synchronous=FULL``: every connection, not only the first."""
    engine = open_database(tmp_path / "assay.db")
    with engine.connect() as one, engine.connect() as other:
        for connection in (one, other):
            found = [
                connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                for name in ("journal_mode", "synchronous", "foreign_keys")
            ]
            assert found == ["wal", 2, 1]
    engine.dispose()
