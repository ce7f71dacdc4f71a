"""Do the congruence report and the benchmark of a cluster work, on something small?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import cluster, cluster_report, cluster_worker, index_data, search_data, search_worker
from bench.index_data import Workload
from bench.search_data import Questions
from bench.search_engines import Assay
from reproduce import congruence, data
from tests.cluster.nodes import ClusterProcesses

DOCUMENTS = {
    "d1": ("Statins", "Statins lower cholesterol and prevent heart attacks."),
    "d2": ("Aspirin", "Aspirin thins the blood and may cause bleeding of the stomach."),
    "d3": ("Metformin", "Metformin lowers blood sugar in type 2 diabetes."),
    "d4": ("Asthma", "Inhaled steroids reduce attacks of asthma in children."),
}
QUERIES = {"q1": ("what prevents heart attacks", "d1"), "q2": ("diabetes blood sugar", "d3")}


def beir(folder: Path) -> Path:
    rows = [{"_id": name, "title": t, "text": x} for name, (t, x) in DOCUMENTS.items()]
    asked = [{"_id": name, "text": text} for name, (text, _) in QUERIES.items()]
    (folder / "qrels").mkdir(parents=True)
    for name, lines in (("corpus", rows), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    judged = [f"{query}\t{document}\t1" for query, (_, document) in QUERIES.items()]
    (folder / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *judged]))
    return folder


def test_congruence(
    nodes: ClusterProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "WORK", tmp_path / "work")
    rows = congruence.compare("small", beir(tmp_path / "small"), " ".join(nodes.urls), 2)
    assert [row.name for row in rows] == ["bm25", "splade", "dense", "rrf", "bm25 by shard"]
    for row in rows:
        assert row.queries == 2
        assert row.sound
        assert row.embedded > 0.6
    assert rows[2].overlap == 1.0
    assert "| dense |" in congruence.table("small", rows)


def test_the_benchmark(
    nodes: ClusterProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (index_data, search_worker):
        monkeypatch.setattr(module, "HERE", tmp_path)
    monkeypatch.setattr(search_data, "ASKED_QUICK", 10)
    monkeypatch.setattr(cluster_worker, "WARM_S", 1.0)
    monkeypatch.setitem(index_data.SPECS, "tiny", index_data.Spec("tiny", 600))
    made = Workload("tiny")
    for kind in ("bm25", "splade", "dense"):
        made.ensure(kind)
    search_worker.build(Assay(made, Questions(made)), search_worker.folder_of("assay", "tiny"))
    results: dict[str, object] = {}
    cluster.measure(results, [*cluster.SECTIONS], made, " ".join(nodes.urls), keep=False)
    found = json.loads(json.dumps(results))
    assert set(found["search"]["cluster"]) == {*cluster_worker.WAYS, "hybrid, 2 callers"}
    assert found["search"]["nearest"] > 0.9
    assert 0 < found["layer"]["outside"]["p50"] < found["layer"]["assay"]["p50"]
    assert found["layer"]["assay"]["n"] == found["layer"]["msearch"]["n"] == 10
    assert found["ingest"]["cluster"]["total_s"] >= found["ingest"]["cluster"]["sent_s"] > 0
    text = cluster_report.render(found)
    assert "600 made-up passages, 3 shards with 1 copy each" in text
    assert "**our layer**" in text
