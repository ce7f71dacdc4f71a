"""A few kills of an evaluation; ``make crash`` does fifty."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.evaluation import check, kill_series


@pytest.mark.req("E5")
def test_a_killed_evaluation_goes_on_where_it_stopped(tmp_path: Path) -> None:
    check(kill_series(tmp_path, kills=2, seed=7))
