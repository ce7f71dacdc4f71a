"""What does a run say of itself?"""

from __future__ import annotations

import pytest

from assay.model.runs import RunInfo


@pytest.mark.parametrize(
    ("engine", "ours"),
    [("embedded", True), ("opensearch", True), ("opensearch 2.19.1", True), ("http", False)],
)
def test_runs_of_our_own_search_can_be_resumed_and_fused_again(engine: str, ours: bool) -> None:
    info = RunInfo("r", "set", "v1", "0", {}, "0", "0", "2026-01-01T00:00:00Z", engine=engine)
    assert info.ours is ours
