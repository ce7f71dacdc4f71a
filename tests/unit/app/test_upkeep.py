"""Are looks at held-out queries counted, judgments carried over, and reminders given?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from assay.annotation.overfit import Fit
from assay.app.held_out import check_overfitting, uses
from assay.app.testsets import due_sets
from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.errors import UsageError
from assay.evaluation.parts import Split, part_of
from assay.evaluation.record import RecordOptions, record
from assay.model.document import Chunk, Document
from assay.model.system import System
from assay.model.testset import GoldenQuery, HeldOut, Judgment, QueryType, TestSet
from assay.settings import configure
from assay.testsets.join import join
from assay.testsets.load import load_test_set
from assay.testsets.save import save_test_set

SETTINGS = {"dense_model": "none", "splade_model": "none"}
TEXT = "Aspirin eases headache. Triptans end a migraine. Statins lower cholesterol."
NAMES = [f"q{at:02}" for at in range(20)]
CUT = ((0, 23), (24, 48), (49, 75))


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    for name, value in {"home": tmp_path, **SETTINGS}.items():
        monkeypatch.setenv(f"ASSAY_{name.upper()}", str(value))
    with Workspace(configure({"home": tmp_path, **SETTINGS}, environ={}, folder=tmp_path)) as made:
        _ = made.store
        yield made


def put(workspace: Workspace, version: str, *spans: tuple[int, int]) -> None:
    """Cut the one document anew."""
    chunks = tuple(
        Chunk(f"d1:chunk_{at}", "d1", TEXT[low:high], spans=((low, high),), chunker_version=version)
        for at, (low, high) in enumerate(spans)
    )
    workspace.store.put([(Document("d1", TEXT), chunks)])


def split_set() -> TestSet:
    queries = tuple(
        GoldenQuery(
            f"q{at:02}", f"words {at}", QueryType.PARAPHRASE, relevant_docs=(Judgment("a", 3),)
        )
        for at in range(20)
    )
    held = HeldOut(1, tuple(f"q{at:02}" for at in range(15, 20)))
    return TestSet("ward_v1", "v1", queries, held_out=held)


def stored(
    workspace: Workspace, name: str, split: Split, found: dict[str, int], **system_of: Any
) -> str:
    """A run that finds the one relevant document at a rank, or not at all."""

    def retrieve(query: GoldenQuery) -> list[str]:
        rank = found.get(query.query_id, 0)
        return [*(f"x{at}" for at in range(rank - 1)), "a"] if rank else ["x"]

    about = {"generation": "1", **system_of}
    system = System(retrieve=retrieve, config={"name": name}, **about)
    options = RecordOptions(name=name, use_cache=False)
    made = record(system, part_of(split_set(), split), workspace.runs, options)
    return made.info.run_id


@pytest.mark.req("E13")
def test_an_overfitted_system_raises_the_alarm_and_the_look_is_logged(workspace: Workspace) -> None:
    save_test_set(split_set(), workspace.home / "testsets" / "ward_v1.yaml")
    names = [query.query_id for query in split_set().queries]
    before = stored(workspace, "a", Split.ALL, dict.fromkeys(names, 3))
    better = {name: 1 + (at % 2) for at, name in enumerate(names[:15])}
    stored(workspace, "b", Split.HOLDOUT, {"q15": 3, "q16": 9})
    after = stored(workspace, "b", Split.EVALUATION, better)
    looks = len(uses(workspace, split_set()))
    found = check_overfitting(workspace, split_set(), before, after)
    assert found.fit is Fit.LIKELY
    assert (found.evaluation.n, found.held_out.n) == (15, 5)
    assert [use.purpose for use in uses(workspace, split_set())][looks:] == ["overfitting check"]
    code = run(["testset", "heldout", "ward_v1", "--before", before, "--after", after])
    assert code == 3


def test_a_check_needs_both_sides_of_both_runs(workspace: Workspace) -> None:
    before = stored(workspace, "a", Split.EVALUATION, {})
    with pytest.raises(UsageError, match="5 of 5 queries were not run in both"):
        check_overfitting(workspace, split_set(), before, before)
    whole = TestSet("other", "v1", split_set().queries)
    with pytest.raises(UsageError, match="no held-out part"):
        check_overfitting(workspace, whole, before, before)


@pytest.mark.req("E13")
@pytest.mark.parametrize(
    "other",
    [{"generation": "2"}, {"models": {"dense": "minilm"}}, {"chunker_versions": ("text-2",)}],
)
def test_a_run_is_joined_with_runs_of_the_same_system_only(
    workspace: Workspace, other: dict[str, Any]
) -> None:
    poor, good = dict.fromkeys(NAMES, 4), {name: 1 + at % 2 for at, name in enumerate(NAMES)}
    before = stored(workspace, "a", Split.EVALUATION, poor)
    stored(workspace, "a", Split.HOLDOUT, poor)
    after = stored(workspace, "a", Split.EVALUATION, good, **other)
    with pytest.raises(UsageError, match="5 of 5 queries were not run in both"):
        check_overfitting(workspace, split_set(), before, after)
    stored(workspace, "a", Split.HOLDOUT, good, **other)
    found = check_overfitting(workspace, split_set(), before, after)
    assert found.fit is Fit.GENERAL
    assert found.held_out.difference == pytest.approx(found.evaluation.difference, abs=0.05)


@pytest.mark.req("E13")
def test_one_run_cannot_stand_for_before_and_after(workspace: Workspace) -> None:
    before = stored(workspace, "a", Split.EVALUATION, dict.fromkeys(NAMES, 4))
    after = stored(workspace, "a", Split.EVALUATION, dict.fromkeys(NAMES, 1))
    kept = stored(workspace, "a", Split.HOLDOUT, dict.fromkeys(NAMES, 1))
    looks = len(uses(workspace, split_set()))
    with pytest.raises(UsageError, match=f"{kept} would be both before and after"):
        check_overfitting(workspace, split_set(), before, after)
    assert len(uses(workspace, split_set())) == looks


@pytest.mark.req("E13")
def test_held_out_queries_are_masked_until_asked_for(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    save_test_set(split_set(), workspace.home / "testsets" / "ward_v1.yaml")
    assert run(["testset", "show", "ward_v1"]) == 0
    out = capsys.readouterr().out
    assert "words 3" in out
    assert "words 17" not in out
    assert run(["testset", "show", "ward_v1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["checksum"] == split_set().checksum
    assert "relevant_docs" not in shown["queries"][17]
    assert uses(workspace, split_set()) == ()
    assert run(["testset", "show", "ward_v1", "q17", "--held-out"]) == 0
    assert "words 17" in capsys.readouterr().out
    assert [use.purpose for use in uses(workspace, split_set())] == ["show"]
    assert run(["testset", "heldout", "ward_v1"]) == 0
    assert "looked at 1 time" in capsys.readouterr().out


def anchored() -> TestSet:
    queries = (
        GoldenQuery("q1", "headache", relevant_docs=(Judgment("d1:chunk_0", 3, ((0, 23),)),)),
        GoldenQuery("q2", "cholesterol", relevant_docs=(Judgment("d1:chunk_2", 2),)),
    )
    return TestSet("ward_v1", "v1", queries, provenance={"chunkers": ["cut-1"]})


@pytest.mark.req("K14")
def test_judgments_follow_their_passages_after_a_change_of_chunkers(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    save_test_set(anchored(), workspace.home / "testsets" / "ward_v1.yaml")
    put(workspace, "cut-1", *CUT)
    put(workspace, "cut-2", (0, 48), (49, 75))
    assert run(["testset", "reanchor", "ward_v1", "--dry-run"]) == 0
    assert "moved  q2  d1:chunk_2 -> d1:chunk_1 (grade 2)" in capsys.readouterr().out
    assert run(["testset", "reanchor", "ward_v1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["counts"]["kept"], told["counts"]["moved"]) == (1, 1)
    made = load_test_set("ward_v1-r1", folder=workspace.home / "testsets")
    assert made.by_id["q2"].relevant_docs == (Judgment("d1:chunk_1", 2, ((49, 75),)),)
    assert made.provenance["chunkers"] == ["cut-2"]
    assert made.provenance["parent"]["checksum"] == anchored().checksum
    assert made.version == "v1-r1"
    assert run(["testset", "reanchor", "ward_v1"]) == 2, "the file is there already"


def test_a_set_that_lost_its_answers_is_not_written(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    save_test_set(anchored(), workspace.home / "testsets" / "ward_v1.yaml")
    put(workspace, "cut-3", (0, 23))
    assert run(["testset", "reanchor", "ward_v1"]) == 2
    assert "1 query has no relevant passage left: q2" in capsys.readouterr().err
    assert not (workspace.home / "testsets" / "ward_v1-r1.yaml").exists()


@pytest.mark.slow
@pytest.mark.req("E12")
def test_the_quarter_is_over(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    folder = workspace.home / "testsets"
    told = {"created_at": "2020-01-01"}
    save_test_set(
        TestSet("old_v1", "v1", split_set().queries, provenance=told), folder / "old_v1.yaml"
    )
    found = {due.name: due for due in due_sets(workspace.layout, date(2020, 3, 1))}
    assert not found["old_v1"].overdue
    run(["doctor"])
    assert "old_v1: refresh due since 2020-04-01" in capsys.readouterr().out
    run(["testset", "show", "old_v1"])
    assert "refresh due since" in capsys.readouterr().err
    child = {"parent": {"name": "old_v1"}, "refreshed_at": "2020-04-01"}
    save_test_set(
        TestSet("old_v2", "v2", split_set().queries, provenance=child), folder / "old_v2.yaml"
    )
    assert {"old_v1", "old_v2"} & {due.name for due in due_sets(workspace.layout)} == {"old_v2"}


@pytest.mark.req("E12")
def test_a_run_of_several_sets_is_a_look_at_each_of_them(workspace: Workspace) -> None:
    other = TestSet(
        "clinic_v1",
        "v3",
        (
            GoldenQuery("c1", "one", relevant_docs=(Judgment("a", 1),)),
            GoldenQuery("c2", "two", relevant_docs=(Judgment("a", 1),)),
        ),
        held_out=HeldOut(1, ("c2",)),
    )
    stranger = TestSet("ward", "v1", other.queries)
    system = System(lambda query: ["a"], {"k": 1}, engine="python", generation="1")
    both = join([split_set(), other])
    record(system, part_of(both, Split.EVALUATION), workspace.runs)
    assert uses(workspace, split_set()) == uses(workspace, other) == ()
    made = record(system, part_of(both, Split.ALL), workspace.runs, RecordOptions(run_id="both"))
    for test_set in (split_set(), other):
        (use,) = uses(workspace, test_set)
        assert (use.run_id, use.version) == (made.info.run_id, test_set.version)
    assert uses(workspace, stranger) == ()
    workspace.runs.delete("both")  # which does not undo the look
    assert [len(uses(workspace, one)) for one in (split_set(), other, stranger)] == [1, 1, 0]
