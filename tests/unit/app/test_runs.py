"""Do the verbs over stored runs say what is stored, and show it to whom it may be shown?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from assay.app import comparison, run_exchange, run_view, runs
from assay.app.comparison import AbRequest
from assay.app.gate import GateRequest, usual_baseline
from assay.app.held_out import Viewer
from assay.app.statistics import Statistics
from assay.app.workspace import Workspace
from assay.errors import InputError, MissingFileError, UnknownRunError, UsageError
from assay.model.codec import decode, encode
from assay.model.run_store import HeldOutUse
from assay.model.runs import RunInfo
from assay.model.testset import HeldOut, Judgment
from assay.settings import configure
from tests.unit.evaluation.stored import golden, hit_at, outcome, stored, suite

TESTS = replace(
    suite(
        golden("q1", relevant_docs=(Judgment("D1", 3), Judgment("D2:chunk_1", 1))),
        golden("q2", "Dq2:chunk_0"),
        golden("q3", "Dq3:chunk_0"),
    ),
    held_out=HeldOut(1, ("q3",)),
)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Two runs; in the first one, scores contradict the order of the results, which counts."""
    with Workspace(configure({"home": tmp_path}, environ={}, folder=tmp_path)) as made:
        mixed = outcome("q1", "X:chunk_0", "D1:chunk_7")
        mixed = replace(mixed, results=tuple(reversed(mixed.results)))
        answers = (mixed, hit_at("q2", 2), hit_at("q3", None, error="no index for it"))
        run_exchange.push(made.runs, stored("run-one", TESTS, answers))
        better = (outcome("q1", "D1:chunk_0"), hit_at("q2", 1), hit_at("q3", 1))
        run_exchange.push(made.runs, stored("run-two", TESTS, better))
        yield made


def test_a_run_as_json_has_the_fields_that_it_always_had(workspace: Workspace) -> None:
    info = workspace.runs.run("run-one")
    plain = encode(replace(info, owner="host/1/2"))
    assert set(plain) == {one.name for one in fields(RunInfo)} - {"owner"}
    assert decode(RunInfo, plain) == info


def test_a_run_of_an_older_version_is_read(workspace: Workspace) -> None:
    packed = run_exchange.packed(workspace, "run-two")
    older = {name: value for name, value in packed["info"].items() if name != "commit_hash"}
    found = run_exchange.unpack({**packed, "info": older})
    assert found.info == replace(workspace.runs.run("run-two"), tags=())
    with pytest.raises(InputError, match=r"info\.mood: is not known"):
        run_exchange.unpack({**packed, "info": {**older, "mood": "good"}})
    with pytest.raises(InputError, match=r"this is not a run: .*suite is missing"):
        run_exchange.unpack({**packed, "info": {"run_id": "x"}})


def test_judgments_are_found_where_they_are_scored(workspace: Workspace) -> None:
    found = run_view.query(workspace, "run-one", "q1")
    assert [(one.id, one.rank) for one in found.judgments] == [("D1", 1), ("D2:chunk_1", None)]
    assert [one.chunk_id for one in found.outcome.results] == ["D1:chunk_7", "X:chunk_0"]
    assert found.grades == {1: 3}
    by_doc = run_view.query(workspace, "run-two", "q1", match="doc")
    assert [one.rank for one in by_doc.judgments] == [1, None]


def test_a_query_that_is_not_in_the_run_is_named(workspace: Workspace) -> None:
    with pytest.raises(MissingFileError, match="run-one has no query 'q9'"):
        run_view.query(workspace, "run-one", "q9")


def test_a_viewer_sees_held_out_queries_and_is_logged_or_does_not(workspace: Workspace) -> None:
    looks: list[HeldOutUse] = []
    reader = Viewer(may_see_held_out=False, log=looks.append)
    judge = Viewer(purpose="a test", log=looks.append)
    hidden = run_view.query(workspace, "run-one", "q3", viewer=reader)
    assert hidden.hidden
    assert not hidden.judgments
    assert "index" not in str(hidden.to_dict())
    page = run_view.outcomes(workspace, "run-one", viewer=reader)
    assert "index" not in str(page.to_dict())
    open_ = run_view.outcomes(workspace, "run-one", queries=("q1", "q2"), viewer=judge)
    assert open_.total == 2
    assert looks == []
    seen = run_view.query(workspace, "run-one", "q3", viewer=judge)
    assert seen.outcome.error == "no index for it"
    assert [(look.suite, look.run_id, look.purpose) for look in looks] == [
        ("golden", "run-one", "a test")
    ]
    both = AbRequest("run-one", "run-two")
    rows = comparison.ab(workspace, both, reader).result.compared.per_query
    assert [row.b_hit_rank for row in rows] == [1, 1, None]
    assert len(looks) == 1


def test_what_a_request_leaves_open_the_settings_say(workspace: Workspace) -> None:
    settings = Statistics(alpha=0.3, seed=0).applied_to(workspace.settings)
    assert (settings.alpha, settings.seed, settings.margin) == (0.3, 0, 0.01)
    assert Statistics().applied_to(workspace.settings) is workspace.settings
    wrong: list[dict[str, Any]] = [{"alpha": 1.5}, {"resamples": 0}, {"ci_method": "guess"}]
    for given in wrong:
        with pytest.raises(UsageError, match=next(iter(given))):
            Statistics(**given).applied_to(workspace.settings)


def test_a_tag_is_taken_from_the_run_that_has_it(workspace: Workspace) -> None:
    assert runs.tag(workspace, "run-one", "baseline").tags == ("baseline",)
    assert usual_baseline(workspace, "run-two") == "baseline"
    assert usual_baseline(workspace, "run-one") == "run-two"
    for tag, run in (("baseline", "run-two"), ("run-one", None), ("other", None)):
        with pytest.raises(UnknownRunError):
            runs.untag(workspace, tag, run)
    assert runs.untag(workspace, "baseline").tags == ()


def test_a_baseline_in_a_request_over_http_is_never_a_file() -> None:
    asked = decode(GateRequest, {"baseline": "numbers.json", "current": "latest"})
    assert type(asked.baseline) is str
