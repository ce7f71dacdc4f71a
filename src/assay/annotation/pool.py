"""Which passages should be judged so that no system is favoured?

The best results of every list (each component, their fusion, stored runs) are pooled to the same
depth. ``holes`` are passages in the pool of a judged query that were never judged; ``Judged@10`` of
each list shows how many there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.errors import UsageError
from assay.evaluation.score import score_quietly
from assay.limits import MAX_POOL_DEPTH
from assay.model.ranking import document_id
from assay.model.testset import GoldenQuery

DEFAULT_DEPTH = 20
HOLES_MEASURE = "Judged@10"


@dataclass(frozen=True, slots=True)
class Lists:
    """What each list returned for one query: chunk ids, best first."""

    query_id: str
    lists: Mapping[str, Sequence[str]]


def pooled(
    lists: Mapping[str, Sequence[str]], depth: int = DEFAULT_DEPTH
) -> dict[str, dict[str, int]]:
    """Every chunk among the best ``depth`` of any list, with its rank in each."""
    check_depth(depth)
    found: dict[str, dict[str, int]] = {}
    for name in sorted(lists):
        for rank, chunk_id in enumerate(dict.fromkeys(lists[name]), 1):
            if rank > depth:
                break
            found.setdefault(chunk_id, {})[name] = rank
    return dict(sorted(found.items()))


def check_depth(depth: int) -> None:
    """Raise an error for an impossible depth."""
    if not 1 <= depth <= MAX_POOL_DEPTH:
        raise UsageError(f"a depth of {depth} is not possible", hint=f"1 to {MAX_POOL_DEPTH}")


def holes(
    query: GoldenQuery, lists: Mapping[str, Sequence[str]], depth: int = DEFAULT_DEPTH
) -> dict[str, dict[str, int]]:
    """The passages in the pool of a judged query that were never judged."""
    judged = {one.id for one in query.relevant_docs}
    whole = {one.id for one in query.relevant_docs if not one.spans}
    return {
        chunk_id: ranks
        for chunk_id, ranks in pooled(lists, depth).items()
        if chunk_id not in judged and document_id(chunk_id) not in whole
    }


def judged_share(queries: Sequence[GoldenQuery], every: Sequence[Lists]) -> dict[str, float | None]:
    """``Judged@10`` of each list over these queries."""
    qrels = {
        query.query_id: {one.id: one.grade for one in query.relevant_docs}
        for query in queries
        if query.relevant_docs
    }
    names = sorted({name for one in every for name in one.lists})
    found: dict[str, float | None] = {}
    for name in names:
        run = {one.query_id: list(one.lists.get(name, ())) for one in every}
        run = {query_id: ids for query_id, ids in run.items() if query_id in qrels and ids}
        found[name] = score_quietly(qrels, run, HOLES_MEASURE)[HOLES_MEASURE] if run else None
    return found
