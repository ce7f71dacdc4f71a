"""Three commands from a public collection to a figure that trec_eval agrees with."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import run

pytrec_eval = pytest.importorskip("pytrec_eval")
MEASURES = "nDCG(gain=linear)@10 nDCG@10 Recall@100 MAP"


@pytest.mark.slow
def test_ingest_import_run_equals_score_and_trec_eval(
    shared_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    scifact = shared_data / "scifact"
    for name in ("DENSE", "SPLADE"):
        monkeypatch.setenv(f"ASSAY_{name}_MODEL", "none")
    monkeypatch.setenv("ASSAY_RESAMPLES", "100")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Any:
        capsys.readouterr()
        assert run([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    call("ingest", str(scifact))
    call("testset", "import", str(scifact), "--split", "test")
    plain = call("eval", "run", "-t", "scifact", "-m", MEASURES)
    assert plain["scored_queries"] == 300
    assert run(["eval", "export", "latest", "--trec", "--documents", "-o", "run.trec"]) == 0

    qrels = str(scifact / "qrels" / "test.tsv")
    scored = call("score", "--qrels", qrels, "--run", "run.trec", "-m", MEASURES)
    assert scored["metrics"] == {key: plain["metrics"][key] for key in scored["metrics"]}

    theirs = pytrec_eval.RelevanceEvaluator(_judgments(Path(qrels)), {"ndcg_cut.10", "map"})
    values = theirs.evaluate(_run(Path("run.trec"))).values()
    for name, key in (("ndcg_cut_10", "ndcg_gain_linear_at_10"), ("map", "mean_average_precision")):
        mean = sum(value[name] for value in values) / len(values)
        assert round(mean, 4) == plain["metrics"][key]
    assert 0.67 < plain["metrics"]["ndcg_at_10"] < 0.72  # BM25 on SciFact, as published


def _judgments(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            found.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    return found


def _run(path: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, name, _, score, _ = line.split()
        found.setdefault(query, {})[name] = float(score)
    return found
