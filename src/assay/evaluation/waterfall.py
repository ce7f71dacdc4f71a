"""Where was each relevant document lost: in the index, the components, fusion, or after it?

The stages of a search in order. A relevant document is blamed on the first stage that did not
pass it on; one that reached the top is not blamed on anything, whatever happened in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from assay import interrupt
from assay.evaluation.match import Listed, LookUp, names_of, places_of
from assay.model.document import ChunkPlace
from assay.model.ranking import Match
from assay.model.runs import QueryOutcome
from assay.model.tabular import Records, Tabular
from assay.model.testset import GoldenQuery, Judgment, TestSet

TOP = 10


class Stage(StrEnum):
    """How far a relevant document got, and what stopped it."""

    NOT_INDEXED = "not in the index"
    NOT_FOUND = "found by no component"
    LOST_IN_FUSION = "below the top after fusion"
    LOST_AFTER_FUSION = "moved out of the top by boosts or the reranker"
    FAILED = "the query failed"
    TOP = "in the top"


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one relevant document; ranks are None where it was not there."""

    query_id: str
    id: str
    grade: int
    stage: Stage
    best_component: str | None = None
    best_rank: int | None = None
    fused_rank: int | None = None
    final_rank: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "query_id": self.query_id,
            "id": self.id,
            "grade": self.grade,
            "stage": self.stage.name.lower(),
            "best_component": self.best_component,
            "best_rank": self.best_rank,
            "fused_rank": self.fused_rank,
            "final_rank": self.final_rank,
        }


@dataclass(frozen=True, slots=True)
class Waterfall(Tabular):
    """Every relevant document of a run with its fate."""

    top: int
    fates: tuple[Fate, ...]

    @property
    def counts(self) -> dict[Stage, int]:
        """How many relevant documents ended at each stage."""
        found = Counter(fate.stage for fate in self.fates)
        return {stage: found[stage] for stage in Stage}

    def passed(self) -> dict[str, int]:
        """How many relevant documents were still there after each stage."""
        counts = self.counts
        left = len(self.fates) - counts[Stage.FAILED]
        steps = {"relevant": len(self.fates), "in the index": left - counts[Stage.NOT_INDEXED]}
        steps["found by a component"] = steps["in the index"] - counts[Stage.NOT_FOUND]
        steps[f"in the top {self.top} after fusion"] = (
            steps["found by a component"] - counts[Stage.LOST_IN_FUSION]
        )
        steps[f"in the top {self.top}"] = counts[Stage.TOP]
        return steps

    def records(self) -> Records:
        """A row for each relevant document."""
        return Records.of(fate.to_dict() for fate in self.fates)

    def overview(self) -> Records:
        """How many were still there after each stage."""
        return Records(("stage", "relevant documents"), list(self.passed().items()))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: the counts, and each miss with who is to blame."""
        return {
            "top": self.top,
            "passed": self.passed(),
            "counts": {stage.name.lower(): count for stage, count in self.counts.items()},
            "misses": [fate.to_dict() for fate in self.fates if fate.stage is not Stage.TOP],
        }


def waterfall(
    test_set: TestSet,
    outcomes: Sequence[QueryOutcome],
    *,
    top: int = TOP,
    match: Match = Match.EXACT,
    present: Callable[[Collection[str]], Collection[str]] | None = None,
    look_up: LookUp | None = None,
) -> Waterfall:
    """The fate of every relevant document, by the rule that the run is scored by.

    ``present`` says which ids the index has, ``look_up`` where chunks stand that are in a list and
    not among the results.
    """
    pairs = [
        (query, one) for one in outcomes if (query := test_set.by_id.get(one.query_id)) is not None
    ]
    judged = [judgment for query, _ in pairs for judgment in query.relevant_docs]
    wanted = {name for one in judged for name in names_of(one, match)}
    there = wanted if present is None else set(present(wanted))
    indexed = {one.id for one in judged if not there.isdisjoint(names_of(one, match))}
    places = places_of(test_set, outcomes, look_up)
    rules = _Rules(top, indexed, places, match)
    return Waterfall(top, tuple(fate for query, one in pairs for fate in _fates(query, one, rules)))


@dataclass(frozen=True, slots=True)
class _Rules:
    """What all queries have in common."""

    top: int
    indexed: Collection[str]
    places: Mapping[str, ChunkPlace]
    match: Match

    def listed(self, ids: Sequence[str]) -> Listed:
        """A list of chunks to look judged things up in."""
        return Listed(ids, self.places, self.match)


def _fates(query: GoldenQuery, outcome: QueryOutcome, rules: _Rules) -> list[Fate]:
    interrupt.check()
    results = rules.listed([one.chunk_id for one in outcome.results])
    pool = rules.listed(outcome.fused)
    lists = {name: rules.listed(ids) for name, ids in outcome.component_lists.items()}
    top = rules.top

    def fate(judged: Judgment) -> Fate:
        ranks = [(found.rank(judged), part) for part, found in lists.items()]
        found = sorted((rank, part) for rank, part in ranks if rank is not None)
        best_rank, best = found[0] if found else (None, None)
        final, fused = results.rank(judged), pool.rank(judged)
        if outcome.error is not None:
            stage = Stage.FAILED
        elif final is not None and final <= top:
            stage = Stage.TOP
        elif judged.id not in rules.indexed:
            stage = Stage.NOT_INDEXED
        elif not found:
            stage = Stage.NOT_FOUND
        elif fused is not None and fused <= top:
            stage = Stage.LOST_AFTER_FUSION
        else:
            stage = Stage.LOST_IN_FUSION
        return Fate(query.query_id, judged.id, judged.grade, stage, best, best_rank, fused, final)

    return [fate(judged) for judged in query.relevant_docs if judged.grade > 0]
