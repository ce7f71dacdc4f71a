"""How does the result of the evaluation workflow become a stored run?

It has numbers and no rankings: the run keeps the numbers as its aggregate, so that it stands in
listings and in the history of its dataset. The same result again changes nothing, another one
under the same id is refused.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

from assay.errors import ConflictError
from assay.http.wire.workflow import SaveRequest
from assay.model.run_store import RunStore
from assay.model.runs import RunInfo, RunStatus
from assay.model.testset import TestSet

ENGINE = "workflow"


def save_evaluation(store: RunStore, asked: SaveRequest) -> dict[str, Any]:
    """Store a result, or find that it is stored."""
    body = asked.model_dump()
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    empty = TestSet(asked.dataset_id, "as-saved", ())
    info = RunInfo(
        run_id=asked.evaluation_id,
        suite=asked.dataset_id,
        test_set_version=empty.version,
        test_set_checksum=empty.checksum,
        config=asked.retrieval_config,
        config_hash=hashlib.sha256(
            json.dumps(asked.retrieval_config, sort_keys=True).encode()
        ).hexdigest(),
        cache_key=f"saved-{digest}",
        created_at=moment,
        engine=ENGINE,
        queries=asked.total_queries,
    )
    try:
        store.begin(info, empty)
    except ConflictError:
        known = store.run(asked.evaluation_id)
        if known.cache_key != info.cache_key:
            raise ConflictError(
                f"the evaluation {asked.evaluation_id} is stored with another result",
                hint="use another evaluation_id for another result",
            ) from None
        moment = known.created_at
        if known.status is RunStatus.COMPLETE:
            return _answer(asked, moment)
    store.finish(asked.evaluation_id, _aggregate(asked), finished_at=moment)
    return _answer(asked, moment)


def _answer(asked: SaveRequest, moment: str) -> dict[str, Any]:
    return {"evaluation_id": asked.evaluation_id, "status": "saved", "timestamp": moment}


def _aggregate(asked: SaveRequest) -> dict[str, Any]:
    return {
        "metrics": dict(asked.overall_metrics),
        "per_speaker": {
            str(name): dict(row) for name, row in asked.speaker_specific_metrics.items()
        },
        "total_queries": asked.total_queries,
        "skipped_queries": asked.skipped_queries,
        "per_query": [row.model_dump() for row in asked.per_query],
        "timestamp": asked.timestamp,
    }
