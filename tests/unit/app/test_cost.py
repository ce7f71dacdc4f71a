"""Does an estimate grow with what is asked, and is it made without reading the run?"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.app import cost
from assay.app.comparison import AbRequest
from assay.app.gate import GateRequest
from assay.app.statistics import Statistics
from assay.app.workspace import Workspace
from assay.errors import UnknownRunError
from assay.settings import configure
from assay.testing.run_store import FULL, PLAIN, TEST_SET, contract_run

FEW, MANY = Statistics(resamples=100), Statistics(resamples=20_000)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(configure({"home": tmp_path}, environ={}, folder=tmp_path))
    for name in ("r1", "r2"):
        workspace.runs.begin(contract_run(name), TEST_SET)
        workspace.runs.append(name, [FULL, PLAIN])
        workspace.runs.finish(name, {"metrics": {"mrr": 1.0}, "aggregates": {}})
    return workspace


def test_more_measures_resamples_and_stages_cost_more(workspace: Workspace) -> None:
    plain = cost.scored(workspace, "r1", "nDCG@10", FEW)
    assert plain < cost.scored(workspace, "r1", "nDCG@10", MANY)
    assert plain < cost.scored(workspace, "r1", "nDCG@{1,5,10}", FEW)
    assert plain < cost.scored(workspace, "r1", "nDCG@10", FEW, stages=True)
    report = cost.reported(workspace, "r1", statistics=FEW)
    assert report < cost.reported(workspace, "r1", statistics=MANY)
    assert report < cost.reported(workspace, "r1", statistics=FEW, targets=["P@5>0.6"])
    assert cost.rescored(workspace, "r1") < cost.rescored(workspace, "r1", "P@{1,2,3}")


def test_a_test_costs_more_than_a_comparison(workspace: Workspace) -> None:
    compared = cost.compared(workspace, "r1", "r2")
    tested = cost.tested(workspace, AbRequest("r1", "r2", statistics=FEW))
    assert 0 < compared < tested
    assert tested < cost.tested(workspace, AbRequest("r1", "r2", statistics=MANY))
    gated = cost.gated(workspace, GateRequest(baseline="r1", current="r2", statistics=FEW))
    more = GateRequest(baseline="r1", current="r2", limits=("P@5=5%",), statistics=FEW)
    assert 0 < gated < cost.gated(workspace, more)
    files = GateRequest(baseline=Path("a.json"), current=Path("b.json"))
    assert cost.gated(workspace, files) == 0


def test_a_run_that_is_not_there_is_said_to_be_so(workspace: Workspace) -> None:
    with pytest.raises(UnknownRunError):
        cost.scored(workspace, "r9")
