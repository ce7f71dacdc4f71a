"""How does what assay found stand beside the experiments of MLflow?

    >>> from assay import mlflow as log
    >>> with mlflow.start_run():  # doctest: +SKIP
    ...     log.evaluation(workspace.evaluate("test_set_v1"))
    ...     log.gate(workspace.gate("baseline"))

Everything goes into the active run of MLflow, which begins one where there is none, as its own
functions do. MLflow comes with the extra ``mlflow``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.app.comparison import AbTest
from assay.app.evaluation import Evaluated
from assay.evaluation.gate import GateLimit, GateReport
from assay.evaluation.result import EvaluationResult
from assay.extras import import_optional
from assay.render.gate import gate_markdown

FOLDER = "assay"
LONGEST_PARAMETER = 500
_FORBIDDEN = re.compile(r"[^\w\-./ ]")


def evaluation(made: Evaluated | EvaluationResult, *, per_query: bool = True) -> None:
    """The measures with their intervals, the configuration, and the whole result as JSON.

    Of several runs (cross-mode), each measure has the name of its run before it.
    """
    mlflow = import_optional("mlflow")
    if isinstance(made, EvaluationResult):
        _result(mlflow, made, "", per_query=per_query)
    elif made.modes:
        for name, one in made.modes.items():
            _result(mlflow, replace(one.result, info=one.info), f"{name}/", per_query=per_query)
    else:
        _result(mlflow, made.result, "", per_query=per_query)


def ab(tested: AbTest) -> None:
    """The differences with their intervals and p-values, the verdict, and the test as JSON."""
    mlflow = import_optional("mlflow")
    found: dict[str, float | None] = {}
    for one in tested.result.contrasts:
        key = f"ab/{one.measure.key}"
        found |= {
            f"{key}/difference": one.difference,
            f"{key}/ci_low": one.interval.low,
            f"{key}/ci_high": one.interval.high,
            f"{key}/p_holm": one.holm_p,
        }
    mlflow.log_metrics(_metrics(found))
    mlflow.set_tags({"assay.ab": tested.result.primary.ruling.verdict.value})
    mlflow.log_dict(tested.to_dict(), f"{FOLDER}/ab.json")


def gate(report: GateReport) -> None:
    """The outcome as a tag, both sides of each limit, and the report that CI shows."""
    mlflow = import_optional("mlflow")
    found: dict[str, float | None] = {}
    for check in report.checks:
        limit = check.limit
        key = f"gate/{limit.measure.key if isinstance(limit, GateLimit) else limit.name}"
        found |= {f"{key}/baseline": check.baseline, f"{key}/current": check.current}
    mlflow.log_metrics(_metrics(found))
    mlflow.set_tags({"assay.gate": report.outcome.value, "assay.baseline": report.baseline})
    mlflow.log_dict(report.to_dict(), f"{FOLDER}/gate.json")
    mlflow.log_text(gate_markdown(report), f"{FOLDER}/gate.md")


def _result(mlflow: Any, result: EvaluationResult, prefix: str, *, per_query: bool) -> None:
    if (info := result.info) is not None:
        config = {f"{prefix}{key}": value for key, value in info.config.items()}
        mlflow.log_params(_parameters({**config, f"{prefix}part": info.part}))
        mlflow.set_tags(
            {
                f"{prefix}assay.run_id": info.run_id,
                f"{prefix}assay.configuration": info.config_hash,
                f"{prefix}assay.commit": info.commit_hash,
            }
        )
    found: dict[str, float | None] = {}
    for measure in result.scores.measures:
        interval = result.scores.interval(measure)
        found |= {
            f"{prefix}{measure.key}": result[measure],
            f"{prefix}{measure.key}/ci_low": interval.low,
            f"{prefix}{measure.key}/ci_high": interval.high,
        }
    found |= {f"{prefix}{m.key}": one.value for m, one in result.answers.items()}
    times = result.latency
    found |= {
        f"{prefix}latency_ms/mean": times.mean,
        f"{prefix}latency_ms/p50": times.p50,
        f"{prefix}latency_ms/p95": times.p95,
        f"{prefix}failed_queries": float(len(result.failed)),
        f"{prefix}degraded_queries": float(len(result.degraded)),
    }
    mlflow.log_metrics(_metrics(found))
    test_set = result.test_set
    mlflow.set_tags(
        {
            f"{prefix}assay.test_set": f"{test_set.name} {test_set.version}",
            f"{prefix}assay.test_set_checksum": test_set.checksum,
        }
    )
    mlflow.log_dict(result.to_dict(per_query=per_query), f"{FOLDER}/{prefix}evaluation.json")


def _metrics(found: Mapping[str, float | None]) -> dict[str, float]:
    """What has a value, under names that MLflow takes."""
    return {_name(key): value for key, value in found.items() if value is not None}


def _parameters(found: Mapping[str, Any]) -> dict[str, str]:
    return {_name(key): str(value)[:LONGEST_PARAMETER] for key, value in found.items()}


def _name(text: str) -> str:
    return _FORBIDDEN.sub("_", text)
