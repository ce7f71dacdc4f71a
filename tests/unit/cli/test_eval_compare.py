"""Do compare, ab, gate, report and bundle do on the command line what they promise?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.app.configurations import read_configuration
from assay.app.workspace import open_workspace
from assay.cli.main import run as cli
from assay.errors import UsageError
from assay.evaluation.bundle import Recipe, as_text, manifest, master
from assay.evaluation.stored_run import StoredRun
from assay.model.runs import RunStatus
from assay.model.sampling import Sampling
from assay.store.runs import SqlRunStore
from tests.unit.evaluation.stored import ranks

GOOD: dict[str, int | None] = {f"q{at:02}": 1 + at % 3 for at in range(40)}
WORSE: dict[str, int | None] = {**GOOD, **{f"q{at:02}": None for at in range(10)}}


def put(store: SqlRunStore, run: StoredRun, tag: str) -> None:
    store.begin(replace(run.info, status=RunStatus.RUNNING, tags=(tag,)), run.test_set)
    store.append(run.name, run.outcomes)
    store.finish(run.name, {})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / ".assay"
    folder.mkdir()
    store = SqlRunStore(folder / "assay.db")
    put(store, ranks("run-good", GOOD, types=True, config={"fusion_method": "rrf"}), "good")
    put(store, ranks("run-worse", WORSE, types=True, config={"fusion_method": "weighted"}), "worse")
    degraded = ranks("run-sick", GOOD, types=True)
    outcomes = tuple(
        replace(out, degraded=True, component_errors=("splade_timeout",))
        for out in degraded.outcomes
    )
    put(store, replace(degraded, outcomes=outcomes), "sick")
    store.close()
    monkeypatch.setenv("ASSAY_HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert cli(["eval", *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.mark.req("K11")
def test_compare(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "compare", "good", "worse", "-m", "nDCG@10")
    assert found["counts"] == {"Win": 0, "Loss": 0, "Draw": 30, "Regression": 10}
    assert found["deltas"]["chunker_version_match"] == "exact"
    assert found["deltas"]["hit_at_10"] == -0.25
    assert cli(["eval", "compare", "good", "worse", "--write-report"]) == 0
    out = capsys.readouterr()
    assert "0 wins, 0 losses, 30 draws, 10 regressions, by the rank of the first rel" in out.out
    assert (home / "reports" / "compare-run-good-run-worse.html").exists()
    assert (home / "reports" / "compare-run-good-run-worse.md").exists()
    assert cli(["eval", "compare", "good", "worse", "--csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 41


def test_compare_begins_with_the_measures_of_the_runs(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["eval", "compare", "good", "worse"]) == 0
    words = [line.split() for line in capsys.readouterr().out.splitlines()]
    rows = words[next(at for at, row in enumerate(words) if row[:1] == ["measure"]) + 2 :]
    named = [row[0] for row in rows if row]
    assert named[:3] == ["Recall@5", "Recall@10", "nDCG@10"]
    assert named[3:8] == ["Success@1", "Success@3", "Success@5", "Success@10", "RR@10"]
    found = answer(capsys, "compare", "good", "worse")
    assert "Recall@10" not in found["deltas"]


def test_compare_warns_of_degraded_runs(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["eval", "compare", "good", "sick"]) == 4
    assert "DEGRADED" in capsys.readouterr().err


def test_compare_names_a_run_that_is_not_there(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["eval", "compare", "good", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.req("K14")
def test_strict_refuses_another_chunker(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = SqlRunStore(home / "assay.db")
    put(store, ranks("run-cut", GOOD, types=True, versions=["text-2"]), "cut")
    store.close()
    assert cli(["eval", "compare", "good", "cut", "--strict-chunker-version"]) == 2
    assert "text-2" in capsys.readouterr().err
    assert answer(capsys, "compare", "good", "cut")["deltas"]["chunker_version_match"] != "exact"


@pytest.mark.req("E8")
def test_ab(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "ab", "good", "worse")
    assert found["verdict"] == "worse"
    assert found["latency"]["difference"]["mean"] == 0.0
    assert set(found["by_query_type"]) == {"exact_term", "paraphrase", "complex_clinical"}
    assert cli(["eval", "ab", "good", "worse", "--write-report"]) == 0
    assert "B is worse than A on nDCG@10" in capsys.readouterr().out
    assert (home / "reports" / "ab-run-good-run-worse.html").exists()
    assert cli(["eval", "ab", "good", "sick"]) == 4


def test_ab_of_a_configuration_asks_for_a_test_set(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["eval", "ab", "good", "fusion_method=rrf"]) == 2
    assert "--testset" in capsys.readouterr().err


def test_options_in_one_line() -> None:
    text = "fusion_method=weighted,weights=bm25:0.3 dense:.7,components=bm25 dense,rerank=on"
    assert read_configuration(text) == {
        "fusion_method": "weighted",
        "weights": {"bm25": 0.3, "dense": 0.7},
        "components": ("bm25", "dense"),
        "rerank": True,
    }
    assert read_configuration("fusion_method=rrf,query_intent=none") == {
        "fusion_method": "rrf",
        "query_intent": "none",
    }
    for bad in (
        "a=1,a=2",
        "fusion=rrf",
        "=1",
        "k=20",
        "weights=bm25",
        "weights=bm25:x",
    ):
        with pytest.raises(UsageError):
            read_configuration(bad)


@pytest.mark.req("E9")
def test_gate_exit_codes(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "gate", "--baseline", "good", "--current", "good")["outcome"] == "passed"
    answer(capsys, "gate", "--baseline", "good", "--current", "worse", code=3)
    answer(capsys, "gate", "--baseline", "good", "--current", "sick", code=4)
    assert cli(["eval", "gate", "--baseline", "nowhere", "--current", "good"]) == 2
    assert cli(["eval", "gate", "--baseline", "good", "--limit", "x"]) == 2
    within = ["--limit", "Recall@10=25%"]
    capsys.readouterr()
    answer(capsys, "gate", "--baseline", "good", "--current", "worse", *within)


@pytest.mark.req("E9")
def test_gate_writes_report_junit_and_summary(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "summary.md").write_text("before\n")
    files = ["--report", "out/report.md", "--junit", "out/junit.xml", "--step-summary"]
    assert cli(["eval", "gate", "--baseline", "good", "--current", "worse", *files]) == 3
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert (tmp_path / "summary.md").read_text(encoding="utf-8") == "before\n" + report
    assert (tmp_path / "out" / "junit.xml").exists()


@pytest.mark.req("E9")
def test_a_report_in_json_is_a_baseline(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["eval", "report", "good", "--format", "json", "--out", "baseline.json"]) == 0
    capsys.readouterr()
    found = answer(capsys, "gate", "--baseline", "baseline.json", "--current", "worse", code=3)
    assert found["failing_queries"][0]["query_id"] == "q00"
    assert set(found["per_query_type"]) == {"exact_term", "paraphrase", "complex_clinical"}
    flags = ["--baseline", "baseline.json", "--current", "good", "--non-inferiority"]
    assert answer(capsys, "gate", *flags)["outcome"] == "passed"


@pytest.mark.slow
@pytest.mark.req("W7")
@pytest.mark.parametrize("form", ["md", "html", "json", "csv", "table"])
def test_reports(home: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert cli(["eval", "report", "good", "--format", form]) == 0
    out = capsys.readouterr().out
    assert {"md": "# Evaluation Report", "html": "<!doctype html>", "json": '"metrics"',
            "csv": "run,group,query", "table": "nDCG@10"}[form] in out  # fmt: skip


@pytest.mark.req("W7")
def test_the_ending_of_a_file_is_the_form_of_a_report(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["eval", "report", "good", "--out", "report.MD"]) == 0
    assert Path("report.MD").read_text(encoding="utf-8").startswith("# Evaluation Report")
    assert cli(["eval", "report", "good", "--out", "report.txt"]) == 2
    assert "end it with .md, .html, .csv or .json, or give --format" in capsys.readouterr().err
    assert cli(["eval", "report", "good", "--format", "md", "--out", "report.txt"]) == 0
    assert Path("report.txt").read_bytes() == Path("report.MD").read_bytes()


@pytest.mark.req("W7")
def test_a_target_is_checked_whatever_the_report_shows(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--target", "P@7>0.99", "--target", "EmptyResultRate<=0.5", "--target", "P@1>0%"]
    said = str(answer(capsys, "report", "good", "-m", "nDCG@10", *asked)["insights"])
    assert "misses target of P@7 > 0.99 ✗" in said
    assert "meets target of EmptyResultRate <= 0.5 ✓" in said
    assert "meets target of P@1 > 0 ✓" in said


@pytest.mark.req("M6")
def test_a_bundle_is_computed_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measures = "nDCG@10 Recall@10 AUROC Groundedness"
    assert cli(["eval", "bundle", "good", "worse", "--out", "paper", "-m", measures]) == 0
    capsys.readouterr()
    master = json.loads(Path("paper/metrics_master.json").read_text(encoding="utf-8"))
    entry = next(e for e in master["metrics"] if e["measure"] == "Recall@10" and e["ci"])
    assert entry["protocol"] == "positives_only"
    assert {"value", "ci", "n", "seed", "split", "run", "group"} <= set(entry)
    by_protocol = {e["measure"]: e["protocol"] for e in master["metrics"]}
    assert by_protocol["AUROC"] == "all_queries"
    assert master["runs"]["run-good"]["provenance"]["config"] == {"fusion_method": "rrf"}
    found = answer(capsys, "verify-bundle", "paper")
    assert found["ok"]
    assert found["metrics"] == len(master["metrics"])


@pytest.mark.req("M6")
def test_the_order_of_runs_does_not_matter_to_a_bundle(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["eval", "bundle", "worse", "good", "run-worse", "--out", "paper"]) == 0
    assert cli(["eval", "bundle", "good", "worse", "--out", "again"]) == 0
    one, other = (Path(f"{name}/metrics_master.json").read_bytes() for name in ("paper", "again"))
    assert one == other
    capsys.readouterr()
    assert answer(capsys, "verify-bundle", "paper")["ok"]


@pytest.mark.req("M6")
def test_any_difference_in_a_bundle_fails(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(["eval", "bundle", "worse", "--out", "paper"]) == 0
    capsys.readouterr()
    place = Path("paper/metrics_master.json")
    text = place.read_text(encoding="utf-8")
    place.write_text(text.replace('"value": 0.75', '"value": 0.76'), encoding="utf-8")
    problems = answer(capsys, "verify-bundle", "paper", code=3)["problems"]
    assert any("is not the file that the manifest" in line for line in problems)
    assert any("is 0.76 in the bundle, 0.75 from the runs" in line for line in problems)
    place.write_text(text, encoding="utf-8")
    assert cli(["eval", "delete", "worse"]) == 0
    capsys.readouterr()
    assert "cannot be read" in answer(capsys, "verify-bundle", "paper", code=3)["problems"][0]


def hashed_anew(folder: str) -> None:
    """Write the manifest again for the files as they are now."""
    files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    del files["MANIFEST.sha256"]
    Path(folder, "MANIFEST.sha256").write_text(manifest(files), encoding="utf-8")


@pytest.mark.req("M6")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("| nDCG@10 | 0.", "| nDCG@10 | 1."),
        ("[0.", "[1."),
        ("complex_clinical | 0.", "complex_clinical | 1."),
        ("meets target", "beats target"),
        ("**Total Queries**: 40", "**Total Queries**: 400"),
        ("**Part**: all", "**Part**: holdout"),
        ("\n## Overall", "\nP@5 is 0.99.\n\n## Overall"),
    ],
)
def test_an_edited_report_fails_though_the_manifest_fits(
    home: Path, capsys: pytest.CaptureFixture[str], before: str, after: str
) -> None:
    assert cli(["eval", "bundle", "good", "--out", "paper"]) == 0
    capsys.readouterr()
    place = Path("paper/report-run-good.md")
    text = place.read_text(encoding="utf-8")
    before, after = (word.replace("_", "\\_") for word in (before, after))
    assert before in text
    place.write_text(text.replace(before, after, 1), encoding="utf-8")
    hashed_anew("paper")
    (problem,) = answer(capsys, "verify-bundle", "paper", code=3)["problems"]
    assert problem.startswith("report-run-good.md:")
    assert "where metrics_master.json says" in problem


@pytest.mark.req("M6")
def test_a_master_and_reports_that_were_both_changed_differ_from_the_runs(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["eval", "bundle", "worse", "--out", "paper"]) == 0
    capsys.readouterr()
    master, report = Path("paper/metrics_master.json"), Path("paper/report-run-worse.md")
    for place in (master, report):
        text = place.read_text(encoding="utf-8")
        place.write_text(
            text.replace('": 0.75\n', '": 0.85\n').replace("| 0.7500", "| 0.8500"), "utf-8"
        )
    hashed_anew("paper")
    problems = answer(capsys, "verify-bundle", "paper", code=3)["problems"]
    assert any("0.85 in the bundle, 0.75 from the runs" in line for line in problems)


@pytest.mark.req("M6")
def test_numbers_of_a_file_that_was_added_cannot_be_checked(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["eval", "bundle", "good", "--out", "paper"]) == 0
    capsys.readouterr()
    Path("paper/more.md").write_text("nDCG@10 is 0.99\n", encoding="utf-8")
    hashed_anew("paper")
    (problem,) = answer(capsys, "verify-bundle", "paper", code=3)["problems"]
    assert problem.startswith("more.md is not a file of this bundle")
    Path("paper/more.md").unlink()
    Path("paper/report-run-good.md").unlink()
    hashed_anew("paper")
    assert answer(capsys, "verify-bundle", "paper", code=3)["problems"] == [
        "report-run-good.md is missing"
    ]


ENDLESS = '{"recipe": {"measures": "MRR", "method": "bca", "level": 1, "resamples": 1e999}}'


@pytest.mark.slow
@pytest.mark.parametrize("content", ["", "[]", "{}", '{"recipe": {}, "runs": {}}', ENDLESS])
def test_what_is_no_bundle_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    assert cli(["eval", "verify-bundle", "nowhere"]) == 2
    Path("paper").mkdir()
    Path("paper/MANIFEST.sha256").write_text("")
    Path("paper/metrics_master.json").write_text(content)
    assert cli(["eval", "verify-bundle", "paper"]) == 2


@pytest.mark.req("M6")
def test_reports_beside_a_master_of_an_older_form_are_not_passed_unread(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A master written as form 2 does not hold what reports say, so nothing vouches for them."""
    drawn = ["--resamples", "200", "--seed", "7"]
    assert cli(["eval", "bundle", "worse", "--out", "paper", *drawn]) == 0
    with open_workspace(home) as workspace:
        runs = [workspace.stored_run("worse")]
    content = master(runs, Recipe("Recall@10", Sampling(resamples=200, seed=7)), form=2)
    Path("paper/metrics_master.json").write_text(as_text(content), "utf-8")
    report = Path("paper/report-run-worse.md")
    report.write_text(report.read_text("utf-8").replace("0.7500", "0.9900"), "utf-8")
    hashed_anew("paper")
    capsys.readouterr()
    checked = answer(capsys, "verify-bundle", "paper")
    assert checked["problems"] == []
    (file,) = checked["unchecked"]
    assert file.startswith("report-run-worse.md was not checked")
    assert cli(["eval", "verify-bundle", "paper"]) == 0
    assert "report-run-worse.md was not checked" in " ".join(capsys.readouterr().err.split())


@pytest.mark.req("M6")
def test_a_master_that_was_called_older_than_it_is_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["eval", "bundle", "worse", "--out", "paper"]) == 0
    place = Path("paper/metrics_master.json")
    place.write_text(place.read_text(encoding="utf-8").replace('"form": 3', '"form": 2'), "utf-8")
    capsys.readouterr()
    assert cli(["eval", "verify-bundle", "paper"]) == 2
    assert "not a bundle of ours" in capsys.readouterr().err


def test_a_bundle_of_a_form_to_come_is_refused_by_name(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli(["eval", "bundle", "worse", "--out", "paper"]) == 0
    place = Path("paper/metrics_master.json")
    place.write_text(place.read_text(encoding="utf-8").replace('"form": 3', '"form": 9'), "utf-8")
    capsys.readouterr()
    assert cli(["eval", "verify-bundle", "paper"]) == 2
    assert "form 9" in capsys.readouterr().err
