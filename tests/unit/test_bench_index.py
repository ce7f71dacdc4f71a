"""Does the benchmark of the index measure what it says, on a small workload?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import index_data, index_report, index_worker
from bench.document import write_part
from bench.index_data import Workload
from bench.index_engines import KINDS, Assay
from bench.index_plot import plot

pytestmark = pytest.mark.slow


@pytest.fixture
def workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workload:
    monkeypatch.setattr(index_data, "HERE", tmp_path)
    monkeypatch.setitem(index_data.SPECS, "tiny", index_data.Spec("tiny", 600))
    for name, value in (("ROUNDS", 1), ("WARM_UP", 2), ("SAMPLE", 20), ("QUERIES", 20)):
        monkeypatch.setattr(index_worker, name, value)
    return Workload("tiny")


@pytest.mark.parametrize("kind", KINDS)
def test_one_component(workload: Workload, tmp_path: Path, kind: str) -> None:
    workload.ensure(kind)
    built = index_worker.build(Assay(kind, workload), tmp_path / "built")
    assert built["disk_mb"] > 0
    found = index_worker.search(Assay(kind, workload), tmp_path / "built", 1)
    for phase in ("plain", "filtered"):
        assert found[phase]["n"] == 20
        assert 0 < found[phase]["p50"] <= found[phase]["p95"] <= found[phase]["p99"]
        recall = found[phase]["recall"]
        assert recall is None if kind == "bm25" else recall >= (0.95 if kind == "graph" else 0.999)


def test_the_report_and_the_picture() -> None:
    one = {"effort": 0, "recall": 1.0, "p50": 1.0, "p95": 2.0, "p99": 3.0, "qps": 900.0}
    search = {"open_ms": 5.0, "rss_mb": 9.0, "plain": one, "filtered": one}
    row: dict[str, Any] = {"workload": "s10k", "build_cpu_s": 1.0, "disk_mb": 2.0, "one": search}
    rows = [
        {**row, "engine": "assay", "kind": kind, "passages": size}
        for kind in KINDS
        for size in (10_000, 500_000)
    ]
    failed = {"engine": "Chroma", "kind": "dense", "workload": "s10k", "error": "too slow"}
    peer = {**rows[0], "engine": "bm25s", "kind": "dense"}
    results = {"dense": {"rows": [rows[4], peer, failed], "when": "2026-01-01"}}
    results["size"] = {"rows": rows, "when": "2026-01-01"}
    text = index_report.render(json.loads(json.dumps(results)))
    assert "| dense, exact, P95 | ≤ 40 ms | 2 ms | reached |" in text
    assert "| dense, exact, P50 beside bm25s | ≤ 1.10 × | 1 × | reached |" in text
    assert "| Chroma | too slow |" in text
    picture = plot(rows)
    assert picture.count("<polyline") == 4
    assert picture.startswith("<svg")


def test_a_part_of_the_document_is_replaced_alone(tmp_path: Path) -> None:
    document = tmp_path / "B.md"
    write_part("one", "first", document)
    write_part("two", "second", document)
    write_part("one", "third", document)
    assert document.read_text() == (
        "# Benchmarks\n\n<!-- one: begin -->\nthird\n<!-- one: end -->\n\n"
        "<!-- two: begin -->\nsecond\n<!-- two: end -->\n"
    )
