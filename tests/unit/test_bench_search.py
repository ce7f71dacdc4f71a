"""Does the benchmark of hybrid search measure what it says, on a small workload?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import index_data, search_data, search_report, search_worker
from bench.index_data import Workload
from bench.search_data import Questions
from bench.search_engines import ENGINES, Assay

pytestmark = pytest.mark.slow


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Assay:
    monkeypatch.setattr(index_data, "HERE", tmp_path)
    monkeypatch.setattr(search_data, "ASKED_QUICK", 10)
    monkeypatch.setattr(search_worker, "ROUNDS", 2)
    monkeypatch.setitem(index_data.SPECS, "tiny", index_data.Spec("tiny", 600))
    data = Workload("tiny")
    for kind in ("bm25", "splade", "dense"):
        data.ensure(kind)
    return Assay(data, Questions(data))


def test_questions_differ_so_that_no_answer_is_remembered(engine: Assay) -> None:
    questions = engine.questions
    assert len(set(questions.texts)) == len(set(questions.spoken)) == len(questions.texts) == 30


def test_a_workspace_is_built_searched_and_fused(engine: Assay, tmp_path: Path) -> None:
    assert search_worker.build(engine, tmp_path / "built")["disk_mb"] > 0
    engine.open(tmp_path / "built", None)
    best = engine.search(29)  # of the warm-up, since an answer would be remembered
    assert len(best) == 10
    row = search_worker._phase(engine, 2)
    assert row["n"] == 10
    assert row["others"] is None or row["others"] >= 0
    assert 0 < row["p50"] <= row["p95"] <= row["p99"]
    assert all(row["stages"][name]["p50"] > 0 for name in ("bm25", "splade", "dense", "total"))
    engine.close()
    fused = search_worker.fusion(engine, tmp_path / "built")
    assert fused["no intent"]["n"] == fused["three intents"]["n"] == 20
    assert 100 <= fused["no intent"]["candidates"] <= 300


def test_the_report() -> None:
    one: dict[str, Any] = {
        "p50": 10.0,
        "p95": 20.0,
        "p99": 30.0,
        "qps": 90.0,
        "n": 1000,
        "others": 0.5,
    }
    one["stages"] = {
        stage: {"p50": 1.0, "p95": 60.0, "p99": 70.0} for stage in search_worker.STAGES
    }
    phases = {f"{mode}_{callers}": one for mode in ("search", "together") for callers in (1, 2)}
    row = {"workload": "real", "passages": 75_862, "build_s": 9.0, "disk_mb": 8.0}
    rows = {name: {**row, "one": phases, "all": phases} for name in ENGINES}
    rows["LanceDB"] = {**row, "error": "too slow"}
    text = search_report.render(
        json.loads(json.dumps({"real": {"rows": rows, "when": "2026-01-01"}}))
    )
    assert "| hybrid with encoding, P95 | ≤ 80 ms | 20 ms | reached |" in text
    assert (
        "| dense with encoding, P95, the contract's limit | ≤ 50 ms | 60 ms | **missed** |" in text
    )
    assert "| vectors given, P50 of qdrant-edge beside ours | ≥ 1 × | 1 × | reached |" in text
    assert "| LanceDB | words, dense | too slow |" in text
    assert "Other processes used 0.5 to 0.5 cores meanwhile" in text
