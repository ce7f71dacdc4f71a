"""A few kills of annotators at work; ``make crash`` does fifty of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.annotation import kill_series


@pytest.mark.req("E12")
def test_no_acknowledged_grade_is_lost(tmp_path: Path) -> None:
    figures = kill_series(tmp_path, kills=2, seed=3)
    assert figures.acknowledged >= 4
    assert (figures.kills, figures.lost, figures.wrong) == (4, 0, 0)
