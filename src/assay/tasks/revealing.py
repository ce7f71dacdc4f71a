"""Who may see the held-out queries of a test set? Whoever asks for them, and the look is logged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from assay.lifecycle.holding import note_use
from assay.model.testset import TestSet

if TYPE_CHECKING:
    from assay.workspace import Workspace

MASK = "(held out: ask for it, and the look is logged)"


def masked(test_set: TestSet, words: str = MASK) -> TestSet:
    """The set without the words and judgments of its held-out queries."""
    hidden = test_set.held_out_ids
    return replace(
        test_set,
        queries=tuple(
            replace(query, query_text=words, relevant_docs=(), must_contain=(), forbidden=())
            if query.query_id in hidden
            else query
            for query in test_set.queries
        ),
    )


def hidden_in(test_set: TestSet) -> frozenset[str]:
    """The held-out queries that are really in it: a part of a set names also those it lacks."""
    return frozenset(query.query_id for query in test_set.held_out_queries)


def noted(workspace: Workspace, test_set: TestSet, query_id: str | None = None) -> None:
    """Log a look at held-out queries, where there is a workspace to log it in."""
    looked = test_set.held_out_ids if query_id is None else test_set.held_out_ids & {query_id}
    if looked and workspace.exists():
        note_use(workspace, test_set, "show")
