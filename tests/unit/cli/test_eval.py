"""Is an evaluation run, kept and shown from the command line?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import run

DOCUMENTS = [
    ("d1", "pembrolizumab caused pneumonitis in several patients"),
    ("d2", "metformin lowers blood sugar in type two diabetes"),
    ("d3", "aspirin reduces the risk of heart attack"),
    ("d4", "pneumonitis is treated with steroids"),
    ("d5", "sleep problems were reported after the operation"),
]
QUERIES = [
    ("q1", "pembrolizumab pneumonitis", "exact_term", {"d1": 3, "d4": 1}, "ALL"),
    ("q2", "diabetes blood sugar", "paraphrase", {"d2": 3}, "ALL"),
    ("q3", "heart attack risk", "complex_clinical", {"d3": 2}, "ALL"),
    ("q4", "operation", "exact_term", {"d5": 2, "d1": 1}, "ALL"),
    ("q5", "unfindable", "paraphrase", {"d5": 1}, "ALL"),
]

Call = Callable[..., Any]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("DENSE", "SPLADE"):
        monkeypatch.setenv(f"ASSAY_{name}_MODEL", "none")
    monkeypatch.setenv("ASSAY_RESAMPLES", "200")
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("\n".join(json.dumps({"_id": d, "text": t}) for d, t in DOCUMENTS))
    lines = ["name: small", "version: v1", "queries:"]
    for query_id, text, kind, judged, speaker in QUERIES:
        lines += [
            f"  - query_id: {query_id}",
            f"    query_text: {text}",
            f"    query_type: {kind}",
            f"    speaker_filter: {speaker}",
            "    relevant_docs:",
            *(f"      - {{doc_id: '{name}', grade: {grade}}}" for name, grade in judged.items()),
        ]
    assert run(["ingest", str(corpus)]) == 0
    put_test_set(tmp_path / "small.yaml", lines)
    return tmp_path


def put_test_set(file: Path, lines: list[str]) -> None:
    """Read a test set into the workspace, in place of one of this name."""
    file.write_text("\n".join(lines) + "\n")
    assert run(["testset", "import", str(file), "--force"]) == 0


@pytest.fixture
def call(home: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*arguments: str, code: int = 0) -> Any:
        capsys.readouterr()
        got = run(["eval", *arguments, "--json"])
        printed = capsys.readouterr()
        assert got == code, printed.err
        return json.loads(printed.out) if printed.out else json.loads(printed.err.splitlines()[-1])

    return call


@pytest.mark.req("E10")
def test_run_prints_the_response_of_the_contract(call: Call) -> None:
    plain = call("run", "-t", "small")
    assert list(plain)[:2] == ["metrics", "per_query_type"]
    assert plain["metrics"]["recall_at_10"] == pytest.approx(0.7)
    assert plain["per_query_type"]["complex_clinical"]["recall_at_10"] == 1.0
    assert plain["total_queries"] == 5
    assert plain["empty_queries"] == 1
    assert plain["latency_ms"]["n"] == 5


@pytest.fixture
def unanswerable(home: Path) -> str:
    lines = ["name: extras", "version: v1", "queries:"]
    for query_id, text, expect in (
        ("x1", "measles vaccine", "nothing"),
        ("x2", "price of metformin", "refusal"),
    ):
        lines += [
            f"  - query_id: {query_id}",
            f"    query_text: {text}",
            f"    expect: {expect}",
        ]
    put_test_set(home / "extras.yaml", lines)
    return "extras"


@pytest.mark.req("M1", "K7")
def test_two_test_sets_are_one_run(
    call: Call, unanswerable: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = call("run", "-t", "small", "-t", unanswerable, "--answers")
    assert plain["test_set"]["name"] == "small:extras"
    assert (plain["total_queries"], plain["scored_queries"]) == (7, 5)
    assert plain["metrics"]["recall_at_10"] == pytest.approx(0.7), "extras do not count here"
    assert plain["metrics"]["auroc"] == pytest.approx(0.9), "q5 found nothing, as x1 did"
    assert plain["metrics"]["refusal_correctness"] is not None
    shown = call("show", "latest")
    assert shown["metrics"] == plain["metrics"]
    capsys.readouterr()
    assert run(["eval", "show", "latest"]) == 0
    printed = capsys.readouterr()
    for part in ("is there an answer at all?", "AUROC", "answers", "RefusalCorrectness"):
        assert part in printed.out
    assert "5 queries with evidence and 1 without" in printed.err + printed.out


@pytest.mark.req("M1")
def test_all_queries_is_measured_by_decisions(call: Call) -> None:
    plain = call("run", "-t", "small", "--protocol", "all_queries")
    assert plain["metrics"]["auroc"] is None
    assert "class" in plain["aggregates"]["auroc"]["reason"]


def test_a_wrong_measure_is_known_before_anything_is_run(call: Call) -> None:
    call("run", "-t", "small", "-m", "nDCGG@10", code=2)
    assert call("list")["total"] == 0


@pytest.mark.req("E6")
def test_per_component(call: Call) -> None:
    plain = call("run", "-t", "small", "--per-component", "--waterfall")
    assert set(plain["components"]) == {"bm25", "hybrid"}
    for part in plain["components"].values():
        assert {"recall_at_10", "ndcg_at_10"} <= set(part["metrics"])
    assert plain["components"]["bm25"]["contribution"]["relevant"] == 7
    passed = plain["waterfall"]["passed"]
    assert (passed["relevant"], passed["in the index"], passed["in the top 10"]) == (7, 7, 5)
    assert {miss["stage"] for miss in plain["waterfall"]["misses"]} == {"not_found"}


@pytest.mark.slow
@pytest.mark.req("E7")
def test_the_second_call_is_answered_from_the_store(
    call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    first = call("run", "-t", "small")
    again = call("run", "-t", "small", "--tag", "baseline")
    assert (again["cached"], again["run_id"]) == (True, first["run_id"])
    run(["eval", "run", "-t", "small"])
    assert "nothing was searched" in capsys.readouterr().err
    fresh = call("run", "-t", "small", "--no-cache")
    assert not fresh["cached"]
    assert fresh["metrics"] == first["metrics"]
    other = call("run", "-t", "small", "--no-boosts")
    assert not other["cached"]
    assert call("list")["total"] == 3
    repeated = call("run", "-t", "small")
    assert repeated["cached"]
    assert call("show", "latest")["run_id"] == repeated["run_id"], "what was just asked for"
    assert call("show", "latest~1")["run_id"] == other["run_id"]
    assert call("list", "--tag", "baseline")["runs"][0]["run_id"] == first["run_id"]


def test_a_run_is_found_by_its_name(call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    made = call("run", "-t", "small", "--name", "mine")
    call("run", "-t", "small", "--no-boosts", "--name", "other")
    assert call("show", "mine")["run_id"] == made["run_id"]
    assert run(["eval", "compare", "mine", "other"]) == 0
    capsys.readouterr()
    assert run(["eval", "run", "-t", "small", "--name", "third"]) == 0
    third = call("show", "third")
    assert (third["name"], third["reused_from"]) == ("third", made["run_id"])
    assert third["metrics"] == made["metrics"]


def test_judged_ids_that_are_not_in_the_index_are_named(
    call: Call, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["eval", "run", "-t", "small"]
    assert run(asked) == 0
    assert "not in the index" not in capsys.readouterr().err
    file = home / "small.yaml"
    text = file.read_text().replace("'d5', grade: 1", "'d4:chunk_7', grade: 1")
    put_test_set(file, text.splitlines())
    capsys.readouterr()
    assert run(asked) == 0
    said = capsys.readouterr().err
    assert "1 of 6 judged ids is not in the index and cannot be found: d4:chunk_7" in said
    assert "assay testset validate small --index" in said
    assert run([*asked, "--match", "doc"]) == 0
    assert "not in the index" not in capsys.readouterr().err, "the document is there"
    engine = home / "one_engine.py"
    engine.write_text("def search(text):\n    return ['d1']\n")
    assert run([*asked, "--retriever", "one_engine:search"]) == 0
    assert "not in the index" not in capsys.readouterr().err


def test_a_changed_index_is_another_run(call: Call, home: Path) -> None:
    first = call("run", "-t", "small")
    more = home / "more.jsonl"
    more.write_text(json.dumps({"_id": "d6", "text": "unfindable no longer"}))
    assert run(["ingest", str(more)]) == 0
    again = call("run", "-t", "small")
    assert not again["cached"]
    assert again["run_id"] != first["run_id"]
    assert again["empty_queries"] == 0


@pytest.mark.slow
@pytest.mark.req("W11")
def test_show_history_rescore_tag_export_and_delete(call: Call, home: Path) -> None:
    first = call("run", "-t", "small", "--name", "first")
    call("tag", "latest", "baseline")
    shown = call("show", "baseline", "--per-query")
    assert shown["metrics"] == first["metrics"]
    assert shown["per_query"]["q1"]["recall_at_10"] == 1.0
    assert shown["config"]["components"] == ["bm25"]
    one = call("show", "latest", "--query", "q1")
    assert one["results"][0]["doc_id"] == "d1"
    assert one["component_lists"]["bm25"]
    again = call("rescore", "baseline", "-m", "MAP P@1")["runs"][0]
    assert again["metrics"]["mean_average_precision"] == pytest.approx(0.7)
    assert again["metrics"]["ndcg_at_10"] == first["metrics"]["ndcg_at_10"]
    stored = call("list")["runs"][0]["aggregate"]["metrics"]
    assert stored["precision_at_1"] == pytest.approx(0.8)
    call("run", "-t", "small", "--no-boosts")
    history = call("history", "small", "-m", "nDCG@10")
    assert [one["name"] for one in history["runs"]] == ["first", ""]
    assert history["trend"]["ndcg_at_10"]["direction"] == "level"
    out = home / "run.trec"
    assert run(["eval", "export", "baseline", "--trec", "-o", str(out)]) == 0
    assert out.read_text().splitlines()[0].split()[:2] == ["q1", "Q0"]
    assert call("delete", "baseline")["deleted"] == first["run_id"]
    assert call("show", "baseline", code=2)["error"]["code"] == "unknown_run"


def test_every_verb_prints_tables(call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    call("run", "-t", "small")
    for arguments, words in (
        (["run", "-t", "small", "--per-component"], ["hybrid", "only here"]),
        (["run", "-t", "small", "--waterfall"], ["in the index", "misses"]),
        (["list"], ["small v1", "complete"]),
        (["show", "latest", "--per-query"], ["by query type", "q5"]),
        (["show", "latest", "--query", "q1"], ["pembrolizumab", "grade"]),
        (["history", "small"], ["nDCG@10"]),
        (["rescore", "latest"], ["scored again"]),
        (["run", "-t", "small", "--mode", "cross-mode"], []),
    ):  # fmt: skip
        capsys.readouterr()
        code = run(["eval", *arguments])
        printed = capsys.readouterr().out
        assert code == (2 if "cross-mode" in arguments else 0)
        for word in words:
            assert word in printed, arguments


def test_an_exported_run_scores_the_same_as_the_evaluation(call: Call, home: Path) -> None:
    first = call("run", "-t", "small", "--measure", "nDCG@10 MRR Recall@5")
    out = home / "run.trec"
    run(["eval", "export", "latest", "--trec", "-o", str(out)])
    again = call("run", "-t", "small", "--run", str(out), "--measure", "nDCG@10 MRR Recall@5")
    assert again["metrics"] == first["metrics"]
    assert call("run", "-t", "small", "--run", str(out))["cached"]


def test_another_engine(call: Call, home: Path) -> None:
    (home / "their_engine.py").write_text(
        "def search(text): return [('d1', 1.0), ('d4', 0.5)]\n"
        "def broken(text): raise RuntimeError('down')\n"
        "def flaky(text):\n"
        "    if 'heart' in text: raise RuntimeError('late')\n"
        "    return ['d2']\n"
    )
    plain = call("run", "-t", "small", "--retriever", "their_engine:search")
    assert plain["metrics"]["recall_at_10"] == pytest.approx((1 + 0.5) / 5)
    flaky = call("run", "-t", "small", "--retriever", "their_engine:flaky", code=4)
    assert flaky["failed_queries"] == 1
    stopped = call(
        "run", "-t", "small", "--retriever", "their_engine:broken", "--max-errors", "2", code=1
    )
    assert stopped["error"]["code"] == "too_many_errors"
    assert call("list", "--status", "failed")["total"] == 1


def test_resume(call: Call, home: Path) -> None:
    (home / "stops.py").write_text(
        "from pathlib import Path\n"
        "def search(text):\n"
        "    if 'heart' in text and not Path('go').exists(): raise KeyboardInterrupt\n"
        "    return ['d3']\n"
    )
    assert run(["eval", "run", "-t", "small", "--retriever", "stops:search", "--tag", "cut"]) == 130
    left = call("list")["runs"][0]
    assert left["status"] == "interrupted"
    (home / "go").touch()
    done = call("run", "--resume", "cut")
    assert done["run_id"] == left["run_id"]
    assert done["metrics"]["mrr"] == pytest.approx(0.2)
    again = call("run", "--resume", "cut")
    assert again["cached"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "no test set"),
        (["run", "-t", "small", "--retriever", "a:b", "--run", "x"], "exclude"),
        (["run", "-t", "small", "--run", "x", "--per-component"], "components"),
        (["run", "-t", "small", "--holdout"], "no held-out part"),
        (["run", "-t", "small", "--mode", "patient"], "no query for patient"),
        (["run", "-t", "small", "--components", "bm26"], "bm26"),
        (["run", "-t", "small", "-m", "nDCGG@10"], "nDCGG"),
        (["run", "-t", "small", "--protocol", "all_queries", "-m", "MRR"], "leaves out"),
        (["run", "-t", "missing"], "no test set 'missing'"),
        (["run", "--resume", "nope"], "no run 'nope'"),
        (["rescore"], "name a run"),
        (["export", "latest", "--trec"], "choose a format"),
        (["list", "--status", "odd"], "odd"),
        (["tag", "nope", "x"], "no run"),
        (["show", "latest~3"], "complete runs"),
        (["history", "small", "-m", "odd"], "odd"),
    ],
)
def test_mistakes_are_named(call: Call, arguments: list[str], message: str) -> None:
    assert message in json.dumps(call(*arguments, code=2))


def test_runs_with_other_measures_are_rescored_together(
    call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    call("run", "-t", "small", "-m", "MAP")
    call("run", "-t", "small", "--no-cache", "-m", "P@5")
    capsys.readouterr()
    assert run(["eval", "rescore", "--suite", "small"]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(line for line in lines if "MAP" in line)
    assert "P@5" in head
    assert sum("—" in line.split() for line in lines) == 2, "each run lacks what the other has"


@pytest.mark.req("E13")
def test_a_query_that_is_held_out_is_named_as_such(call: Call) -> None:
    split = ["testset", "split", "small", "--share", "0.4"]
    assert run(split) == 0
    held = next(iter(call("run", "-t", "small", "--holdout", "--per-query")["per_query"]))
    call("run", "-t", "small")
    message = call("show", "latest", "--query", held, code=2)["error"]
    assert f"{held} is held out of small" in message["message"]
    assert "--part all" in message["hint"]


def test_without_a_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for verb in (["list"], ["show", "latest"], ["history", "x"], ["delete", "x"]):
        assert run(["eval", *verb]) == 2
    assert not (tmp_path / ".assay").exists()
