"""How long do two configurations take, measured so that nothing else differs?

Both are asked each query one right after the other, in turns first and second, several times over.
So what else the machine does, and what one of them leaves warm for the other, hits both alike.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay import limits
from assay.errors import AssayError
from assay.evaluation.ab import Timings

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.model.system import System
    from assay.model.testset import GoldenQuery

REPEATS = 3


def timings(
    workspace: Workspace,
    configurations: tuple[Mapping[str, Any], Mapping[str, Any]],
    queries: Sequence[GoldenQuery],
    *,
    repeats: int = REPEATS,
    seed: int,
) -> Timings:
    """The times of both configurations; the first pass over the queries warms up and is dropped.

    Of many queries some are drawn. One that fails on either side is left out.
    """
    workspace.searcher.refresh()
    sides = tuple(workspace.system(**changes) for changes in configurations)
    asked = _drawn(queries, seed)
    passes: list[dict[str, tuple[float, float]]] = []
    for number in range(repeats + 1):
        found = {
            query.query_id: pair
            for at, query in enumerate(asked)
            if (pair := _pair(sides, query, swapped=(at + number) % 2 == 1)) is not None
        }
        passes.append(found)
    whole = [query.query_id for query in asked if all(query.query_id in one for one in passes)]
    return Timings({name: tuple(one[name] for one in passes[1:]) for name in whole}, repeats)


def _drawn(queries: Sequence[GoldenQuery], seed: int) -> list[GoldenQuery]:
    if len(queries) <= limits.MAX_TIMED_QUERIES:
        return list(queries)
    places = random.Random(seed).sample(range(len(queries)), limits.MAX_TIMED_QUERIES)  # noqa: S311
    return [queries[place] for place in sorted(places)]


def _pair(
    sides: Sequence[System], query: GoldenQuery, *, swapped: bool
) -> tuple[float, float] | None:
    took: dict[int, float] = {}
    for side in (1, 0) if swapped else (0, 1):
        try:
            took[side] = sides[side].retrieve(query).latency_ms
        except AssayError:
            return None
    return took[0], took[1]
