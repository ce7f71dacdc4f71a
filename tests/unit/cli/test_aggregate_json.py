"""Does ``eval_runs.aggregate_json`` hold the aggregate of seed 001?"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import run

GOLDEN = """golden:
  - id: one
    query: first
    expected_doc_ids: [A]
    expected_chunk_ids: ["A:chunk_1"]
  - id: four
    query: second
    expected_doc_ids: [B, C]
    expected_chunk_ids: ["B:chunk_1"]
  - id: missed
    query: third
    expected_doc_ids: [D]
    expected_chunk_ids: ["D:chunk_1"]
  - id: documents
    query: fourth
    expected_doc_ids: [E]
"""
RUN = {
    "one": ["A:chunk_1"],
    "four": ["x:chunk_1", "C:chunk_1", "y:chunk_1", "B:chunk_1"],
    "missed": ["z:chunk_1"],
    "documents": ["E:chunk_7"],
}


def kept(home: Path) -> dict[str, Any]:
    """The aggregate as it is stored, whatever seals it."""
    with sqlite3.connect(home / "assay.db") as database:
        ((text,),) = database.execute("SELECT aggregate_json FROM eval_runs").fetchall()
    found: dict[str, Any] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return found


@pytest.mark.req("K1", "K2", "K3")
def test_hits_of_chunks_and_recall_of_documents_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("ASSAY_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    Path("gold.yaml").write_text(GOLDEN)
    Path("run.json").write_text(json.dumps(RUN))
    assert run(["eval", "run", "-t", "gold.yaml", "--run", "run.json", "--tag", "r"]) == 0
    for _ in range(2):
        found = kept(home)
        assert found["hit_at_k"] == {"1": 0.3333, "3": 0.3333, "5": 0.6667, "10": 0.6667}
        assert found["rr_at_10"] == 0.4167
        assert found["recall_at_k_doc"] == {"1": 0.5, "3": 0.625, "5": 0.75, "10": 0.75}
        assert {"metrics", "total_queries", "failed_queries"} <= set(found)
        assert found["empty_result_rate"] == 0.0
        for name in ("citation_coverage", "groundedness", "refusal_correctness"):
            assert found[name] is None
            assert found["reasons"][name]
        assert found["latency_ms"]["n"] == 0, "reading a file is no search"
        assert found["latency_ms"]["p50"] is None
        assert run(["eval", "rescore", "r", "-m", "P@5"]) == 0
