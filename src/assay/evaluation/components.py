"""What does each component contribute: by itself, beyond all others, and to their fusion?

Components are judged by the lists they gave within one run, before boosts and reranking. Taking
one away fuses the lists of the others again; nothing is searched. ``hybrid`` is the run itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from assay import interrupt
from assay.errors import UsageError
from assay.evaluation.match import Listed, LookUp, listed_result, places_of
from assay.evaluation.result import EvaluationResult, result_of
from assay.evaluation.scores import rounded
from assay.measures.base import Measure
from assay.measures.parse import measures_text
from assay.model.document import ChunkPlace
from assay.model.ranking import Match
from assay.model.runs import QueryOutcome
from assay.model.scoring import Scoring
from assay.model.tabular import Records, Tabular
from assay.model.testset import GoldenQuery, TestSet

HYBRID = "hybrid"

# (query, its outcome, the components that take part) to the ids in fused order
FuseAgain: TypeAlias = Callable[[GoldenQuery, QueryOutcome, Sequence[str]], Sequence[str]]
Losses: TypeAlias = Mapping[str, Mapping[Measure, float | None]]


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one component brings, over the relevant documents of all queries.

    ``found`` are those in its list, ``unique`` those in no other component's list. ``loss`` is, by
    measure, how much the fused ranking loses without it (None where nothing could be fused).
    """

    found: int
    unique: int
    relevant: int
    loss: Mapping[Measure, float | None]


@dataclass(frozen=True)
class ComponentReport(Tabular):
    """Components side by side with the hybrid."""

    results: Mapping[str, EvaluationResult]
    contributions: Mapping[str, Contribution]

    def records(self) -> Records:
        """A row for each component and the hybrid; ``loss`` is what the first measure loses."""
        rows: list[dict[str, object]] = []
        for name, result in self.results.items():
            row: dict[str, object] = {"component": name}
            row |= {str(measure): result[measure] for measure in result.scores.measures}
            if (given := self.contributions.get(name)) is not None:
                row |= {"relevant": given.relevant, "found": given.found, "unique": given.unique}
                row["loss"] = next(iter(given.loss.values()), None)
            rows.append(row)
        return Records.of(rows)

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """JSON-ready: ``{"components": {"bm25": {"metrics": {...}}, ..., "hybrid": ...}}``."""
        entries: dict[str, Any] = {}
        for name, result in self.results.items():
            entry = result.to_dict(per_query=per_query)
            if name != HYBRID:
                entry = {
                    key: entry[key]
                    for key in ("metrics", "per_query_type", "per_speaker", "aggregates")
                }
            if name in self.contributions:
                given = self.contributions[name]
                entry["contribution"] = {
                    "relevant": given.relevant,
                    "found": given.found,
                    "unique": given.unique,
                    "leave_one_out_loss": {m.key: rounded(v) for m, v in given.loss.items()},
                }
            entries[name] = entry
        return {"components": entries}


def component_report(
    test_set: TestSet,
    outcomes: Sequence[QueryOutcome],
    options: Scoring | None = None,
    *,
    fuse_again: FuseAgain | None = None,
    hybrid: EvaluationResult | None = None,
    look_up: LookUp | None = None,
) -> ComponentReport:
    """Score every component of a run by its own lists, beside the run itself.

    ``look_up`` tells where chunks stand that are in a list and not among the results.
    """
    options = options or Scoring()
    names = component_names(outcomes)
    if not outcomes:
        raise UsageError(
            "no query of the run was asked, so there are no component lists",
            hint="assay eval run --resume continues it",
        )
    if not names:
        raise UsageError(
            "the run holds no component lists", hint="evaluate assay's own engine, not a run file"
        )
    places = places_of(test_set, outcomes, look_up)
    results = {
        name: result_of(test_set, component_outcomes(outcomes, name, places), options, name=name)
        for name in names
    }
    whole = hybrid or result_of(test_set, outcomes, options, name=HYBRID)
    ranking = replace(options, by_group=False, measures=measures_text(whole.scores.columns))
    losses: Losses = {}
    if fuse_again is not None:
        losses = _losses(_Fusing(test_set, outcomes, fuse_again, places), ranking, names)
    return ComponentReport(
        {**results, HYBRID: whole},
        _contributions(test_set, outcomes, places, losses, Match(options.match)),
    )


def component_names(outcomes: Sequence[QueryOutcome]) -> tuple[str, ...]:
    """The components that gave a list to any query, in the order of the lists."""
    return tuple(dict.fromkeys(name for one in outcomes for name in one.component_lists))


def component_outcomes(
    outcomes: Sequence[QueryOutcome], name: str, places: Mapping[str, ChunkPlace]
) -> list[QueryOutcome]:
    """The outcomes as they would be if a component had answered alone."""
    found = []
    for one in outcomes:
        interrupt.check()
        ids = one.component_lists.get(name, ())
        scores = one.component_list_scores.get(name) or (None,) * len(ids)
        results = tuple(
            listed_result(chunk_id, places, score)
            for chunk_id, score in zip(ids, scores, strict=True)
        )
        found.append(
            QueryOutcome(
                one.query_id,
                results,
                latency_ms=one.timings_ms.get(name),
                error=one.error,
                degraded=name not in one.component_lists,
            )
        )
    return found


@dataclass(frozen=True)
class _Fusing:
    """What it takes to fuse the lists of some components again."""

    test_set: TestSet
    outcomes: Sequence[QueryOutcome]
    fuse_again: FuseAgain
    places: Mapping[str, ChunkPlace]

    def of(self, names: Sequence[str]) -> list[QueryOutcome]:
        """The outcomes as they would be after fusing only these components, without boosts."""
        found = []
        for one in self.outcomes:
            interrupt.check()
            query = self.test_set.by_id.get(one.query_id)
            if query is not None:
                ids = () if one.error else self.fuse_again(query, one, names)
                results = tuple(listed_result(chunk_id, self.places) for chunk_id in ids)
                found.append(QueryOutcome(one.query_id, results, error=one.error))
        return found


def _losses(fusing: _Fusing, options: Scoring, names: Sequence[str]) -> Losses:
    """By component and ranking measure: all fused, minus all but this one fused."""
    if len(names) < 2 or not options.measures:
        return {}

    def fused(chosen: Sequence[str]) -> EvaluationResult:
        return result_of(fusing.test_set, fusing.of(chosen), options)

    every = fused(names)
    losses: dict[str, dict[Measure, float | None]] = {}
    for name in names:
        rest = fused([other for other in names if other != name])
        losses[name] = {m: _minus(every[m], rest[m]) for m in every.scores.columns}
    return losses


def _minus(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b


def _contributions(
    test_set: TestSet,
    outcomes: Sequence[QueryOutcome],
    places: Mapping[str, ChunkPlace],
    losses: Losses,
    match: Match,
) -> dict[str, Contribution]:
    names = component_names(outcomes)
    found, unique = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    relevant = 0
    for one in outcomes:
        query = test_set.by_id.get(one.query_id)
        if query is None:
            continue
        wanted = {judgment for judgment in query.relevant_docs if judgment.grade > 0}
        relevant += len(wanted)
        lists = {name: Listed(one.component_lists.get(name, ()), places, match) for name in names}
        here = {name: {j for j in wanted if lists[name].ranks(j)} for name in names}
        for name in names:
            others = set().union(*(here[other] for other in names if other != name))
            found[name] += len(here[name])
            unique[name] += len(here[name] - others)
    return {
        name: Contribution(found[name], unique[name], relevant, losses.get(name, {}))
        for name in names
    }
