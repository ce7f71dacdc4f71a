"""Does a comparison survive another chunker, on real papers?"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.rechunk import rechunk


@pytest.mark.slow
@pytest.mark.req("K14")
def test_hits_stay_when_papers_are_cut_in_another_way(shared_data: Path) -> None:
    (row,) = rechunk(shared_data / "covidqa", limit=300, only="larger")
    assert row.match == "fallback_doc_span"
    right = row.hits_by_id * (1.0 - row.wrong_by_id)  # ids also "find" other passages
    assert right < 0.4 * row.hits_before
    assert row.kept > 0.9
    assert row.hits_by_span == pytest.approx(row.hits_before, abs=0.05)
