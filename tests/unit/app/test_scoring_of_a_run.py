"""What a run is scored by belongs to the run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.app import comparison, runs
from assay.app.evaluation import EvaluationRequest, evaluate
from assay.app.gate import GateRequest, gate
from assay.app.statistics import Statistics
from assay.app.workspace import Workspace
from assay.errors import AssayError, ConflictError
from assay.evaluation.record import Recorded
from assay.evaluation.result import EvaluationResult
from assay.model.ranking import Match
from assay.model.sampling import Sampling
from assay.model.scoring import Scoring
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.settings import configure

CHUNKS = TestSet(
    "chunks",
    "v1",
    tuple(
        GoldenQuery(
            f"q{n}", text, relevant_docs=(Judgment(f"D{n}:chunk_0", 2),), group=f"g{n // 2}"
        )
        for n, text in enumerate(("alpha", "beta", "gamma", "delta"))
    ),
)
DOCUMENTS = {"q0": ["D0"], "q1": ["D1"], "q2": ["X"], "q3": ["D3"]}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    settings = {"dense_model": "none", "splade_model": "none"}
    return Workspace(configure({"home": tmp_path / "home", **settings}, folder=tmp_path))


@pytest.fixture
def made(workspace: Workspace, tmp_path: Path) -> Iterator[Any]:
    """Evaluate a run that names documents, as the options say."""
    file = tmp_path / "run.json"
    file.write_text(json.dumps(DOCUMENTS))

    def make(**options: Any) -> Recorded:
        request = EvaluationRequest(test_set=CHUNKS, run_file=str(file), **options)
        return evaluate(workspace, request).runs[0]

    with workspace:
        yield make


def shown(workspace: Workspace, run: str, **options: Any) -> EvaluationResult:
    result = runs.show(workspace, run, **options).result
    assert result is not None
    return result


def test_a_run_made_by_document_is_shown_and_reported_by_document(
    workspace: Workspace, made: Any
) -> None:
    run = made(match="doc", measures="Recall@10").info.run_id
    assert shown(workspace, run)["Recall@10"] == 0.75
    assert shown(workspace, run, match="exact")["Recall@10"] == 0.0
    assert runs.report(workspace, run).result["Recall@10"] == 0.75
    assert runs.query_scores(workspace, run).scores["Recall@10"] == 0.75
    assert runs.query(workspace, run, "q0").judgments[0].rank == 1
    assert runs.query(workspace, run, "q0", match="exact").judgments[0].rank is None


def test_a_run_is_shown_with_its_own_measures_and_intervals(
    workspace: Workspace, made: Any
) -> None:
    run = made(match="doc", measures="P@1", by_group=True, confidence=0.8, resamples=500, seed=7)
    before = run.result.scores.interval("P@1")
    own = shown(workspace, run.info.run_id).scores
    assert [str(measure) for measure in own.measures] == ["P@1"]
    assert own.sampling == Sampling("bca", 0.8, 500, 7)
    assert own.interval("P@1") == before
    report = runs.report(workspace, run.info.run_id, measures="P@1").result.scores
    assert report.interval("P@1") == before
    single = shown(workspace, run.info.run_id, statistics=Statistics(seed=8))
    assert single.scores.sampling == Sampling("bca", 0.8, 500, 8)


def test_rescoring_by_another_rule_keeps_the_figures_of_the_run(
    workspace: Workspace, made: Any
) -> None:
    run = made(match="doc").info.run_id
    (other,) = runs.rescore(workspace, run, match="exact")
    assert (other.kept, other.result["Recall@10"]) == (False, 0.0)
    assert workspace.runs.run(run).aggregate["metrics"]["recall_at_10"] == 0.75
    (own,) = runs.rescore(workspace, run, measures="P@1")
    assert own.kept
    assert workspace.runs.run(run).aggregate["metrics"]["precision_at_1"] == 0.75


def test_another_rule_makes_another_run_without_searching(workspace: Workspace, made: Any) -> None:
    first, second = made(match="doc"), made(match="exact")
    assert first.info.run_id != second.info.run_id
    assert (second.cached, second.info.reused_from) == (True, first.info.run_id)
    assert (first.result["Recall@10"], second.result["Recall@10"]) == (0.75, 0.0)
    again = made(match="doc")
    assert (again.info.run_id, again.cached) == (first.info.run_id, True)


def test_ids_and_names_that_a_caller_gives_hold_for_an_equal_run(
    workspace: Workspace, made: Any
) -> None:
    first = made(tags=("one",))
    named = made(name="mine", tags=("two",))
    numbered = made(run_id="number-3")
    assert named.info.name == "mine"
    assert numbered.info.run_id == "number-3"
    assert len({one.info.run_id for one in (first, named, numbered)}) == 3
    assert workspace.runs.run("two").run_id == named.info.run_id
    assert workspace.runs.run("one").run_id == first.info.run_id
    assert made(name="mine").info.run_id == named.info.run_id
    assert made(run_id="number-3").cached
    for other in ({"match": "doc"}, {"name": "x"}, {"seed": 5}):
        with pytest.raises(ConflictError):
            made(run_id="number-3", **other)


@pytest.mark.req("E7")
def test_the_same_name_again_is_the_same_run_and_that_is_said(
    workspace: Workspace, made: Any
) -> None:
    first = made(name="nightly")
    again = made(name="nightly")
    assert first.note is None
    assert (again.info.run_id, again.repeated) == (first.info.run_id, True)
    assert again.note == (
        f"run {first.info.run_id}, named nightly, has the answer already: nothing was searched and "
        "no new run was made; --no-cache searches again and makes one"
    )
    other = made(name="weekly")
    assert other.note == (
        f"run {first.info.run_id} has the answer already: {other.info.run_id} was made with its "
        "results and nothing was searched; --no-cache searches again"
    )
    last = made(name="weekly")  # its results came from elsewhere, and that is no news
    assert (last.info.run_id, last.repeated) == (other.info.run_id, True)
    assert "was made with" not in str(last.note)
    assert "no new run was made" in str(last.note)
    assert workspace.runs.runs().total == 2
    anew = made(name="weekly", use_cache=False)
    assert anew.note is None
    assert len(runs.history(workspace, "chunks").runs) == 3


def test_an_equal_run_that_was_cut_short_lends_its_results_to_one_of_another_name(
    workspace: Workspace, tmp_path: Path, made: Any
) -> None:
    request = EvaluationRequest(test_set=CHUNKS, run_file=str(tmp_path / "run.json"))

    def stop(step: Any) -> None:
        if step.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(workspace, request, stop)
    named = made(run_id="own")
    assert (named.info.run_id, named.reused, named.cached) == ("own", 2, False)
    assert len(workspace.runs.outcomes("own")) == 4


def test_a_pushed_run_may_not_ask_for_endless_work(workspace: Workspace, made: Any) -> None:
    whole = workspace.stored_run(made().info.run_id)
    for scoring in (
        Scoring(sampling=Sampling(resamples=10**9)),
        Scoring(sampling=Sampling(level=2.0)),
        Scoring(measures="nothing@1"),
    ):
        content = runs.pack(replace(whole, info=replace(whole.info, scoring=scoring)))
        with pytest.raises(AssayError):
            runs.unpack(content)
    content = runs.pack(replace(whole, info=replace(whole.info, scoring=Scoring(match=Match.DOC))))
    assert runs.unpack(content).info.scoring.match is Match.DOC


def test_two_runs_are_tested_as_they_were_scored(workspace: Workspace, made: Any) -> None:
    a = made(match="doc", by_group=True, resamples=500, seed=3).info.run_id
    b = made(match="doc", by_group=True, resamples=500, seed=3, name="b").info.run_id
    tested = comparison.ab(workspace, comparison.AbRequest(a, b)).result
    assert tested.b.sampling == Sampling(resamples=500, seed=3)
    assert tested.a["Recall@10"] == 0.75
    assert tested.a.clusters is not None
    ruling = gate(workspace, GateRequest(baseline=a, current=b, non_inferiority=True))
    (check,) = ruling.checks
    assert check.interval is not None
    assert (check.interval.resamples, check.interval.seed) == (500, 3)


def test_runs_of_different_protocols_are_not_gated(workspace: Workspace, made: Any) -> None:
    a = made().info.run_id
    b = made(protocol="positives_only").info.run_id
    ruling = gate(workspace, GateRequest(baseline=a, current=b))
    assert ruling.outcome.exit_code == 4
    assert "the protocols differ" in ruling.blockers[0]


def test_runs_that_were_drawn_differently_are_tested_with_a_word(
    workspace: Workspace, made: Any
) -> None:
    a = made(by_group=True, resamples=500).info.run_id
    b = made(name="b").info.run_id
    said = comparison.ab(workspace, comparison.AbRequest(a, b)).result.compared.warnings
    assert f"the runs draw intervals differently: here as {b} does" in said
    assert f"queries of one group are drawn together, since {a} was made so" in said
    own = comparison.AbRequest(a, a)
    assert not [
        one for one in comparison.ab(workspace, own).result.compared.warnings if "draw" in one
    ]


def test_no_run_may_be_called_what_the_newest_one_is_called(
    workspace: Workspace, made: Any
) -> None:
    with pytest.raises(ConflictError, match="always means the newest run"):
        made(run_id="latest")
