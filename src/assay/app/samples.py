"""Which queries of real people should be judged next?"""

from __future__ import annotations

from pathlib import Path

from assay import limits
from assay.annotation.candidates import QueryCandidate, gathered, read_candidates
from assay.annotation.draw import DEFAULT_SEED, Sample, Strategy, draw
from assay.annotation.similar import Encode
from assay.app.workspace import Workspace
from assay.model.arrays import FloatArray
from assay.model.testset import TestSet
from assay.search.query_type import classify
from assay.store.query_log import QueryLog

DEFAULT_COUNT = 30  # twenty to replace, and half as many to spare: some have no relevant passage


def sample(
    workspace: Workspace,
    test_set: TestSet,
    *,
    path: Path | None = None,
    strategy: Strategy = Strategy.RANDOM,
    count: int = DEFAULT_COUNT,
    seed: int = DEFAULT_SEED,
    since: str = "",
    dense: bool = True,
) -> Sample:
    """Draw queries from the log of this workspace, or from a file.

    ``dense`` compares meanings too, where the workspace has a model for it.
    """
    found = read_candidates(path) if path is not None else logged(workspace, since=since)
    taken = [query_id for held in _rounds(workspace) for query_id in held]
    return draw(
        found,
        test_set,
        classify,
        count=count,
        strategy=strategy,
        seed=seed,
        encode=_encode(workspace) if dense else None,
        taken=taken,
    )


def logged(workspace: Workspace, *, since: str = "") -> tuple[QueryCandidate, ...]:
    """What was searched for, without what a degraded search answered."""
    workspace.require()
    log = QueryLog(workspace.home / "assay.db")
    try:
        rows = log.wordings(since=since, limit=limits.MAX_CANDIDATES, degraded=False)
    finally:
        log.close()
    return gathered(
        QueryCandidate(row.query, row.times, row.zero_results, row.mean_top_score) for row in rows
    )


def _rounds(workspace: Workspace) -> list[list[str]]:
    """The ids that open and past rounds use; a new query gets none of them."""
    if not workspace.exists():
        return []
    store = workspace.annotations
    return [[query.query_id for query in store.queries(one.round_id)] for one in store.rounds()]


def _encode(workspace: Workspace) -> Encode | None:
    encoder = workspace.dense_encoder
    if encoder is None:
        return None

    def encode(texts: list[str]) -> FloatArray:
        return encoder.encode(texts, "query").astype("float64")

    return encode
