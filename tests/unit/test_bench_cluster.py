"""Does the benchmark of a cluster ask what our components ask, and say what it measured?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import cluster, cluster_report, cluster_worker, index_data, search_data
from bench.index_data import Workload
from bench.search_data import Questions
from reproduce import congruence

ROW = {"p50": 10.0, "p95": 20.0, "n": 5, "least": 9.0, "most": 11.0, "qps": 90.0, "others": 0.5}


@pytest.fixture
def questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Questions:
    monkeypatch.setattr(index_data, "HERE", tmp_path)
    monkeypatch.setattr(search_data, "ASKED_QUICK", 3)
    monkeypatch.setitem(index_data.SPECS, "tiny", index_data.Spec("tiny", 200))
    data = Workload("tiny")
    for kind in ("bm25", "splade", "dense"):
        data.ensure(kind)
    return Questions(data)


@pytest.mark.slow
def test_raw_calls_are_those_of_the_components(questions: Questions) -> None:
    noted = cluster_worker.requests_of(questions, "passages-000001", 3)
    assert len(noted) == 3
    for question in noted:
        paths = [path for path, _ in question]
        assert all(path.startswith("/passages-000001/_search?") for path in paths)
        whole = ["search_type=dfs_query_then_fetch" in path for path in paths]
        assert whole == [True, False, False], "only words have statistics"
        assert "knn" in question[2][1]["query"]
    lines = [*cluster_worker.msearch_lines("passages-000001", noted[0])]
    assert json.loads(lines[0])["search_type"] == "dfs_query_then_fetch"
    assert [json.loads(line) for line in lines[1::2]] == [body for _, body in noted[0]]


def test_spread_tells_how_far_blocks_lie_apart() -> None:
    found = cluster_worker.spread([1.0] * 10 + [3.0] * 10)
    assert (found["least"], found["most"], found["n"]) == (1.0, 3.0, 20)


def test_the_report() -> None:
    rows = dict.fromkeys((*cluster_worker.WAYS, "hybrid, 2 callers"), ROW)
    results: dict[str, Any] = {
        "search": {"embedded": rows, "cluster": rows, "nearest": 0.98, "load": 9.5},
        "layer": {
            **dict.fromkeys(cluster_report.NAMES, ROW),
            "stages": {"total": 9.5},
            "load": 9.5,
        },
        "workload": "real",
        "passages": 75_862,
        "layout": {"shards": 3, "replicas": 1, "heap": "1g"},
    }
    text = cluster_report.render(results)
    assert "75,862 passages, 3 shards with 1 copy each, 1g of heap a node." in text
    assert (
        "| our layer over the raw calls, processor time, P50 | ≤ 3 ms | 10 ms | **missed** |"
        in text
    )
    assert "| hybrid | 10.00 / 20.00 | 9.00–11.00 | 10.00 / 20.00 | 9.00–11.00 | 1.0 |" in text
    assert "The load average was 9.5 on " in text
    assert "98.0% of the true 100 nearest" in text


def test_unknown_sections_are_refused() -> None:
    with pytest.raises(SystemExit, match="--only takes ingest, search, layer, not x"):
        cluster.main(["--only", "x"])


def test_congruence_names_what_is_too_far_apart() -> None:
    near = congruence.Row("dense", 0.7, 0.704, 3, 300, 0.99)
    far = congruence.Row("splade", 0.7, 0.706, 3, 300, 0.99)
    told = congruence.Row("bm25 by shard", 0.7, 0.65, 90, 300, 0.8)
    assert (near.sound, far.sound, told.sound) == (True, False, True)
    text = congruence.table("scifact", [near, far, told])
    assert "| dense | 0.7000 | 0.7040 | +0.0040 | ± 0.005 | 3 of 300 | 99.0% shared |" in text
    assert "**missed**" in text.splitlines()[3]
