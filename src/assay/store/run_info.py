"""How does a run become a row, and a row a run?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from assay.model.runs import RunInfo, RunStatus
from assay.store.seals import UNREADABLE, damaged, sealed, unsealed

UNFINISHED = (RunStatus.RUNNING.value, RunStatus.INTERRUPTED.value)


def run_row(info: RunInfo, checksum: str) -> dict[str, Any]:
    """The row of ``eval_runs``; tags have a table of their own."""
    provenance = {
        "chunker_versions": info.chunker_versions,
        "models": dict(info.models),
        "seed": info.seed,
    }
    return {
        "run_id": info.run_id,
        "suite": info.suite,
        "name": info.name,
        "status": info.status.value,
        "test_set_version": info.test_set_version,
        "test_set_checksum": checksum,
        "part": info.part,
        "config_snapshot_json": sealed(
            json.dumps(dict(info.config), sort_keys=True, allow_nan=False)
        ),
        "config_hash": info.config_hash,
        "cache_key": info.cache_key,
        "generation": info.generation,
        "engine": info.engine,
        "provenance_json": sealed(json.dumps(provenance, allow_nan=False)),
        "queries": info.queries,
        "aggregate_json": sealed(json.dumps(dict(info.aggregate), allow_nan=False))
        if info.aggregate
        else None,
        "commit_hash": info.commit_hash,
        "created_at": info.created_at,
        "finished_at": info.finished_at,
        "owner": info.owner,
    }


def run_info(row: Row[Any], tags: Mapping[str, tuple[str, ...]]) -> RunInfo:
    """The run of a row."""
    try:
        return _read(row, tags)
    except UNREADABLE as problem:
        raise damaged(f"the run {row.run_id}", problem) from None


def _read(row: Row[Any], tags: Mapping[str, tuple[str, ...]]) -> RunInfo:
    provenance = unsealed(row.provenance_json)
    return RunInfo(
        run_id=row.run_id,
        suite=row.suite,
        test_set_version=row.test_set_version,
        test_set_checksum=row.test_set_checksum,
        config=unsealed(row.config_snapshot_json),
        config_hash=row.config_hash,
        cache_key=row.cache_key,
        created_at=row.created_at,
        status=RunStatus(row.status),
        generation=row.generation,
        engine=row.engine,
        name=row.name,
        part=row.part,
        owner=row.owner,
        chunker_versions=tuple(provenance["chunker_versions"]),
        models=provenance["models"],
        seed=provenance["seed"],
        commit_hash=row.commit_hash,
        finished_at=row.finished_at,
        tags=tags.get(row.run_id, ()),
        queries=row.queries,
        aggregate=unsealed(row.aggregate_json) if row.aggregate_json else {},
    )
