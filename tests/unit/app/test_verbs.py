"""Do the verbs of a workspace in Python do what the functions of the application do?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay
from assay.app import comparison, gate, run_view, runs
from assay.app.comparison import AbRequest, CompareRequest
from assay.app.evaluation_request import EvaluationRequest
from assay.app.gate import GateRequest
from assay.app.statistics import Statistics
from assay.app.workspace import Workspace
from assay.errors import UnknownRunError, UsageError
from assay.evaluation.gate import GateOutcome
from assay.model.testset import GoldenQuery, Judgment, TestSet
from tests.unit.app.results import GOLDEN, evaluated


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with evaluated(tmp_path_factory.mktemp("verbs") / "home") as workspace:
        yield workspace


def test_a_test_set_is_evaluated_as_its_request_is(here: Workspace) -> None:
    steps: list[int] = []
    made = here.evaluate(GOLDEN, lambda step: steps.append(step.done), rrf_k=7, measures="MRR")
    assert steps[-1] == 4
    assert made.info is not None
    assert (made.info.config["rrf_k"], made.info.status, made.cached) == (7, "complete", False)
    request = EvaluationRequest(test_set=GOLDEN, options={"rrf_k": 7}, measures="MRR")
    again = here.carry_out(request)
    assert (again.result.run_id, again.result.cached) == (made.run_id, True)
    assert again.to_dict() == again.result.to_dict()
    assert not here.evaluate(GOLDEN, rrf_k=7, measures="MRR", use_cache=False).cached


def test_what_the_workspace_lacks_is_a_warning_of_the_result(here: Workspace) -> None:
    gone = GoldenQuery("q9", "headache", relevant_docs=(Judgment("nowhere", 2),))
    result = here.evaluate(TestSet("gone", "v1", (gone,)), measures="MRR")
    assert [said for said in result.warnings() if "nowhere" in said]
    assert result.to_dict()["warnings"] == result.warnings()


def test_a_workspace_is_a_system_like_others(here: Workspace) -> None:
    ours = here.evaluate(GOLDEN, measures="MRR", use_cache=False)
    assert assay.evaluate(here, GOLDEN, "MRR")["MRR"] == ours["MRR"]


def test_evaluate_takes_no_request(here: Workspace) -> None:
    with pytest.raises(UsageError, match="takes a test set, not a request") as caught:
        here.evaluate(EvaluationRequest(test_set=GOLDEN))  # type: ignore[arg-type]
    assert caught.value.hint == "carry_out(request) takes the request"
    with pytest.raises(UsageError, match="evaluate has no retriever") as caught:
        here.evaluate(GOLDEN, retriever=list)  # type: ignore[call-arg]
    assert caught.value.hint == "system=... evaluates another engine"
    with pytest.raises(UsageError, match="'fusin' is not a search option"):
        here.evaluate(GOLDEN, fusin="rrf")  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="'fusin' is not a search option"):
        here.search("headache", fusin="rrf")  # type: ignore[call-arg]


def test_a_test_set_is_a_name_or_a_path(here: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "golden.yaml"
    file.write_text(
        "name: filed\nversion: v1\nqueries:\n"
        "  - {query_id: q1, query_text: headache, relevant_docs: [{doc_id: d1, grade: 2}]}\n"
    )
    by_path = here.evaluate(file)
    assert (by_path.test_set.name, by_path["Recall@10"]) == ("filed", 1.0)
    assert here.evaluate(str(file)).run_id == by_path.run_id


def test_runs_are_compared_tested_and_gated(here: Workspace) -> None:
    compared = here.compare("wide", "narrow", measures="MRR")
    wanted = comparison.compare(here, CompareRequest("wide", "narrow", "MRR"))
    assert compared.to_dict() == wanted.report.to_dict()
    strict = Statistics(alpha=0.01)
    tested = here.ab("wide", "narrow", measures="MRR", statistics=strict)
    test = comparison.ab(here, AbRequest("wide", "narrow", "MRR", statistics=strict))
    assert tested.to_dict() == test.result.to_dict()
    ruled = here.gate("wide", "narrow", limits="nDCG@10=0.02 Recall@10=5%")
    limits = ("nDCG@10=0.02", "Recall@10=5%")
    request = GateRequest(baseline="wide", current="narrow", limits=limits)
    assert ruled.to_dict() == gate.gate(here, request).to_dict()
    assert ruled.outcome is GateOutcome.FAILED
    assert here.gate("wide", "narrow", limits=["latency_p95<60000ms"]).outcome == "passed"
    with pytest.raises(UnknownRunError):
        here.gate("nobody")


def test_a_configuration_is_a_side_where_a_test_set_is_named(
    here: Workspace, tmp_path: Path
) -> None:
    tested = here.ab("depth=1", "rrf_k=30", test_set=_written(tmp_path), latency_repeats=0)
    assert tested.a.info.config["depth"] == 1
    assert tested.b.info.config["rrf_k"] == 30
    with pytest.raises(UsageError, match="there is no test set"):
        here.ab("depth=1", "wide")


def test_a_gate_times_both_configurations_in_turn(here: Workspace) -> None:
    report = here.gate("wide", "narrow", limits=["latency_mean=100000%"], latency_repeats=1)
    assert report.outcome is GateOutcome.PASSED
    assert report.checks[0].interval is not None
    with pytest.raises(UsageError, match="latency_repeats"):
        here.gate("wide", latency_repeats=-1)


def test_the_times_of_a_file_are_those_it_states(here: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "wide.json"
    file.write_text(json.dumps(here.show("wide").to_dict()))
    slow = here.gate(file, "wide", limits="latency_p50=0%")
    assert slow.checks[0].baseline == pytest.approx(slow.checks[0].current, abs=1e-4)
    assert slow.outcome is GateOutcome.PASSED
    with pytest.raises(UsageError, match=r"wide\.json is a file, which cannot be timed"):
        here.gate(file, "wide", limits="latency_p50=0%", latency_repeats=1)


def test_runs_are_shown_and_put_into_a_history(here: Workspace) -> None:
    view = here.show("narrow", waterfall=True, per_component=True)
    assert view.to_dict() == run_view.show(
        here, "narrow", waterfall=True, per_component=True
    ).to_dict()  # fmt: skip
    past = here.history(GOLDEN.name)
    assert {"wide", "narrow"} <= {info.name for info in past.runs}
    assert past.to_dict() == runs.history(here, GOLDEN.name).to_dict()


def _written(folder: Path) -> str:
    path = folder / "plain.yaml"
    lines = [
        f"  - {{query_id: q{at}, query_text: {text}, relevant_docs: [{{doc_id: d{at}, grade: 1}}]}}"
        for at, text in enumerate(("aspirin", "triptans", "statins"), start=1)
    ]
    path.write_text("\n".join(["name: plain", "version: v1", "queries:", *lines]) + "\n")
    return str(path)
