"""Does what assay found stand in the experiments of MLflow? MLflow keeps them for real."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import extras
from assay import mlflow as log
from assay.app.workspace import Workspace
from assay.errors import MissingDependencyError
from tests.unit.app.results import GOLDEN, evaluated


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with evaluated(tmp_path_factory.mktemp("mlflow") / "home") as workspace:
        yield workspace


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A run of MLflow; called, it says what was kept of it."""
    mlflow = pytest.importorskip("mlflow", reason="the extra mlflow is not installed")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    with mlflow.start_run() as run:

        def read(name: str = "") -> Any:
            if name:
                path = mlflow.artifacts.download_artifacts(
                    run_id=run.info.run_id, artifact_path=name
                )
                return Path(path).read_text(encoding="utf-8")
            return mlflow.get_run(run.info.run_id).data

        yield read


@pytest.mark.filterwarnings("default")  # those of MLflow
def test_an_evaluation_is_kept_with_its_configuration(here: Workspace, kept: Any) -> None:
    made = here.evaluate(GOLDEN, name="wide")
    log.evaluation(made)
    data = kept()
    assert data.metrics["recall_at_10"] == made["Recall@10"]
    assert data.metrics["recall_at_10/ci_low"] == made.scores.interval("Recall@10").low
    assert data.metrics["latency_ms/p95"] == made.latency.p95
    assert data.params["rrf_k"] == "60"
    assert data.tags["assay.run_id"] == made.run_id
    assert data.tags["assay.test_set_checksum"] == GOLDEN.checksum
    whole = json.loads(kept("assay/evaluation.json"))
    assert set(whole["per_query"]) == {"q1", "q2", "q3", "q4"}


@pytest.mark.filterwarnings("default")
def test_gates_and_tests_are_kept(here: Workspace, kept: Any) -> None:
    report, tested = here.gate("wide", "narrow"), here.ab("wide", "narrow")
    log.gate(report)
    log.ab(tested)
    data = kept()
    assert data.tags["assay.gate"] == "failed"
    assert data.metrics["gate/recall_at_10/current"] == report.checks[0].current
    assert data.tags["assay.ab"] == tested.result.primary.ruling.verdict.value
    assert data.metrics["ab/ndcg_at_10/difference"] == tested.result.primary.difference
    assert "❌ failed" in kept("assay/gate.md")
    assert json.loads(kept("assay/ab.json"))["run_b"] == tested.b.name


@pytest.mark.filterwarnings("default")
def test_a_function_that_was_evaluated_is_kept(kept: Any) -> None:
    result = assay.evaluate(lambda text: ["d1", "d3"], GOLDEN, "MRR")
    log.evaluation(result, per_query=False)
    assert kept().metrics["mrr"] == result["MRR"]
    assert "per_query" not in json.loads(kept("assay/evaluation.json"))


def test_without_mlflow_the_extra_is_named(
    here: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(name: str) -> object:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(extras, "import_module", gone)
    with pytest.raises(MissingDependencyError, match="the extra mlflow"):
        log.gate(here.gate("wide", "narrow"))
