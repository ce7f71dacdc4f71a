"""Does everybody learn which queries were skipped, wherever the test set has been?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.annotation.swap import successor
from assay.app import evaluation, run_exchange, testsets
from assay.app.evaluation_request import EvaluationRequest
from assay.app.workspace import Workspace
from assay.evaluation.report import run_report
from assay.evaluation.result import EvaluationResult
from assay.model.testset import TestSet
from assay.model.testset_json import from_plain, to_plain
from assay.render.report_text import run_markdown
from assay.render.testsets import size
from assay.settings import configure
from assay.testsets.export import files, lost
from assay.testsets.load import parse_test_set

SIX: dict[str, Any] = {
    "dataset_id": "ward",
    "test_queries": [
        {"query_id": f"w{at}", "query_text": f"question {at}", "relevant_segment_ids": [f"s{at}"]}
        for at in range(5)
    ]
    + [{"query_id": "w5", "query_text": "nobody knows", "relevant_segment_ids": []}],
    "total_queries": 6,
}
SENTENCE = "1 of 6 queries with no ground truth: skipped: w5"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    settings = configure({"home": tmp_path / "home"}, environ={}, folder=tmp_path)
    with Workspace(settings) as made:
        yield made


@pytest.fixture
def run_file(tmp_path: Path) -> str:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({f"w{at}": ["x", f"s{at}"] for at in range(5)}))
    return str(path)


def evaluated(workspace: Workspace, run_file: str) -> EvaluationResult:
    made = workspace.carry_out(EvaluationRequest(test_sets=("ward",), run_file=run_file))
    return made.runs[0].result


def imported(workspace: Workspace, tmp_path: Path) -> TestSet:
    path = tmp_path / "six.json"
    path.write_text(json.dumps(SIX))
    return testsets.import_file(workspace.layout, path)[1].sound()


def uploaded(workspace: Workspace, _: Path) -> TestSet:
    stored = testsets.upload(workspace.layout, json.dumps(SIX).encode())
    assert stored.skipped == ("w5",)
    assert stored.queries == 5
    return testsets.load(workspace.layout, "ward")


@pytest.mark.req("W1")
@pytest.mark.parametrize("way", [imported, uploaded])
def test_a_stored_set_says_what_was_skipped(
    workspace: Workspace, tmp_path: Path, run_file: str, way: Any
) -> None:
    way(workspace, tmp_path)
    found = testsets.load(workspace.layout, "ward")
    assert found.skipped == ("w5",)
    assert size(found).endswith("1 query skipped for want of ground truth")
    result = evaluated(workspace, run_file)
    assert SENTENCE in result.warnings()
    plain = result.to_dict()
    assert (plain["total_queries"], plain["scored_queries"], plain["skipped_queries"]) == (6, 5, 1)


@pytest.mark.req("W7")
def test_runs_and_reports_count_it_too(workspace: Workspace, tmp_path: Path, run_file: str) -> None:
    """Also where the same five queries were run before by a set that skipped nothing."""
    five = {**SIX, "test_queries": SIX["test_queries"][:5], "total_queries": 5}
    testsets.upload(workspace.layout, json.dumps(five).encode())
    whole = evaluated(workspace, run_file)
    assert not any("skipped" in line for line in whole.warnings())
    workspace.layout.test_set("ward").unlink()
    imported(workspace, tmp_path)
    result = evaluated(workspace, run_file)
    assert result.run_id is not None
    assert SENTENCE in result.warnings()
    stored = workspace.stored_run(result.run_id)
    assert stored.test_set.skipped == ("w5",)
    report = run_report(stored)
    assert SENTENCE in report.warnings
    assert report.to_dict()["skipped_queries"] == 1
    assert SENTENCE in run_markdown(report)
    assert workspace.stored_run(str(whole.run_id)).test_set.skipped == ()


def test_the_checksum_tells_a_set_that_skipped_from_one_that_did_not() -> None:
    found = parse_test_set(json.dumps(SIX).encode(), source="six.json").sound()
    whole = replace(found, skipped=())
    assert found.checksum != whole.checksum
    assert found.has_checksum(found.checksum)
    assert found.has_checksum(whole.checksum), "that is how it was computed before"
    assert not whole.has_checksum(found.checksum)


def test_every_form_of_ours_keeps_it_and_others_say_that_they_lose_it() -> None:
    found = parse_test_set(json.dumps(SIX).encode(), source="six.json").sound()
    for form in ("yaml", "json"):
        ((name, text),) = files(found, form).items()
        assert parse_test_set(text.encode(), source=name).sound() == replace(found, provenance={})
        assert lost(found, form) == []
    assert "which queries were skipped" in lost(found, "beir")
    assert from_plain(to_plain(found)) == found
    sent = evaluation.test_set_body(EvaluationRequest(test_set=found))
    assert sent["skipped"] == ["w5"]


def test_the_next_version_keeps_it_unless_the_query_came_back() -> None:
    found = parse_test_set(json.dumps(SIX).encode(), source="six.json").sound()
    assert successor(found, found.queries, None, {}).skipped == ("w5",)
    back = (*found.queries, replace(found.queries[0], query_id="w5"))
    assert successor(found, back, None, {}).skipped == ()


def test_a_run_of_before_is_still_taken(
    workspace: Workspace, tmp_path: Path, run_file: str
) -> None:
    """Its checksum does not cover what was skipped."""
    found = imported(workspace, tmp_path)
    stored = workspace.stored_run(str(evaluated(workspace, run_file).run_id))
    older = replace(found, skipped=()).checksum
    before = replace(stored, info=replace(stored.info, run_id="older", test_set_checksum=older))
    assert run_exchange.push(workspace.runs, before)
    assert workspace.stored_run("older").test_set.skipped == ("w5",)
