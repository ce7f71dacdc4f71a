"""How do stored runs look under the old and the new version of a test set?

Scores on two versions cannot be compared directly: they measure different queries. What can be
compared is each run on the queries that stayed, on those that were removed and, if it was run on
them, on all queries of the new version; and whether the order of runs changes. The held-out part is
not used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from assay.evaluation.outcomes import score_run
from assay.evaluation.scores import rounded
from assay.evaluation.stored_run import StoredRun
from assay.model.testset import GoldenQuery, TestSet

MEASURE = "nDCG@10"
PARTS = ("before", "kept", "retired", "after")


@dataclass(frozen=True, slots=True)
class RunEffect:
    """One run: its mean per part and the number of queries; None if it was not run on them."""

    run_id: str
    name: str
    values: Mapping[str, float | None]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Effect:
    """How the scores of stored runs change with the version."""

    measure: str
    sizes: Mapping[str, int]
    runs: tuple[RunEffect, ...]
    pairs: int
    swapped: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "measure": self.measure,
            "queries": dict(self.sizes),
            "runs": [
                {
                    "run_id": one.run_id,
                    "name": one.name,
                    **{part: rounded(one.values[part]) for part in PARTS},
                    "counts": dict(one.counts),
                }
                for one in self.runs
            ],
            "pairs_of_runs": self.pairs,
            "pairs_in_another_order": self.swapped,
        }


def effect(
    before: TestSet, after: TestSet, runs: Sequence[StoredRun], measure: str = MEASURE
) -> Effect:
    """Stored runs scored under both versions, by the judgments of each."""
    old, new = before.evaluation_queries, after.evaluation_queries
    staying = {query.query_id for query in new} & {query.query_id for query in old}
    parts: dict[str, tuple[GoldenQuery, ...]] = {
        "before": old,
        "kept": tuple(query for query in new if query.query_id in staying),
        "retired": tuple(query for query in old if query.query_id not in staying),
        "after": new,
    }
    rows = tuple(_run(run, parts, measure) for run in runs)
    comparable = [
        (row.values["before"], row.values["after"])
        for row in rows
        if row.values["before"] is not None and row.values["after"] is not None
    ]
    pairs = list(combinations(comparable, 2))
    swapped = sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in pairs)
    sizes = {part: len(queries) for part, queries in parts.items()}
    return Effect(measure, sizes, rows, len(pairs), swapped)


def query_values(
    runs: Sequence[StoredRun], queries: Sequence[GoldenQuery]
) -> dict[str, list[float]]:
    """The score of each query in each run that has it, to find saturated queries."""
    found: dict[str, list[float]] = {}
    for run in runs:
        done = [query for query in queries if query.query_id in run.by_query and query.judged]
        if done:
            for query_id, value in score_run(run, MEASURE, queries=done).per_query(MEASURE).items():
                if value is not None:
                    found.setdefault(query_id, []).append(value)
    return found


def _run(run: StoredRun, parts: Mapping[str, tuple[GoldenQuery, ...]], measure: str) -> RunEffect:
    values: dict[str, float | None] = {}
    counts: dict[str, int] = {}
    for part, queries in parts.items():
        done = [query for query in queries if query.query_id in run.by_query and query.judged]
        counts[part] = len(done)
        whole = part != "after" or len(done) == sum(query.judged for query in queries)
        values[part] = score_run(run, measure, queries=done)[measure] if done and whole else None
    return RunEffect(run.name, run.info.name, values, counts)
