"""How is a run file evaluated as if its engine were here?"""

from __future__ import annotations

import hashlib
from pathlib import Path

from assay.errors import MissingFileError
from assay.hits.run import load_run
from assay.model.ranking import RankBy, RankByName, document_id
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.system import System
from assay.model.testset import GoldenQuery


def run_file_system(path: str, rank_by: RankByName | None = None) -> System:
    """The system whose answers stand in a file: TREC, JSON, JSON lines or parquet.

    ``rank_by`` None keeps the order of lists and ranks tables of scores by score.
    """
    run = load_run(path, None if rank_by is None else RankBy(rank_by))
    try:
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise MissingFileError(f"cannot read {path}: {problem.strerror}") from None

    def answer(query: GoldenQuery) -> QueryOutcome:
        results = tuple(
            RankedResult(one.id, one.doc_id or document_id(one.id), one.score, one.spans)
            for one in run.get(query.query_id, [])
        )
        return QueryOutcome(query.query_id, results, latency_ms=None)

    config = {"run_file": Path(path).name, "sha256": digest}
    return System(
        answer, config, engine="run file", generation=digest, keeps_time=True, timed=False
    )
