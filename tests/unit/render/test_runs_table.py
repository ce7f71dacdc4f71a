"""Does the list of runs say which of them are not to be believed?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.render.runs import runs_table
from tests.unit.evaluation.stored import golden, outcome, stored, suite


@pytest.mark.req("E5")
@pytest.mark.parametrize(
    ("counts", "status"),
    [
        ({}, "complete"),
        ({"failed_queries": 0, "degraded_queries": 0}, "complete"),
        ({"degraded_queries": 4}, "complete, 4 degraded"),
        ({"failed_queries": 1, "degraded_queries": 2}, "complete, 1 failed, 2 degraded"),
    ],
)
def test_failed_and_degraded_queries_stand_beside_the_status(
    counts: dict[str, int], status: str
) -> None:
    run = stored("run", suite(golden("q", "d")), [outcome("q", "d")])
    (row,) = runs_table([replace(run.info, aggregate=counts)]).rows
    assert status in row
