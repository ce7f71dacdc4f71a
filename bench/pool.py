"""Which chunks do searches bring up that nobody has judged?

Judgments are as complete as the pool they were made from. Run this after a component, a model or a
chunker has changed, read what it prints, and judge it::

    python -m bench.pool test_set_v1 --home .assay/demo [--rerank MODEL] [--text]

Every component alone, both fusions with and without boosts and, with ``--rerank``, the
cross-encoder are asked for their best chunks (``--depth``, 20).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import assay
from assay.model.document import Chunk, SpeakerRole
from assay.model.query import Filters
from assay.model.testset import GoldenQuery, SpeakerFilter
from assay.search.request import COMPONENTS, FusionMethod

DEPTH = 20
PATIENCE_MS = 60_000.0  # a pool with a component missing would be no pool


def main() -> None:
    """Print every pooled chunk without a judgment, query by query."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("test_set")
    parser.add_argument("--home", type=Path, required=True, help="a workspace with an index")
    parser.add_argument("--depth", type=int, default=DEPTH)
    parser.add_argument("--rerank", metavar="MODEL", help="ask this cross-encoder too (slow)")
    parser.add_argument("--text", action="store_true", help="print the text of each chunk")
    given = parser.parse_args()
    missing = 0
    with assay.open(given.home) as workspace:
        for query in assay.load_test_set(given.test_set).queries:
            judged = {judgment.id for judgment in query.relevant_docs}
            pool: dict[str, Chunk] = {}
            for changes in ways(given.rerank):
                found = workspace.search(
                    query.query_text,
                    k=given.depth,
                    query_type=query.query_type,
                    filters=filters(query),
                    component_timeout_ms=PATIENCE_MS,
                    **changes,
                )
                pool |= {hit.chunk.chunk_id: hit.chunk for hit in found.results}
            unjudged = sorted(pool.keys() - judged)
            missing += len(unjudged)
            print(f"{query.query_id}  {len(unjudged)} of {len(pool)}  {query.query_text}")
            for name in unjudged:
                print(f"    {name}  {pool[name].title}")
                if given.text:
                    print("\n".join(f"        {line}" for line in pool[name].text.splitlines()))
    print(f"{missing} chunks are not judged")


def ways(reranker: str | None) -> Iterator[dict[str, Any]]:
    """The searches whose results are pooled."""
    for name in COMPONENTS:
        yield {"components": (name,), "boosts": False}
    for method in FusionMethod:
        for boosts in (False, True):
            yield {"fusion_method": method, "boosts": boosts}
    if reranker:
        yield {"rerank": True, "reranker": reranker, "rerank_timeout_ms": PATIENCE_MS}


def filters(query: GoldenQuery) -> Filters:
    """What the query restricts its results to."""
    everyone = query.speaker_filter is SpeakerFilter.ALL
    return Filters(
        speaker_role=() if everyone else (SpeakerRole(query.speaker_filter.value),),
        ingestion_mode=() if query.ingestion_mode is None else (query.ingestion_mode,),
    )


if __name__ == "__main__":
    main()
