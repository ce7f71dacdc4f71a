"""Over which queries is a run scored, and how many of them were asked?

A run is scored over every query of its part that has ground truth. One that was not asked, since
the run was cut short, counts as having no results: an incomplete run is never flattered, and it has
the same figures wherever it is shown. A query without ground truth is skipped: it counts in the
total and in nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.model.testset import GoldenQuery, TestSet
from assay.plural import counted, share_of

SHOWN_IDS = 5
NO_TRUTH = "no ground truth"


@dataclass(frozen=True)
class Scope:
    """The queries of a run, by what became of them; ``asked`` are the ids of those asked."""

    test_set: TestSet
    asked: Collection[str]

    @cached_property
    def queries(self) -> tuple[GoldenQuery, ...]:
        """The queries that the run is scored over, in the order of the test set."""
        return answerable(self.test_set)

    @cached_property
    def unasked(self) -> tuple[str, ...]:
        """Those of them that were not asked, and count as having no results."""
        return tuple(one.query_id for one in self.queries if one.query_id not in self.asked)

    @cached_property
    def skipped(self) -> tuple[str, ...]:
        """The queries without ground truth."""
        left = (one.query_id for one in self.test_set.queries if lacks_truth(one))
        return (*self.test_set.skipped, *left)

    @property
    def total(self) -> int:
        """How many queries there are, with those that were skipped."""
        return len(self.queries) + len(self.skipped)

    @property
    def size(self) -> dict[str, int]:
        """JSON-ready: the total, and those of it that were skipped."""
        return {"total_queries": self.total, "skipped_queries": len(self.skipped)}

    @property
    def counts(self) -> dict[str, int]:
        """The same, and those that were not asked."""
        return {**self.size, "unasked_queries": len(self.unasked)}

    @property
    def progress(self) -> str:
        """How many queries were asked, of how many."""
        every = len(self.queries)
        return f"{share_of(every - len(self.unasked), every, 'query', 'was')} asked"

    @property
    def reach(self) -> str:
        """The same, and what became of the others."""
        rest = "; what was not asked counts as having no results" if self.unasked else ""
        return f"{self.progress}{rest}"

    @property
    def incomplete(self) -> str | None:
        """A sentence about queries that were not asked; None where all were."""
        return f"INCOMPLETE: {self.reach}" if self.unasked else None

    @property
    def skip_note(self) -> str | None:
        """A sentence about queries that were skipped; None where none were."""
        if not self.skipped:
            return None
        return some(self.skipped, self.total, "with no ground truth: skipped")


def lacks_truth(query: GoldenQuery) -> bool:
    """Whether a query should find evidence, and the test set does not say which."""
    return not query.has_truth


def ranks_nothing(queries: Sequence[GoldenQuery]) -> bool:
    """Whether no query names a document to find, and each says otherwise what is right."""
    return bool(queries) and all(query.has_truth and not query.judged for query in queries)


def answerable(test_set: TestSet) -> tuple[GoldenQuery, ...]:
    """The queries that can be scored; those without ground truth are left out."""
    return tuple(query for query in test_set.queries if not lacks_truth(query))


def total_text(total: int, skipped: int, noun: str = "") -> str:
    """How many queries there are, and how many of them were skipped for want of ground truth."""
    every = counted(total, noun) if noun else str(total)
    return f"{every}, of which {skipped} skipped ({NO_TRUTH})" if skipped else every


def some(ids: Sequence[str], total: int, what: str) -> str:
    """What is so of some queries, and which they are: the first few by name."""
    more = ", ..." if len(ids) > SHOWN_IDS else ""
    return f"{share_of(len(ids), total, 'query')} {what}: {', '.join(ids[:SHOWN_IDS])}{more}"
