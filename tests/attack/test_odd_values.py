"""Does a value that no computation can hold end in words of ours?"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from assay.app.keys import create_key
from assay.app.layout import Layout
from assay.errors import InputError


@pytest.mark.parametrize("days", [1e9, 1e300, math.inf, math.nan, -1.0, 36_501.0])
def test_a_key_for_ever_and_a_day_is_refused(days: float, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="36,500 days"):
        create_key(Layout(tmp_path), "reader", days=days)


def test_a_key_for_a_year_is_made(tmp_path: Path) -> None:
    assert create_key(Layout(tmp_path), "reader", days=365).about.expires_at is not None
