"""Is every connection to SQLite as careful as it is promised?"""

from __future__ import annotations

from pathlib import Path

from assay.store.database import BUSY_SECONDS, open_database


def test_every_connection_is_strict_and_durable(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "assay.db")
    try:
        with engine.connect() as connection:

            def asked(pragma: str) -> object:
                return connection.exec_driver_sql(f"PRAGMA {pragma}").scalar_one()

            assert asked("journal_mode") == "wal"
            assert asked("synchronous") == 2  # FULL
            assert asked("foreign_keys") == 1
            assert asked("busy_timeout") == 1000 * BUSY_SECONDS
            tables = connection.exec_driver_sql("PRAGMA table_list").mappings().all()
        own = [row for row in tables if not row["name"].startswith("sqlite_")]
        assert len(own) > 10
        assert [row["name"] for row in own if not row["strict"]] == ["assay_schema"]
    finally:
        engine.dispose()
