"""How would the lists of a stored run have been fused under other settings?

Nothing is searched: the lists and their scores are those that the run kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from assay.model.query import Hit
from assay.model.runs import QueryOutcome
from assay.model.testset import GoldenQuery
from assay.search.fusion import fuse
from assay.search.query_type import classify
from assay.search.request import SearchOptions
from assay.search.run_config import options_from

# (query, its outcome, the components that take part) to the ids in fused order
FuseAgain: TypeAlias = Callable[[GoldenQuery, QueryOutcome, Sequence[str]], list[str]]


def lists_of(outcome: QueryOutcome, components: Sequence[str]) -> dict[str, list[Hit]]:
    """The lists that a run kept, as fusion takes them; chunks are numbered within the query."""
    keys: dict[str, int] = {}
    lists: dict[str, list[Hit]] = {}
    for name in components:
        ids = outcome.component_lists.get(name, ())
        scores = outcome.component_list_scores.get(name)
        if scores is None:  # an order without scores is enough for ranks
            scores = tuple(float(len(ids) - at) for at in range(len(ids)))
        lists[name] = [
            Hit(keys.setdefault(one, len(keys)), one, score)
            for one, score in zip(ids, scores, strict=True)
        ]
    return lists


def fuser(options: SearchOptions) -> FuseAgain:
    """A function that fuses a query's lists again under these options, for chosen components."""

    def fuse_again(
        query: GoldenQuery, outcome: QueryOutcome, components: Sequence[str]
    ) -> list[str]:
        lists = {name: hits for name, hits in lists_of(outcome, components).items() if hits}
        kind = options.query_type or classify(query.query_text)
        return [one.chunk_id for one in fuse(lists, options, kind)] if lists else []

    return fuse_again


def fuser_of(config: Mapping[str, Any]) -> FuseAgain:
    """The same under the configuration that a stored run was made with."""
    return fuser(options_from(config, SearchOptions()))
