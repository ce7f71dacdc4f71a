"""Is a saved evaluation a run that every command reads, and are figures alone told from it?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from assay.app.run_exchange import push
from assay.app.run_view import show
from assay.app.runs import list_runs
from assay.app.saved import SaveRequest, save_evaluation
from assay.app.workflow import QueryMetrics
from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.errors import ConflictError, UnknownRunError
from assay.evaluation.stored_run import StoredRun
from assay.model.codec import decode, encode
from assay.model.runs import RunInfo
from assay.model.scoring import Scoring
from assay.render.report_page import origin
from assay.settings import configure

SPLIT = {
    "name": "split",
    "version": "v2",
    "held_out": {"seed": 1, "query_ids": ["q3"]},
    "queries": [
        {"query_id": name, "query_text": name, "relevant_docs": [{"doc_id": "right", "grade": 2}]}
        for name in ("q1", "q2", "q3")
    ],
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """An empty workspace with a test set that has a held-out part."""
    made = Workspace(configure({"home": tmp_path, "resamples": "50"}, environ={}, folder=tmp_path))
    folder = made.layout.test_sets
    folder.mkdir(parents=True)
    (folder / "split.json").write_text(json.dumps(SPLIT))
    return made


def evaluation(name: str, dataset: str, **found: list[str]) -> SaveRequest:
    rows = tuple(
        QueryMetrics(
            query,
            {},
            retrieved_segment_ids=tuple(ids),
            relevant_segment_ids=("right",),
        )
        for query, ids in found.items()
    )
    return SaveRequest(name, dataset, {}, len(rows), "2024-03-15T16:00:00Z", per_query=rows)


def figures(name: str) -> SaveRequest:
    return SaveRequest(name, "split", {"precision_at_5": 0.68}, 50, "2024-03-15T16:00:00Z")


@pytest.mark.req("W8")
def test_a_saved_run_is_the_part_that_was_asked(workspace: Workspace) -> None:
    with workspace:
        save_evaluation(workspace, evaluation("some", "split", q1=["right"], q2=["x"]))
        save_evaluation(workspace, evaluation("one", "split", q2=["x"]))
        save_evaluation(
            workspace, evaluation("every", "split", q1=["right"], q2=["x"], q3=["right"])
        )
        infos = {name: workspace.runs.run(name) for name in ("some", "one", "every")}
        assert {name: info.part for name, info in infos.items()} == {
            "some": "evaluation",
            "one": "1 of 3 queries",
            "every": "all",
        }
        assert infos["some"].test_set_version == "v2"
        assert show(workspace, "some", measures="MRR").to_dict()["metrics"]["mrr"] == 0.5
        (look,) = workspace.runs.held_out_uses("split")
        assert look.run_id == "every"


@pytest.mark.req("W8")
def test_the_same_save_again_changes_nothing(workspace: Workspace) -> None:
    with workspace:
        asked = evaluation("some", "split", q1=["right"], q2=["x"])
        first = save_evaluation(workspace, asked)
        assert save_evaluation(workspace, asked) == first
        assert workspace.runs.runs().total == 1


@pytest.mark.req("W8")
@pytest.mark.parametrize("ranked", [False, True])
def test_an_evaluation_takes_over_no_tag_and_no_name(workspace: Workspace, ranked: bool) -> None:
    def save(name: str) -> None:
        asked = evaluation(name, "split", q1=["right"], q2=["x"]) if ranked else figures(name)
        save_evaluation(workspace, asked)

    with workspace:
        first = save_evaluation(workspace, evaluation("some", "split", q1=["right"], q2=["x"]))
        info = workspace.runs.tag("some", "baseline")
        whole = StoredRun(info, workspace.runs.test_set("some"), workspace.runs.outcomes("some"))
        named = replace(whole, info=replace(info, run_id="other", name="nightly", tags=()))
        push(workspace.runs, named)
        for taken in ("baseline", "nightly"):
            with pytest.raises(ConflictError, match=f"'{taken}' is a (tag|name) of the run"):
                save(taken)
        save("nightly-42")  # another word: it may be had
        assert workspace.runs.run("baseline").run_id == first.evaluation_id
        assert workspace.runs.run("nightly").run_id == "other"
        with pytest.raises(UnknownRunError):
            workspace.runs.run("nightly-4")
        for run in (replace(whole.info, run_id="new", name="some"),
                    replace(whole.info, run_id="new", tags=("other",))):  # fmt: skip
            with pytest.raises(ConflictError, match="is the id of another run"):
                push(workspace.runs, replace(whole, info=run))
        assert workspace.runs.runs().total == 3


@pytest.mark.req("W8")
def test_commands_show_figures_and_do_not_compute_with_them(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with workspace:
        save_evaluation(workspace, figures("saved"))
        save_evaluation(workspace, evaluation("real", "split", q1=["right"], q2=["x"]))

    def said(*arguments: str) -> tuple[int, str]:
        code = run(["--home", str(tmp_path), "eval", *arguments])
        return code, " ".join(capsys.readouterr())

    for command in (["show", "saved"], ["list"], ["history", "split", "-m", "P@5"]):
        code, text = said(*command)
        assert code == 0, text
        assert "saved" in text
    assert "0.6800" in said("show", "saved")[1]
    assert "figures only" in said("list")[1]
    assert json.loads(said("show", "latest", "--json")[1])["run_id"] == "real"
    for command in (
        ["compare", "saved", "real"],
        ["gate", "--baseline", "saved", "--current", "real"],
        ["ab", "real", "saved"],
        ["bundle", "saved", "--out", str(tmp_path / "bundle")],
        ["report", "saved"],
        ["export", "saved", "--trec"],
        ["rescore", "saved"],
        ["show", "saved", "-m", "MRR"],
    ):
        code, text = said(*command)
        assert code == 2, (command, text)
        assert "saved holds saved figures without rankings" in text, command


def test_nobody_says_by_which_rule_saved_figures_were_scored(workspace: Workspace) -> None:
    save_evaluation(workspace, figures("saved"))
    info = workspace.runs.run("saved")
    assert "scoring" not in show(workspace, "saved").to_dict()
    assert "scoring" not in encode(list_runs(workspace))["runs"][0]
    assert decode(RunInfo, encode(info)) == replace(info, owner="", scoring=Scoring())
    assert ("scored", "elsewhere, by a rule that is not known") in origin(info)
