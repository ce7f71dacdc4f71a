"""Which made-up test set and outcomes are evaluated and compared?"""

from __future__ import annotations

import random

from assay.model.runs import QueryOutcome, RankedResult
from assay.model.testset import GoldenQuery, Judgment, QueryType, TestSet

KEPT = 100  # results of a query, and candidates of a component
COMPONENTS = ("bm25", "splade", "dense")


def golden(count: int) -> TestSet:
    """Queries with five judged chunks each."""
    draw = random.Random(1)
    types = list(QueryType)
    return TestSet(
        "bench",
        "v1",
        tuple(
            GoldenQuery(
                f"q{at}",
                f"question {at}",
                types[at % 3],
                relevant_docs=tuple(
                    Judgment(
                        f"PMC{draw.randrange(300)}:chunk_{draw.randrange(10)}",
                        draw.randrange(1, 4),
                    )
                    for _ in range(5)
                ),
            )
            for at in range(count)
        ),
    )


def prepared(test_set: TestSet, seed: int) -> dict[str, QueryOutcome]:
    """What a hybrid search would have found: 100 results, three lists of 100, with all scores."""
    draw = random.Random(seed)
    names = [f"PMC{n // 10}:chunk_{n % 10}" for n in range(3000)]
    return {query.query_id: _outcome(query, names, draw) for query in test_set.queries}


def _outcome(query: GoldenQuery, names: list[str], draw: random.Random) -> QueryOutcome:
    ids = draw.sample(names, 2 * KEPT)
    for judgment in query.relevant_docs[: draw.randrange(4)]:
        ids[draw.randrange(20)] = judgment.id
    ids = list(dict.fromkeys(ids))
    lists = {name: tuple(ids[at * 40 : at * 40 + KEPT]) for at, name in enumerate(COMPONENTS)}
    scores = {name: tuple(1 / (at + 1.7) for at in range(len(one))) for name, one in lists.items()}
    places = {name: {one: at for at, one in enumerate(found)} for name, found in lists.items()}
    return QueryOutcome(
        query.query_id,
        tuple(
            RankedResult(
                one,
                one.split(":")[0],
                0.1 / (rank + 3),
                ((0, 900),),
                "sections-v1",
                {name: scores[name][at[one]] for name, at in places.items() if one in at},
                {name: at[one] + 1 for name, at in places.items() if one in at},
            )
            for rank, one in enumerate(ids[:KEPT])
        ),
        latency_ms=4.2,
        component_lists=lists,
        component_list_scores=scores,
        fused=tuple(ids),
    )
