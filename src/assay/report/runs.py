"""How do stored runs read: one after the other, and one in full?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.model.runs import RunInfo
from assay.report.tables import Table

SHOWN_MEASURES = ("ndcg_at_10", "recall_at_10", "mrr")


def runs_table(runs: Sequence[RunInfo]) -> Table:
    """A line for each run, with the measures that most runs have."""
    rows = []
    for info in runs:
        metrics = info.aggregate.get("metrics", {})
        rows.append(
            (
                info.run_id,
                info.name,
                f"{info.suite} {info.test_set_version}"
                + ("" if info.part == "all" else f" ({info.part})"),
                str(info.status),
                str(info.queries),
                *(_value(metrics.get(name)) for name in SHOWN_MEASURES),
                ", ".join(info.tags),
            )
        )
    return Table(
        ("run", "name", "test set", "status", "queries", "nDCG@10", "Recall@10", "MRR", "tags"),
        tuple(rows),
        text_columns=frozenset({0, 1, 2, 3, 8}),
    )


def as_json(info: RunInfo) -> dict[str, Any]:
    """Everything that is known of a run, but for its outcomes."""
    return {
        "run_id": info.run_id,
        "name": info.name,
        "suite": info.suite,
        "test_set_version": info.test_set_version,
        "test_set_checksum": info.test_set_checksum,
        "part": info.part,
        "status": str(info.status),
        "created_at": info.created_at,
        "finished_at": info.finished_at,
        "queries": info.queries,
        "tags": list(info.tags),
        "engine": info.engine,
        "generation": info.generation,
        "config": dict(info.config),
        "config_hash": info.config_hash,
        "cache_key": info.cache_key,
        "commit_hash": info.commit_hash,
        "models": dict(info.models),
        "chunker_versions": list(info.chunker_versions),
        "seed": info.seed,
        "aggregate": dict(info.aggregate),
    }


def _value(value: float | None) -> str:
    return "—" if value is None else f"{value:.4f}"
