"""The evaluation workflow over interviews: its modes, error scenarios and checklist.

The seven steps over HTTP stand in ``tests/unit/http/test_workflow.py``, field by field.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.cli.main import run
from assay.evaluation.defaults import WORKFLOW_MEASURES
from assay.model.testset import GoldenQuery, Judgment, TestSet

SPEECH = [
    ("PATIENT", "I get a headache every morning behind the left eye", "OFFLINE"),
    ("PATIENT", "the headache is worse in bright light", "LIVE"),
    ("CLINICIAN", "how many hours do you sleep at night", "OFFLINE"),
    ("CLINICIAN", "does the headache wake you from sleep", "LIVE"),
    ("PATIENT", "I sleep four hours at best", "OFFLINE"),
]
DATASET = {
    "dataset_id": "interviews",
    "test_queries": [
        ("t1", "headache morning", ["iv:chunk_0", "iv:chunk_1"], "PATIENT"),
        ("t2", "hours of sleep", ["iv:chunk_2"], "CLINICIAN"),
        ("t3", "headache", ["iv:chunk_0", "iv:chunk_1", "iv:chunk_3"], "ALL"),
        ("t4", "sleep", ["iv:chunk_4"], "PATIENT"),
        ("t5", "bright light", ["iv:chunk_1"], "ALL"),
    ],
}

Call = Callable[..., Any]


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """The command line, over an interview of five turns."""
    monkeypatch.chdir(tmp_path)
    for name in ("DENSE", "SPLADE"):
        monkeypatch.setenv(f"ASSAY_{name}_MODEL", "none")
    monkeypatch.setenv("ASSAY_RESAMPLES", "200")
    rows = [
        {
            "doc_id": "iv",
            "chunk_id": f"iv:chunk_{at}",
            "text": text,
            "speaker_role": who,
            "ingestion_mode": mode,
            "interview_id": "interview_001",
        }
        for at, (who, text, mode) in enumerate(SPEECH)
    ]
    Path("interview.jsonl").write_text("\n".join(map(json.dumps, rows)))
    queries = [
        dict(zip(("query_id", "query_text", "relevant_segment_ids", "speaker_filter"), row,
                 strict=True))
        for row in DATASET["test_queries"]
    ]  # fmt: skip
    folder = tmp_path / ".assay" / "testsets"
    folder.mkdir(parents=True)
    (folder / "interviews.json").write_text(json.dumps({**DATASET, "test_queries": queries}))
    assert run(["ingest", "interview.jsonl"]) == 0

    def call(*arguments: str) -> Any:
        capsys.readouterr()
        assert run(["eval", *arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


@pytest.mark.req("W4")
def test_run_evaluation_on_small_dataset_completes(call: Call) -> None:
    plain = call("run", "-t", "interviews", "-m", WORKFLOW_MEASURES)
    assert (plain["total_queries"], plain["failed_queries"]) == (5, 0)
    for k in (1, 3, 5, 10):
        assert plain["metrics"][f"precision_at_{k}"] is not None
        assert plain["metrics"][f"recall_at_{k}"] is not None
    assert plain["metrics"]["mean_average_precision"] is not None


@pytest.mark.req("W4")
def test_precision_at_5_verified_by_hand_for_one_query() -> None:
    retrieved = ["uuid-1", "uuid-3", "uuid-5", "uuid-8", "uuid-12"]
    relevant = dict.fromkeys(["uuid-1", "uuid-5", "uuid-12"], 1)
    measures = "P@{1,3,5,10} Recall@{1,3,5,10}"
    found = assay.score({"q": relevant}, {"q": retrieved}, measures)
    values = [round(found[m] or 0, 2) for m in found.measures]
    assert values == [1.0, 0.67, 0.60, 0.30, 0.33, 0.67, 1.0, 1.0]


@pytest.mark.req("W4")
def test_all_relevant_query_has_recall_1() -> None:
    found = assay.score({"q": {"a": 1, "b": 1}}, {"q": ["b", "a"]}, "Recall@{5,10}")
    assert [found[m] for m in found.measures] == [1.0, 1.0]


@pytest.mark.req("W4")
def test_no_relevant_query_has_precision_0() -> None:
    found = assay.score({"q": {"a": 1}}, {"q": ["x", "y"]}, "P@{1,5}")
    assert [found[m] for m in found.measures] == [0.0, 0.0]


@pytest.mark.req("W5", "W9")
def test_patient_and_clinician_metrics_differ(call: Call) -> None:
    by_speaker = call("run", "-t", "interviews", "-m", "P@5 Recall@5")["per_speaker"]
    assert {who: part["num_queries"] for who, part in by_speaker.items()} == {
        "ALL": 2,
        "CLINICIAN": 1,
        "PATIENT": 2,
    }
    assert by_speaker["PATIENT"]["precision_at_5"] != by_speaker["CLINICIAN"]["precision_at_5"]


@pytest.mark.req("W10")
def test_the_same_dataset_again_gives_the_same(call: Call) -> None:
    first, again = (call("run", "-t", "interviews", "--no-cache") for _ in range(2))
    assert first["run_id"] != again["run_id"]
    assert first["aggregates"] == again["aggregates"]
    counts = call("compare", "latest~1", "latest")["counts"]
    assert counts == {"Win": 0, "Loss": 0, "Draw": 5, "Regression": 0}


@pytest.mark.req("W7")
def test_report_generation(call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    call("run", "-t", "interviews")
    assert run(["eval", "report", "latest", "--workflow", "--format", "md"]) == 0
    text = capsys.readouterr().out
    for part in (
        "# Evaluation Report:",
        "**Dataset**: interviews",
        "**Total Queries**: 5",
        "## Overall Metrics",
        "## Speaker-Specific Performance",
        "| PATIENT |",
        "## Insights",
        "target of P@5 > 0.65",
    ):
        assert part in text
    tables = [line.count("|") for line in text.splitlines() if line.startswith("|")]
    assert min(tables) >= 3, "every row of a table is one"


@pytest.mark.req("W9")
@pytest.mark.parametrize(("mode", "queries"), [("overall", 5), ("patient", 2), ("clinician", 1)])
def test_modes_1_to_3(call: Call, mode: str, queries: int) -> None:
    assert call("run", "-t", "interviews", "--mode", mode)["total_queries"] == queries


@pytest.mark.req("W9")
def test_mode_4_cross_mode(call: Call) -> None:
    modes = call("run", "-t", "interviews", "--mode", "cross-mode", "-m", "Recall@5")["modes"]
    assert set(modes) == {"OFFLINE", "LIVE"}
    assert all(part["metrics"]["recall_at_5"] == 1.0 for part in modes.values())


@pytest.mark.req("W9")
def test_mode_4_compares_the_queries_of_both_sides(
    call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    made = call("run", "-t", "interviews", "--mode", "cross-mode", "-m", "P@1 Recall@5")
    # t3 has evidence from files and live; t1 too; t2 and t4 from files only, t5 live only
    difference = made["difference"]
    assert difference["of"] == "LIVE - OFFLINE"
    assert difference["queries"] == 2
    assert difference["only"] == {"OFFLINE": ["t2", "t4"], "LIVE": ["t5"]}
    assert difference["metrics"] == {"precision_at_1": 0.0, "recall_at_5": 0.0}
    (said,) = [line for line in made["warnings"] if "both sides" in line]
    assert "2 queries were asked on both sides" in said
    assert "only OFFLINE: t2, t4" in said
    assert run(["eval", "run", "-t", "interviews", "--mode", "cross-mode", "-m", "P@1"]) == 0
    shown = capsys.readouterr()
    assert "LIVE - OFFLINE" in shown.out
    assert "only LIVE: t5" in " ".join(shown.err.split())


@pytest.mark.req("W8")
def test_scenario_1_missing_ground_truth(caplog: pytest.LogCaptureFixture) -> None:
    judged = GoldenQuery("q1", "a", relevant_docs=(Judgment("d", 1),))
    asked: list[str] = []

    def retrieve(text: str) -> list[str]:
        asked.append(text)
        return ["d"]

    with caplog.at_level(logging.WARNING):
        gaps = TestSet("gaps", "v1", (judged, GoldenQuery("q2", "b")))
        result = assay.evaluate(retrieve, gaps, "P@1")
    assert asked == ["a"]
    assert (result.skipped, result["P@1"]) == (("q2",), 1.0)
    assert "q2" in caplog.text


@pytest.mark.req("W8")
def test_scenario_2_retrieval_returns_zero_results() -> None:
    queries = tuple(
        GoldenQuery(name, name, relevant_docs=(Judgment("d", 1),)) for name in ("a", "b")
    )
    found = assay.evaluate(
        lambda text: ["d"] if text == "a" else [], TestSet("s", "v1", queries), "P@1 Recall@1"
    )
    assert (found["P@1"], found["Recall@1"]) == (0.5, 0.5)


@pytest.mark.req("W11")
def test_comparison_over_time(call: Call) -> None:
    for depth in ("1", "2", "5"):
        call("run", "-t", "interviews", "--keep", depth)
    runs = call("history", "interviews", "-m", "Recall@5")["runs"]
    values = [one["metrics"]["recall_at_5"] for one in runs]
    assert len(values) == 3
    assert values == sorted(values), "oldest first, and more results find no less"
