"""A few kills; ``make crash`` does many."""

from pathlib import Path

import pytest

from tests.crash.harness import kill_series
from tests.postgres import crashing_server


@pytest.mark.req("1")
@pytest.mark.parametrize("mode", ["ingest", "compact", "save"])
def test_nothing_acknowledged_is_lost_and_the_index_always_opens(mode: str, tmp_path: Path) -> None:
    figures = kill_series(tmp_path, mode, kills=3, seed=5)
    assert figures.acknowledged >= 3
    assert (figures.lost, figures.bad_opens) == (0, 0)


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_on_a_postgresql_server_that_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="it takes pip install 'assay-search[postgres]'")
    with crashing_server() as (database, crash):
        figures = kill_series(tmp_path, "save", 2, 5, database, crash)
    assert figures.acknowledged >= 2
    assert (figures.lost, figures.bad_opens) == (0, 0)
