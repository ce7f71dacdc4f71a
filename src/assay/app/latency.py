"""How long do two configurations take, measured so that nothing else differs?

Both are asked each query one right after the other, in turns first and second, several times over.
So what else the machine does, and what one of them leaves warm for the other, hits both alike.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay import limits
from assay.app.engine import Progress, silent
from assay.errors import AssayError, UsageError
from assay.evaluation.compare import common_queries
from assay.model.runs import Timings

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.model.system import System
    from assay.model.testset import GoldenQuery

REPEATS = 3


def check_repeats(repeats: int) -> None:
    """Refuse a number of passes that nobody could wait for."""
    if not 0 <= repeats <= limits.MAX_LATENCY_REPEATS:
        raise UsageError(
            f"latency_repeats: must be between 0 and {limits.MAX_LATENCY_REPEATS}, not {repeats}"
        )


def time_runs(
    workspace: Workspace, a: str, b: str, *, repeats: int, seed: int, progress: Progress = silent
) -> Timings:
    """The times of the configurations of two runs, asked anew what both runs were asked."""
    from assay.app.evaluated_system import system_of_run

    runs = tuple(workspace.stored_run(ref, depth=1) for ref in (a, b))
    for run in runs:
        if not run.info.ours:
            raise UsageError(
                f"{run.name} was made by {run.info.engine}, which cannot be timed here",
                hint="time two configurations of our own search, or leave latency_repeats out",
            )
    workspace.searcher.refresh()
    sides = system_of_run(workspace, runs[0].info), system_of_run(workspace, runs[1].info)
    queries = common_queries(*runs).queries
    return timings(sides, queries, repeats=repeats, seed=seed, progress=progress)


def timings(
    sides: tuple[System, System],
    queries: Sequence[GoldenQuery],
    *,
    repeats: int = REPEATS,
    seed: int,
    progress: Progress = silent,
) -> Timings:
    """The times of both sides; the first pass over the queries warms up and is dropped.

    Of many queries some are drawn. One that fails on either side is left out.
    """
    asked = _drawn(queries, seed)
    passes: list[dict[str, tuple[float, float]]] = []
    for number in range(repeats + 1):
        found: dict[str, tuple[float, float]] = {}
        for at, query in enumerate(asked):
            pair = _pair(sides, query, swapped=(at + number) % 2 == 1)
            if pair is not None:
                found[query.query_id] = pair
            progress("latency", number * len(asked) + at + 1, (repeats + 1) * len(asked))
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
