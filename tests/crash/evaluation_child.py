"""Runs an evaluation of 500 queries until it is killed, saying on stdout what it asked.

Called as ``python -m tests.crash.evaluation_child DATABASE``. At the end it prints ``done`` and the
digest of what the store holds.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from assay.evaluation.outcomes import outcomes_digest
from assay.evaluation.parts import part_of
from assay.evaluation.record import RecordOptions, record
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.system import System
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.store.owner import this_process
from assay.store.runs import SqlRunStore

QUERIES = 500


def test_set() -> TestSet:
    queries = (
        GoldenQuery(f"q{at}", f"question {at}", relevant_docs=(Judgment(f"d{at % 7}", 1),))
        for at in range(QUERIES)
    )
    return TestSet("crash", "v1", tuple(queries))


def answer(query: GoldenQuery) -> QueryOutcome:
    print(query.query_id, flush=True)
    order = sorted(
        range(20), key=lambda n: hashlib.sha256(f"{query.query_id} {n}".encode()).digest()
    )
    return QueryOutcome(
        query.query_id,
        tuple(RankedResult(f"d{n}", f"d{n}", 1.0 / at) for at, n in enumerate(order, 1)),
        component_lists={"bm25": tuple(f"d{n}" for n in order)},
    )


def main() -> None:
    store = SqlRunStore(Path(sys.argv[1]))
    system = System(answer, {"engine": "crash"}, generation="1")
    made = record(system, part_of(test_set()), store, RecordOptions(owner=this_process()))
    print("done", made.info.run_id, outcomes_digest(store.outcomes(made.info.run_id)), flush=True)


if __name__ == "__main__":
    main()
