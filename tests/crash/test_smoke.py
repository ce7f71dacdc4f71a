"""A few kills; ``make crash`` does many."""

from pathlib import Path

import pytest

from tests.crash.harness import kill_series


@pytest.mark.req("1")
@pytest.mark.parametrize("mode", ["ingest", "compact", "save"])
def test_nothing_acknowledged_is_lost_and_the_index_always_opens(mode: str, tmp_path: Path) -> None:
    figures = kill_series(tmp_path, mode, kills=3, seed=5)
    assert figures.acknowledged >= 3
    assert (figures.lost, figures.bad_opens) == (0, 0)
