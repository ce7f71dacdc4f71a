"""Two runs of one test set: what changed, for which query, and what is known to cause it?

Per query, by the rank of the first relevant result among the first ``HIT_DEPTH``:

    Win         b hits and a does not, or both hit and b ranks the first hit better
    Loss        both hit, and b ranks it worse
    Regression  a hits and b does not
    Draw        the same rank, or both miss
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from assay.errors import InputError, UsageError
from assay.evaluation.causes import Difference, differences, query_causes
from assay.evaluation.chunker_match import Archive, ChunkerMatch, Matching, matching, no_archive
from assay.evaluation.collection import without_collection
from assay.evaluation.match import Rule, first_hits, judge_sought, ranked_queries, sought
from assay.evaluation.run_aggregate import AggregateMetrics, compute_aggregate, mean_of
from assay.evaluation.scores import rounded
from assay.evaluation.stored import EVALUATION_MEASURES
from assay.evaluation.stored_run import StoredRun
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measures
from assay.measures.table import JudgedHits
from assay.model.runs import RunStatus
from assay.model.testset import GoldenQuery
from assay.plural import counted, share_of

HIT_DEPTH = 10


class ComparisonKind(StrEnum):
    """What b did to a query, seen from a."""

    WIN = "Win"
    LOSS = "Loss"
    DRAW = "Draw"
    REGRESSION = "Regression"


@dataclass(frozen=True, slots=True)
class QueryComparison:
    """One query in both runs; a rank is None where nothing relevant was in the top 10.

    ``note`` names every known cause, ``own`` those of this query alone: what differs between the
    runs as a whole stands in the report once.
    """

    query_id: str
    kind: ComparisonKind
    a_hit_rank: int | None
    b_hit_rank: int | None
    note: str | None = None
    own: str | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "query_id": self.query_id,
            "kind": self.kind.value,
            "a_hit_rank": self.a_hit_rank,
            "b_hit_rank": self.b_hit_rank,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class CompareReport:
    """Run b beside run a; deltas are b − a, None where a side is undefined.

    ``headline`` has the measures that the runs were made with, as far as the top 10 tells them.
    """

    run_a: str
    run_b: str
    aggregate_a: AggregateMetrics
    aggregate_b: AggregateMetrics
    deltas: Mapping[str, float | None]
    chunker_version_match: ChunkerMatch
    per_query: tuple[QueryComparison, ...]
    differences: tuple[Difference, ...] = ()
    warnings: tuple[str, ...] = ()
    matching: Matching | None = field(default=None, compare=False, repr=False)
    headline: Mapping[str, tuple[float | None, float | None]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def counts(self) -> dict[ComparisonKind, int]:
        """How many queries there are of each kind."""
        found = Counter(query.kind for query in self.per_query)
        return {kind: found[kind] for kind in ComparisonKind}

    @property
    def degraded(self) -> bool:
        """Whether a component was missing somewhere in either run."""
        return bool(self.aggregate_a.degraded_queries or self.aggregate_b.degraded_queries)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, to 4 decimals."""
        return {
            "run_a": self.run_a,
            "run_b": self.run_b,
            "aggregate_a": self.aggregate_a.to_dict(),
            "aggregate_b": self.aggregate_b.to_dict(),
            "deltas": {
                "chunker_version_match": self.chunker_version_match.value,
                **{key: rounded(value) for key, value in self.deltas.items()},
            },
            "counts": {kind.value: count for kind, count in self.counts.items()},
            "differences": [difference.to_dict() for difference in self.differences],
            "warnings": list(self.warnings),
            "per_query": [query.to_dict() for query in self.per_query],
        }


@dataclass(frozen=True, slots=True)
class Common:
    """What two runs can be compared on, and what a reader must know about it."""

    queries: tuple[GoldenQuery, ...]
    warnings: tuple[str, ...]


@without_collection()
def compare_runs(
    a: StoredRun,
    b: StoredRun,
    *,
    measures: str | Iterable[str | Measure] = (),
    archive: Archive = no_archive,
    strict_chunker_version: bool = False,
) -> CompareReport:
    """Compare two stored runs over the queries that they have in common."""
    common = common_queries(a, b)
    match = matching(a, b, common.queries, archive=archive, strict=strict_chunker_version)
    found = differences(a, b)
    ranked = ranked_queries(common.queries)
    by_rule, by_doc = (sought(ranked, rule, match.places) for rule in (match.rule, Rule.DOC))
    tables = [
        (judge_sought(by_rule, run.by_query), judge_sought(by_doc, run.by_query)) for run in (a, b)
    ]
    one, other = (
        compute_aggregate(
            common.queries,
            {query.query_id: run.by_query[query.query_id] for query in common.queries},
            rule=match.rule,
            places=match.places,
            measures=measures,
            tables=made,
        )
        for run, made in zip((a, b), tables, strict=True)
    )
    ranks_a, ranks_b = (_within(first_hits(hits)) for hits, _ in tables)
    causes = _causes(found, match)
    return CompareReport(
        run_a=a.name,
        run_b=b.name,
        aggregate_a=one,
        aggregate_b=other,
        deltas=deltas(one.flat(), other.flat()),
        chunker_version_match=match.match,
        per_query=tuple(
            _query(
                query,
                (ranks_a.get(query.query_id), ranks_b.get(query.query_id)),
                query_causes(a.by_query[query.query_id], b.by_query[query.query_id]),
                causes,
            )
            for query in ranked
        ),
        differences=found,
        warnings=(*common.warnings, *match.notes),
        matching=match,
        headline=_headline(b, tables[0][0], tables[1][0]),
    )


def _headline(
    run: StoredRun, a: JudgedHits, b: JudgedHits
) -> dict[str, tuple[float | None, float | None]]:
    """Both sides by the run's own measures of the top 10, under the names they were asked by."""
    stored = [entry["measure"] for entry in run.info.aggregate.get("aggregates", {}).values()]
    return {
        str(measure): (mean_of(measure, a), mean_of(measure, b))
        for measure in parse_measures(stored or EVALUATION_MEASURES)
        if measure.definition.family is Family.RANKING
        and measure.cutoff is not None
        and measure.cutoff <= HIT_DEPTH
    }


def depth_for(measures: str) -> int | None:
    """How many results of each query a comparison looks at; None: all of them."""
    cutoffs = [measure.cutoff for measure in parse_measures(measures)] if measures else []
    known = [cutoff for cutoff in cutoffs if cutoff is not None]
    return max([HIT_DEPTH, *known]) if len(known) == len(cutoffs) else None


def common_queries(a: StoredRun, b: StoredRun) -> Common:
    """The queries that both runs have; refused where there is nothing that can be compared."""
    if a.test_set.name != b.test_set.name:
        raise UsageError(
            f"{a.name} was made with the test set {a.test_set.name}, "
            f"{b.name} with {b.test_set.name}",
            hint="compare runs of one test set",
        )
    warnings = [_self_warning(a)] if a.name == b.name else []
    for run in (a, b):
        warnings += state_warnings(run)
    queries = [query for query in b.queries if query.query_id in a.by_query]
    same_set = a.test_set is b.test_set or a.test_set.checksum == b.test_set.checksum
    if not same_set:
        before = a.test_set.by_id
        same = [q for q in queries if before[q.query_id].query_text == q.query_text]
        changed = sum(before[q.query_id].relevant_docs != q.relevant_docs for q in same)
        warnings.append(
            f"the runs used different versions of {a.test_set.name} "
            f"({a.test_set.version} and {b.test_set.version}): only the "
            f"{counted(len(same), 'query')} with "
            f"the same id and text are compared, by the judgments of {b.test_set.version}"
            + (f", which differ for {changed} of them" if changed else "")
        )
        queries = same
    alone = [len(run.by_query) - len(queries) for run in (a, b)]
    if not queries:
        raise InputError(
            f"{a.name} and {b.name} have no query in common", hint="compare runs of one test set"
        )
    if any(alone) and same_set:
        warnings.append(
            f"only {counted(len(queries), 'query', 'is')} in both runs; "
            f"in a alone: {alone[0]}, in b alone: {alone[1]}"
        )
    _refuse_other_corpus(a, b)
    return Common(tuple(queries), tuple(warnings))


def deltas(a: Mapping[str, float | None], b: Mapping[str, float | None]) -> dict[str, float | None]:
    """The differences b − a for every key of either; None where a side is undefined or lacking."""
    found: dict[str, float | None] = {}
    for key in dict.fromkeys((*a, *b)):
        before, after = a.get(key), b.get(key)
        found[key] = None if before is None or after is None else after - before
    return found


def classify_ranks(a: int | None, b: int | None) -> ComparisonKind:
    """The kind of a query by the ranks of its first hits."""
    if a == b:
        return ComparisonKind.DRAW
    if b is None:
        return ComparisonKind.REGRESSION
    return ComparisonKind.WIN if a is None or b < a else ComparisonKind.LOSS


def _query(
    query: GoldenQuery,
    ranks: tuple[int | None, int | None],
    own: list[str],
    causes: str | None,
) -> QueryComparison:
    kind = classify_ranks(*ranks)
    parts = own if kind is ComparisonKind.DRAW or causes is None else [*own, causes]
    note, alone = ("; ".join(lines) or None for lines in (parts, own))
    return QueryComparison(query.query_id, kind, *ranks, note=note, own=alone)


def _causes(found: tuple[Difference, ...], match: Matching) -> str | None:
    """What could explain any change between the two runs, in one line."""
    named = [str(difference) for difference in found if difference.kind not in ("code", "index")]
    if match.match is not ChunkerMatch.EXACT:
        named.append(f"matched by {match.match.value}")
    return "; ".join(named) or None


def _within(ranks: Mapping[str, int]) -> dict[str, int]:
    return {query: rank for query, rank in ranks.items() if rank <= HIT_DEPTH}


def _self_warning(run: StoredRun) -> str:
    return f"{run.name} is compared with itself"


def state_warnings(run: StoredRun) -> list[str]:
    """What a reader must know of a run before believing its numbers."""
    found = []
    if run.info.status is not RunStatus.COMPLETE:
        found.append(f"{run.name} is not complete (it is {run.info.status.value})")
    if run.degraded:
        named = Counter(error for out in run.degraded for error in out.component_errors)
        which = ", ".join(f"{name} ×{count}" for name, count in sorted(named.items()))
        found.append(
            f"DEGRADED: {share_of(len(run.degraded), len(run.outcomes), 'query')} of {run.name} "
            f"answered without some component ({which or 'not named'})"
        )
    if run.failed:
        found.append(
            f"{share_of(len(run.failed), len(run.outcomes), 'query')} of {run.name} failed: "
            "counted as having no results"
        )
    return found


def _refuse_other_corpus(a: StoredRun, b: StoredRun) -> None:
    one, other = (
        {result.doc_id for outcome in run.outcomes for result in outcome.results} for run in (a, b)
    )
    if one and other and one.isdisjoint(other):
        raise InputError(
            f"{a.name} and {b.name} have no document in common: they searched different corpora",
            hint=f"a returned, for example, {min(one)!r}, b {min(other)!r}",
        )
