"""Do our run stores keep the contract?"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.store.runs import SqlRunStore
from assay.testing.run_store import check_run_store


def test_sqlite(tmp_path: Path) -> None:
    check_run_store(lambda: SqlRunStore(tmp_path / "assay.db"))


@pytest.mark.slow
def test_postgresql(postgresql: str) -> None:
    pytest.importorskip("psycopg", reason="it takes pip install 'assay-search[postgres]'")
    check_run_store(lambda: SqlRunStore(postgresql))
