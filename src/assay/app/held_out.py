"""Who may see the held-out queries of a test set? Whoever asks for them, and the look is logged."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.app.held_out_log import note_use
from assay.evaluation.compare import CompareReport
from assay.evaluation.gate import GateReport
from assay.evaluation.waterfall import Fate, Waterfall
from assay.model.runs import QueryOutcome
from assay.model.testset import GoldenQuery, TestSet
from assay.testsets.diff import FieldChange, JudgmentChange, TestSetDiff, diff

if TYPE_CHECKING:
    from assay.app.workspace import Workspace

MASK = "(held out: ask for it, and the look is logged)"
MASKED_FIELDS = frozenset({"query_text", "must_contain", "forbidden"})


def masked(test_set: TestSet, words: str = MASK) -> TestSet:
    """The set without the words and judgments of its held-out queries."""
    hidden = test_set.held_out_ids
    return replace(
        test_set,
        queries=tuple(
            masked_query(query, words) if query.query_id in hidden else query
            for query in test_set.queries
        ),
    )


def masked_query(query: GoldenQuery, words: str = MASK) -> GoldenQuery:
    """A query without its words and judgments."""
    return replace(query, query_text=words, relevant_docs=(), must_contain=(), forbidden=())


def masked_diff(before: TestSet, after: TestSet, words: str = MASK) -> TestSetDiff:
    """What really changed, without the words and judgments of what either set holds out.

    A query whose judgments changed has one entry for all of them, which says no more than that.
    """
    found = diff(before, after)
    hidden = before.held_out_ids | after.held_out_ids
    judgments = (
        JudgmentChange(item.query_id, words, None, None) if item.query_id in hidden else item
        for item in found.judgments
    )
    return replace(
        found,
        changed=tuple(
            FieldChange(item.query_id, item.name, words, words)
            if item.query_id in hidden and item.name in MASKED_FIELDS
            else item
            for item in found.changed
        ),
        judgments=tuple(dict.fromkeys(judgments)),
    )


def masked_gate(report: GateReport, hidden: Collection[str], words: str = MASK) -> GateReport:
    """The report of a gate without the words of these queries."""
    return replace(
        report,
        failing=tuple(
            replace(query, query_text=words) if query.query_id in hidden else query
            for query in report.failing
        ),
    )


def masked_fates(found: Waterfall, hidden: Collection[str], words: str = MASK) -> Waterfall:
    """A waterfall that does not say which documents answer these queries.

    Nor where they stood: whoever has the rankings could look them up there.
    """
    return replace(
        found,
        fates=tuple(
            Fate(fate.query_id, words, fate.grade, fate.stage) if fate.query_id in hidden else fate
            for fate in found.fates
        ),
    )


def masked_outcomes(
    outcomes: Sequence[QueryOutcome], hidden: Collection[str], words: str = MASK
) -> tuple[QueryOutcome, ...]:
    """What happened, without what may quote these queries; that one failed still shows."""
    return tuple(masked_outcome(one, words) if one.query_id in hidden else one for one in outcomes)


def masked_outcome(outcome: QueryOutcome, words: str = MASK) -> QueryOutcome:
    """What happened to a query, without its answer and the words of its errors and warnings."""
    error = None if outcome.error is None else words
    return replace(outcome, answer=None, known_citations=frozenset(), error=error, warnings=())


def masked_comparison(report: CompareReport, hidden: Collection[str]) -> CompareReport:
    """A comparison without the ranks of the first hits of these queries, and why they failed."""
    return replace(
        report,
        per_query=tuple(
            replace(row, a_hit_rank=None, b_hit_rank=None, note=None, own=None)
            if row.query_id in hidden
            else row
            for row in report.per_query
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
