"""Does a run that was cut short have the same figures everywhere, and never better ones?"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.app import comparison, reports, run_exchange, run_view, runs
from assay.app.evaluation import evaluate
from assay.app.evaluation_request import EvaluationRequest
from assay.app.gate import GateRequest, gate
from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.errors import InputError, MissingFileError, UsageError
from assay.evaluation.answers import answer_records, score_answers
from assay.model.answers import Answer, Expect
from assay.model.runs import RunStatus
from assay.model.testset import GoldenQuery, Judgment, QueryType, TestSet
from assay.render.report_page import run_page
from assay.render.report_text import run_markdown
from assay.settings import configure
from assay.testsets.write import as_plain
from tests.unit.http.conftest import client_of, service_of

SETTINGS = {"dense_model": "none", "splade_model": "none", "resamples": "200"}
WORDS = ("alpha", "beta", "gamma", "delta")
QUERIES = TestSet(
    "cut",
    "v1",
    (
        *(
            GoldenQuery(
                f"q{n}",
                word,
                list(QueryType)[n % 2],
                relevant_docs=(Judgment(f"d{n}", 2),),
            )
            for n, word in enumerate(WORDS)
        ),
        GoldenQuery("unjudged", "epsilon"),
        GoldenQuery("refuse", "zeta", expect=Expect.REFUSAL),
    ),
)
FOUND = {f"q{n}": [f"d{n}", "x"] for n in range(4)}
MEASURES = "Recall@10 nDCG@10"
VERDICT = "(?:better|worse|equivalent|inconclusive)"
Make = Callable[..., str]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    flags = {"home": tmp_path / "home", **SETTINGS}
    with Workspace(configure(flags, environ={}, folder=tmp_path)) as made:
        yield made


@pytest.fixture
def make(workspace: Workspace, tmp_path: Path) -> Make:
    """Evaluate a run file that finds everything, cut short after some queries if so wanted."""
    file = tmp_path / "run.json"
    file.write_text(json.dumps(FOUND))

    def made(name: str, after: int | None = None, **options: Any) -> str:
        request = EvaluationRequest(
            test_set=QUERIES, run_file=str(file), run_id=name, use_cache=False, **options
        )
        asked: list[int] = []

        def before_query() -> None:
            if len(asked) == after:
                raise KeyboardInterrupt
            asked.append(1)

        if after is None:
            evaluate(workspace, request)
        else:
            with pytest.raises(KeyboardInterrupt):
                evaluate(workspace, request, before_query=before_query)
        return name

    return made


def said(capsys: pytest.CaptureFixture[str], home: Path, *arguments: str) -> tuple[int, str]:
    code = run(["--home", str(home), "eval", *arguments])
    return code, " ".join(capsys.readouterr())


def test_live_figures_are_over_the_queries_asked_so_far(workspace: Workspace, make: Make) -> None:
    make("part", 3)
    found = runs.live_figures(workspace, workspace.runs.run("part"))
    assert (found["ndcg_at_10"], found["recall_at_10"], found["mrr"]) == (1.0, 1.0, 1.0)
    make("begun", 0)
    assert runs.live_figures(workspace, workspace.runs.run("begun")) == {}


@pytest.mark.req("E5", "K11", "E9")
@pytest.mark.parametrize("after", [0, 1, 3])
def test_every_view_of_a_run_that_was_cut_short_has_one_figure(
    workspace: Workspace, make: Make, after: int
) -> None:
    make("whole")
    make("part", after)
    mean = after / 4
    shown = run_view.show(workspace, "part", measures=MEASURES)
    report = reports.report(workspace, "part", measures=MEASURES)
    compared = comparison.compare(
        workspace, comparison.CompareRequest("whole", "part", MEASURES)
    ).report
    tested = comparison.ab(workspace, comparison.AbRequest("whole", "part", MEASURES)).result
    ruling = gate(workspace, GateRequest(baseline="whole", current="part"))
    page = run_view.query_scores(workspace, "part").scores
    assert shown.result is not None
    assert page is not None
    views = {
        "show": shown.result["Recall@10"],
        "report": report.scores["Recall@10"],
        "page": page["Recall@10"],
        "compare": compared.aggregate_b.measures["Recall@10"],
        "hits": compared.aggregate_b.hit_at_k[10],
        "ab": tested.b["Recall@10"],
        "gate": ruling.checks[0].current,
    }
    assert views == dict.fromkeys(views, mean)
    sides = {
        "show": {k: scores["Recall@10"] for k, scores in shown.result.by_query_type.items()},
        "report": {k: s["Recall@10"] for k, s in report.groups["query_type"].items()},
        "gate": {kind: pair["Recall@10"][1] for kind, pair in ruling.by_type.items()},
    }
    assert sides == dict.fromkeys(sides, sides["show"])


@pytest.mark.req("E5", "K11")
def test_every_view_says_how_far_the_run_got(workspace: Workspace, make: Make) -> None:
    make("whole")
    make("part", 3)
    reach = "3 of 5 queries were asked"
    report = reports.report(workspace, "part")
    tested = comparison.ab(workspace, comparison.AbRequest("whole", "part")).result
    for text in (
        json.dumps(run_view.show(workspace, "part").to_dict()["warnings"]),
        json.dumps(report.to_dict()["warnings"]),
        run_markdown(report),
        run_page(report),
        json.dumps(tested.compared.to_dict()["warnings"]),
        json.dumps(gate(workspace, GateRequest(baseline="whole", current="part")).to_dict()),
    ):
        assert reach in text
    assert tested.verdict.startswith("INCOMPLETE: B did not ask 2 of 5 queries.")
    assert tested.to_dict()["incomplete"]
    note = next(row.note for row in tested.compared.per_query if row.query_id == "q3")
    assert note is not None
    assert "b did not ask it" in note
    with pytest.raises(UsageError, match=reach):
        reports.bundle(workspace, ["part"], workspace.layout.reports)
    with pytest.raises(MissingFileError, match="q3 was not asked: the run part is interrupted"):
        run_view.query(workspace, "part", "q3")
    with pytest.raises(MissingFileError, match="unjudged was skipped"):
        run_view.query(workspace, "whole", "unjudged")


@pytest.mark.req("E9")
@pytest.mark.parametrize("after", [0, 1])
def test_a_gate_of_a_run_that_was_cut_short_is_inconclusive(
    workspace: Workspace, make: Make, tmp_path: Path, after: int,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    make("whole")
    make("part", after)
    home = tmp_path / "home"
    code, text = said(capsys, home, "gate", "--baseline", "whole", "--current", "part")
    assert code == 4
    was = "was" if after == 1 else "were"
    assert f"part is not complete (it is interrupted): {after} of 5 queries {was} asked" in text
    assert "no query of cut" not in text
    assert said(capsys, home, "gate", "--baseline", "part", "--current", "whole")[0] == 4
    assert said(capsys, home, "compare", "whole", "part")[0] == 4
    assert said(capsys, home, "ab", "whole", "part")[0] == 4


@pytest.mark.req("E9")
def test_a_file_made_of_a_run_that_was_cut_short_is_no_baseline(
    workspace: Workspace, make: Make, tmp_path: Path
) -> None:
    make("whole")
    make("part", 2)
    for content in (
        run_view.show(workspace, "part").to_dict(),
        run_view.show(workspace, "part").scores(),
        reports.report(workspace, "part").to_dict(),
    ):
        file = tmp_path / "baseline.json"
        file.write_text(json.dumps(content))
        ruling = gate(workspace, GateRequest(baseline=file, current="whole"))
        assert ruling.outcome.exit_code == 4
        assert "the run of baseline.json is not complete" in ruling.blockers[0]
        assert "3 queries not asked" in ruling.blockers[0]


@pytest.mark.req("K4")
def test_answers_that_were_not_asked_for_count_as_wrong(workspace: Workspace, make: Make) -> None:
    """A run that answered one of five well and was cut short does not score 1."""
    make("part", 1)
    stored = workspace.stored_run("part")
    answer = Answer("yes", ("d0",))
    answered = [
        replace(one, answer=answer, known_citations=frozenset({"d0"})) for one in stored.outcomes
    ]
    found = score_answers(answer_records(stored.test_set, answered))
    values = {measure.key: outcome.value for measure, outcome in found.items()}
    assert (values["citation_coverage"], values["refusal_correctness"]) == (0.25, 0.0)
    assert values["empty_result_rate"] == 0.8
    searched = run_view.show(workspace, "part").scores()["metrics"]
    assert searched["empty_result_rate"] == 0.8
    assert "citation_coverage" not in searched


@pytest.mark.req("E5")
def test_ctrl_c_tells_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("DENSE", "SPLADE"):
        monkeypatch.setenv(f"ASSAY_{name}_MODEL", "none")
    (tmp_path / "set.json").write_text(json.dumps(as_plain(QUERIES)))
    (tmp_path / "stopping_engine.py").write_text(
        "def find(text):\n"
        "    if text == 'gamma':\n"
        "        raise KeyboardInterrupt\n"
        "    return ['d0']\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    asked = ("run", "-t", "set.json", "--retriever", "stopping_engine:find")
    code, text = said(capsys, tmp_path / "home", *asked)
    assert code == 130
    assert "2 of 5 queries were asked" in text
    assert "assay eval run --resume 2" in text  # ids begin with the year


@pytest.mark.req("E5")
def test_a_run_that_goes_on_has_the_figures_of_one_that_was_never_cut_short(
    workspace: Workspace, make: Make
) -> None:
    make("whole")
    make("part", 3)
    make("part")
    assert workspace.runs.run("part").status is RunStatus.COMPLETE
    one, other = (run_view.show(workspace, name).scores() for name in ("whole", "part"))
    assert one["metrics"] == other["metrics"]
    assert other["unasked_queries"] == 0
    assert "INCOMPLETE" not in json.dumps(other)
    assert workspace.runs.run("part").aggregate["unasked_queries"] == 0


@pytest.mark.req("E5")
def test_a_pushed_run_that_calls_itself_complete_has_every_outcome(
    workspace: Workspace, make: Make
) -> None:
    make("whole")
    run = workspace.stored_run("whole")
    lacking = run_exchange.pack(replace(run, outcomes=run.outcomes[:2]))
    with pytest.raises(InputError, match="2 of 5 queries were asked"):
        run_exchange.unpack(lacking)
    assert run_exchange.unpack(run_exchange.pack(run)).info.run_id == "whole"


@pytest.mark.req("W7", "K11", "K15")
def test_one_count_of_queries_everywhere(
    workspace: Workspace, make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Six queries, one of which nobody judged."""
    make("one")
    make("two")
    make("part", 2)
    counts = {"total_queries": 6, "skipped_queries": 1}
    words = "6, of which 1 skipped (no ground truth)"
    compared = comparison.compare(workspace, comparison.CompareRequest("one", "part")).report
    reports.bundle(workspace, ["one"], tmp_path / "bundle")
    for name in ("one", "part"):
        report = reports.report(workspace, name)
        for content in (
            run_view.show(workspace, name).to_dict(),
            report.to_dict(),
            compared.aggregate_a.to_dict(),
            compared.aggregate_b.to_dict(),
            dict(workspace.runs.run(name).aggregate),
        ):
            assert {key: content[key] for key in counts} == counts
        assert f"**Total Queries**: {words}" in run_markdown(report).replace("\\", "")
        assert words.replace("6", "6 queries") in run_page(report)
        assert workspace.runs.run(name).total == 6
    shown = reports.report(workspace, "one")
    written = (tmp_path / "bundle" / "report-one.md").read_text().replace("\\", "")
    assert written == run_markdown(
        reports.report(workspace, "one", measures=[*map(str, shown.scores.measures)])
    ).replace("\\", "")
    assert reports.verify_bundle(workspace, tmp_path / "bundle").ok
    home = tmp_path / "home"
    table = said(capsys, home, "compare", "one", "two")[1]
    assert "total queries" in table
    assert [line.split()[2:4] for line in table.splitlines() if "total queries" in line] == [
        ["6", "6"]
    ]
    assert [line.split()[2:4] for line in table.splitlines() if "skipped queries" in line] == [
        ["1", "1"]
    ]
    listed = json.loads(said(capsys, home, "list", "--json")[1])["runs"]
    assert {one["aggregate"]["total_queries"] for one in listed} == {6}


@pytest.mark.req("K11")
def test_runs_of_two_parts_are_compared_on_what_both_asked(
    workspace: Workspace, make: Make, tmp_path: Path
) -> None:
    make("whole")
    file = str(tmp_path / "run.json")
    half = replace(QUERIES, queries=QUERIES.queries[:2])
    evaluate(
        workspace, EvaluationRequest(test_set=half, run_file=file, run_id="half", use_cache=False)
    )
    report = comparison.compare(workspace, comparison.CompareRequest("whole", "half")).report
    assert (report.aggregate_a.total_queries, report.aggregate_a.unasked_queries) == (2, 0)
    assert not report.incomplete


@pytest.mark.req("E11")
def test_the_service_and_its_pages_say_the_same(
    workspace: Workspace, make: Make, tmp_path: Path
) -> None:
    make("whole")
    make("part", 1)
    service = service_of(tmp_path, io.StringIO(), home=tmp_path / "home", resamples=200)
    with client_of(service) as client:
        scores = client.get("/v1/runs/part/scores", params={"measure": "Recall@10"}).json()
        report = client.get("/v1/runs/part/report").json()
        compared = client.post("/v1/compare", json={"a": "whole", "b": "part"}).json()
        ruling = client.post("/v1/gate", json={"baseline": "whole", "current": "part"}).json()
        page = client.get("/runs/part", headers={"accept": "text/html"}).text
    service.close()
    assert scores["metrics"]["recall_at_10"] == 0.25
    assert report["metrics"]["recall_at_10"] == 0.25
    assert report["unasked_queries"] == 4
    assert compared["aggregate_b"]["hit_at_k"]["10"] == 0.25
    assert (ruling["exit_code"], ruling["checks"][0]["current"]) == (4, 0.25)
    assert "1 of 5 queries was asked" in page
    assert "6 queries, of which 1 skipped" in page


@pytest.mark.req("E5", "E11")
def test_lists_and_pages_have_the_figures_of_a_run_that_was_cut_short(
    workspace: Workspace, make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make("whole")
    make("part", 3)
    shown = run_view.show(workspace, "part").scores()
    listed = said(capsys, tmp_path / "home", "list")[1]
    line = next(line for line in listed.splitlines() if line.startswith("  part "))
    assert "interrupted" in line
    assert line.count("0.7500") == 3, "nDCG@10, Recall@10 and MRR"
    service = service_of(tmp_path, io.StringIO(), home=tmp_path / "home", resamples=200)
    with client_of(service) as client:
        one = client.get("/v1/runs/part").json()
        every = client.get("/v1/runs").json()["runs"]
        html = {"accept": "text/html"}
        page, pages = (client.get(at, headers=html).text for at in ("/runs/part", "/runs"))
    service.close()
    assert one["aggregate"]["metrics"] == shown["metrics"]
    assert one in every
    assert "Not scored yet" not in page
    assert "<b>0.7500</b>" in page
    assert page.count("INCOMPLETE: 3 of 5 queries were asked") == 1
    assert "eval run --resume part" in page
    assert pages.count("0.7500") == 3


@pytest.mark.req("K4")
@pytest.mark.parametrize("after", [0, 2, None])
def test_queries_without_results_are_counted_as_in_their_rate(
    workspace: Workspace, make: Make, after: int | None
) -> None:
    make("run", after)
    found = run_view.show(workspace, "run").scores()
    rate = found["answers"]["empty_result_rate"]
    assert found["empty_queries"] == round(rate["value"] * rate["n"])
    assert found["empty_queries"] == 1 + found["unasked_queries"] - bool(after is not None)
    found_nothing = [line for line in found["warnings"] if "found nothing" in line]
    assert not found_nothing, "what was not asked is said once"


def test_a_run_whose_process_was_killed_is_interrupted(
    workspace: Workspace, make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A process that dies at once leaves no word; it is known to be gone."""
    make("whole")
    (tmp_path / "set.json").write_text(json.dumps(as_plain(QUERIES)))
    (tmp_path / "dying_engine.py").write_text(
        "import os\n"
        "def find(text):\n"
        "    if text == 'gamma':\n"
        "        os._exit(9)\n"
        "    return ['d0', 'd1']\n"
    )
    home = tmp_path / "home"
    command = [
        *(sys.executable, "-m", "assay", "--home", str(home), "eval", "run", "-t", "set.json"),
        *("--retriever", "dying_engine:find", "--tag", "cut"),
    ]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    environ |= {"ASSAY_DENSE_MODEL": "none", "ASSAY_SPLADE_MODEL": "none"}
    ended = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, check=False)
    assert ended.returncode == 9
    assert workspace.runs.run("cut").status is RunStatus.INTERRUPTED
    for status, total in (("interrupted", 1), ("running", 0), ("complete", 1)):
        page = runs.list_runs(workspace, runs.run_filter(status=status))
        assert (page.total, len(page.runs)) == (total, total), status
    assert "interrupted" in said(capsys, home, "list", "--tag", "cut")[1]
    assert "it is interrupted" in said(capsys, home, "compare", "whole", "cut")[1]


@pytest.mark.req("E5", "E11")
def test_the_badges_of_a_comparison_say_that_a_run_was_cut_short(
    workspace: Workspace, make: Make, tmp_path: Path
) -> None:
    make("whole")
    make("part", 1)
    make("again")
    service = service_of(tmp_path, io.StringIO(), home=tmp_path / "home", resamples=200)
    badge = '<span class="badge failed">INCOMPLETE</span>'
    with client_of(service) as client:
        for b, marked in (("part", True), ("again", False)):
            pair = {"a": "whole", "b": b}
            for at in ("/compare", "/ab", "/compare/export"):
                more = {"form": "html"} if at.endswith("export") else {}
                text = client.get(at, params=pair | more, headers={"accept": "text/html"}).text
                verdicts = re.findall(rf'({badge} )?<span class="badge {VERDICT}">', text)
                assert verdicts
                assert set(map(bool, verdicts)) == {marked}, at
    service.close()


@pytest.mark.req("E11")
def test_pages_of_a_run_in_progress_are_not_those_of_its_beginning(
    workspace: Workspace, make: Make, tmp_path: Path
) -> None:
    make("whole")
    make("part", 1)
    rest = workspace.runs.outcomes("whole")[1:]
    service = service_of(tmp_path, io.StringIO(), home=tmp_path / "home", resamples=200)
    with client_of(service) as client:
        html = {"accept": "text/html"}
        before = client.get("/compare", params={"a": "whole", "b": "part"}, headers=html).text
        workspace.runs.append("part", rest)
        after = client.get("/compare", params={"a": "whole", "b": "part"}, headers=html).text
    service.close()
    assert "B did not ask 4 of 5 queries" in before
    assert "B did not ask" not in after
