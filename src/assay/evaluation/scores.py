"""What did a run score, query by query and on the whole?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import UsageError
from assay.measures.elsewhere import gain_note
from assay.measures.parse import parse_measure
from assay.model.sampling import Sampling
from assay.model.tabular import Records, Tabular
from assay.plural import counted, share_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.measures.base import Column, Measure
    from assay.measures.classification import MeasureValue
    from assay.measures.table import JudgedHits
    from assay.model.arrays import BoolArray, FloatArray, IntArray
    from assay.stats.interval import Interval

DECIMALS = 4
DEFAULT_DEPTHS = (10,)
WORTH_SAYING = 0.2  # from this share on, unjudged results get a sentence


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One measure over all queries for which it is defined.

    ``undefined`` counts the others; ``reason`` says why they are. ``std`` is the sample's.
    """

    mean: float | None
    median: float | None
    std: float | None
    n: int
    undefined: int
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class Scores(Tabular):
    """The result of scoring one run; values are unrounded until printed or stored.

    ``queries`` are those of the ranking measures. Decisions look at ``decided`` queries, which may
    be more: also those where there is nothing to find.
    """

    name: str
    queries: tuple[str, ...]
    columns: Mapping[Measure, Column]
    summary: Summary
    decisions: Mapping[Measure, MeasureValue] = field(default_factory=dict)
    decision_intervals: Mapping[Measure, Interval] = field(default_factory=dict)
    sampling: Sampling = field(default_factory=Sampling)
    clusters: tuple[str, ...] | None = None
    decided: int = 0

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Every measure that was computed, in the order asked for."""
        return (*self.columns, *self.decisions)

    def __iter__(self) -> Iterator[Measure]:
        return iter(self.measures)

    def __getitem__(self, measure: Measure | str) -> float | None:
        """The mean (or value) of a measure: ``scores["nDCG@10"]``."""
        return self.aggregate(measure).mean

    def aggregate(self, measure: Measure | str) -> Aggregate:
        """Mean, median, standard deviation and counts of one measure."""
        found = self._find(measure)
        if found in self.decisions:
            outcome = self.decisions[found]
            return Aggregate(outcome.value, None, None, self.decided, 0, outcome.reason)
        column = self.columns[found]
        values = column.values[column.defined]
        undefined = len(column.values) - len(values)
        if not len(values):
            return Aggregate(None, None, None, 0, undefined, column.reason or "there is no query")
        spread = float(values.std(ddof=1)) if len(values) > 1 else None
        return Aggregate(
            float(values.mean()),
            _median(values),
            spread,
            len(values),
            undefined,
            column.reason,
        )

    def value(self, query: str, measure: Measure | str) -> float | None:
        """One query's value of a ranking measure; None where it is undefined."""
        column = self.columns[self._find(measure)]
        try:
            row = self.positions[query]
        except KeyError:
            raise UsageError(f"there is no query {query!r} in these scores") from None
        return float(column.values[row]) if column.defined[row] else None

    def per_query(self, measure: Measure | str) -> dict[str, float | None]:
        """Every query's value of a ranking measure."""
        column = self.columns[self._find(measure)]
        return {
            query: value if defined else None
            for query, value, defined in zip(
                self.queries, column.values.tolist(), column.defined.tolist(), strict=True
            )
        }

    def interval(self, measure: Measure | str) -> Interval:
        """The confidence interval of a measure's mean."""
        found = self._find(measure)
        if found in self.decision_intervals:
            return self.decision_intervals[found]
        return self._intervals[found]

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The row of each query."""
        return {query: row for row, query in enumerate(self.queries)}

    @cached_property
    def _intervals(self) -> Mapping[Measure, Interval]:
        """All intervals at once: they share their resamples."""
        from assay.stats.bootstrap import bootstrap_means

        if not self.columns:
            return {}
        columns = list(self.columns.values())
        intervals = bootstrap_means(
            np.column_stack([column.values for column in columns]),
            defined=np.column_stack([column.defined for column in columns]),
            clusters=self.clusters,
            method=self.sampling.method,
            level=self.sampling.level,
            resamples=self.sampling.resamples,
            seed=self.sampling.seed,
        )
        return dict(zip(self.columns, intervals, strict=True))

    def subset(self, chosen: BoolArray, name: str) -> Scores:
        """The same scores over some of the queries (ranking measures only)."""
        rows = np.flatnonzero(chosen)
        return replace(
            self,
            name=name,
            queries=tuple(self.queries[row] for row in rows),
            columns={
                measure: replace(
                    column, values=column.values[chosen], defined=column.defined[chosen]
                )
                for measure, column in self.columns.items()
            },
            summary=self.summary.subset(chosen),
            decisions={},
            decision_intervals={},
            decided=0,
            clusters=None if self.clusters is None else tuple(self.clusters[row] for row in rows),
        )

    def by(self, groups: Mapping[str, str]) -> dict[str, Scores]:
        """One ``Scores`` per group of queries; queries without a group are under ``(none)``."""
        labels = np.array([groups.get(query, "(none)") for query in self.queries], dtype=object)
        names = sorted(set(labels.tolist()))
        return {name: self.subset(labels == name, name) for name in names}

    def _find(self, measure: Measure | str) -> Measure:
        found = parse_measure(measure) if isinstance(measure, str) else measure
        if found not in self.columns and found not in self.decisions:
            raise UsageError(
                f"{found} was not computed", hint=f"computed: {', '.join(map(str, self.measures))}"
            )
        return found

    def to_dict(self, *, intervals: bool = True, per_query: bool = False) -> dict[str, Any]:
        """JSON-ready: values to 4 decimals under snake-case keys, undefined as None."""
        result: dict[str, Any] = {
            "run": self.name,
            "metrics": {m.key: rounded(self.aggregate(m).mean) for m in self.measures},
            "aggregates": {m.key: self._aggregate_dict(m, intervals) for m in self.measures},
            "summary": self.summary.to_dict(),
        }
        if intervals:
            result["sampling"] = self.drawing()
        if per_query:
            result["per_query"] = {
                query: {
                    m.key: rounded(float(c.values[row])) if c.defined[row] else None
                    for m, c in self.columns.items()
                }
                for row, query in enumerate(self.queries)
            }
        return result

    def drawing(self) -> dict[str, Any]:
        """How the intervals were drawn, JSON-ready."""
        return {**self.sampling.to_dict(), "clustered": self.clusters is not None}

    def _aggregate_dict(self, measure: Measure, intervals: bool) -> dict[str, Any]:
        found = self.aggregate(measure)
        entry: dict[str, Any] = {
            "measure": str(measure),
            "mean": rounded(found.mean),
            "median": rounded(found.median),
            "std": rounded(found.std),
            "n": found.n,
            "undefined": found.undefined,
            "reason": found.reason,
        }
        if intervals:
            interval = self.interval(measure)
            entry["ci"] = ends(interval)
            entry["ci_method"] = ci_method(interval)
            entry["ci_reason"] = interval.reason
        return entry

    def __str__(self) -> str:
        return f"{self.name}: " + ", ".join(f"{m} {shown(self[m])}" for m in self.measures)

    def __repr__(self) -> str:
        return f"<Scores {self}, n={len(self.queries)}>"

    def records(self) -> Records:
        """A row for each measure."""
        rows = []
        for measure in self.measures:
            found, interval = self.aggregate(measure), self.interval(measure)
            rows.append(
                {
                    "run": self.name,
                    "measure": str(measure),
                    "mean": found.mean,
                    "ci_low": interval.low,
                    "ci_high": interval.high,
                    "median": found.median,
                    "std": found.std,
                    "n": found.n,
                    "undefined": found.undefined,
                    "reason": found.reason or interval.reason,
                }
            )
        return Records.of(rows, self.name, self._notes())

    def overview(self) -> Records:
        """The measures, each with its interval."""
        level = f"{self.sampling.level:.0%} CI"
        rows: list[dict[str, object]] = []
        for measure in self.measures:
            found, interval = self.aggregate(measure), self.interval(measure)
            ends = f"[{shown(interval.low)}, {shown(interval.high)}]" if interval.defined else "—"
            row = {"measure": str(measure), "mean": found.mean, level: ends}
            reason = {"why": found.reason} if found.reason else {}
            rows.append({**row, "median": found.median, "n": found.n, **reason})
        return Records.of(rows, self.name, self._notes())

    def _notes(self) -> tuple[str, ...]:
        return (*self.summary.notes(), *filter(None, [gain_note(map(str, self.measures))]))


def rounded(value: float | None) -> float | None:
    """Four decimals, where values are stored or printed."""
    return None if value is None else round(value, DECIMALS) + 0.0  # no negative zero


def ends(interval: Interval | None) -> list[float | None] | None:
    """Both ends of an interval, where they are stored; None where it has none."""
    if interval is None or not interval.defined:
        return None
    return [rounded(interval.low), rounded(interval.high)]


def ci_method(interval: Interval) -> str | None:
    """How an interval was really computed; None where there is none."""
    return interval.method if interval.defined else None


def shown(value: float | None) -> str:
    """The value as people read it; a dash where it is undefined."""
    return "—" if value is None else f"{rounded(value):.{DECIMALS}f}"


def _median(values: FloatArray) -> float:
    """The middle value; np.median imports numpy.ma, which takes longer than all the rest here."""
    ordered = np.sort(values)
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2.0


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """What a reader should know before believing the numbers: counts per query."""

    retrieved: IntArray
    relevant: IntArray
    relevant_retrieved: IntArray
    missing_queries: BoolArray
    tied: IntArray
    judged_at: Mapping[int, FloatArray]  # share judged of what each query shows; −1 shows nothing
    extra: int
    left_out: int = 0
    odd: tuple[str, ...] = ()  # what whoever read the run found odd
    rule: tuple[str, ...] = ()  # how results are matched, where it is not the usual

    @property
    def n(self) -> int:
        """How many queries count."""
        return len(self.retrieved)

    @property
    def missing(self) -> int:
        """How many queries the run does not have; they score 0 and count."""
        return int(self.missing_queries.sum())

    @property
    def ties(self) -> int:
        """How many judged results have a rank that a tie-break decided."""
        return int(self.tied.sum())

    def unjudged(self, depth: int) -> float | None:
        """Mean share of the top results that nobody judged, over queries that show any."""
        shares = self.judged_at[depth]
        shares = shares[shares >= 0]
        return float(1.0 - shares.mean()) if len(shares) else None

    def subset(self, chosen: BoolArray) -> Summary:
        """The same counts over some of the queries."""
        return Summary(
            self.retrieved[chosen],
            self.relevant[chosen],
            self.relevant_retrieved[chosen],
            self.missing_queries[chosen],
            self.tied[chosen],
            {depth: shares[chosen] for depth, shares in self.judged_at.items()},
            self.extra,
            odd=self.odd,
            rule=self.rule,
        )

    def alarms(self) -> list[str]:
        """Sentences about what is most likely a mistake; from Python they are logged, too."""
        alarms = []
        if self.retrieved.any() and not self.relevant_retrieved.any():
            alarms.append(
                "no relevant document was retrieved: do run and qrels use the same document ids?"
            )
        return [*alarms, *self.odd]

    def remarks(self) -> list[str]:
        """The same as ``notes`` without numbers, so that those of many runs can be joined."""
        holes = any((self.unjudged(depth) or 0) >= WORTH_SAYING for depth in self.judged_at)
        said = {
            "no relevant document was retrieved": self.n and not self.relevant_retrieved.any(),
            "queries are missing from the run: scored 0": self.missing,
            "queries not in the qrels: left out": self.extra,
            "ties decided ranks of judged results": self.ties,
            f"{WORTH_SAYING:.0%} or more of the top results are unjudged": holes,
        }
        return [*self.rule, *(remark for remark, holds in said.items() if holds)]

    def notes(self) -> list[str]:
        """Sentences for a reader, the grave ones first."""
        notes = [*self.alarms(), *self.rule]
        if self.missing:
            notes.append(
                f"{share_of(self.missing, self.n, 'query', 'is')} missing from the run: scored 0"
            )
        if self.extra:
            notes.append(f"{counted(self.extra, 'query')} of the run not in the qrels: left out")
        if self.left_out:
            notes.append(
                f"{counted(self.left_out, 'query')} without relevant documents left out (protocol)"
            )
        without = int((self.relevant == 0).sum())
        if without:
            notes.append(f"{share_of(without, self.n, 'query', 'has')} no relevant document")
        if self.ties:
            queries = int((self.tied > 0).sum())
            notes.append(
                f"ties decided the rank of {counted(self.ties, 'judged result')} "
                f"in {counted(queries, 'query')}"
            )
        holes = [
            f"{share:.0%} of the top {depth}"
            for depth in sorted(self.judged_at)
            if (share := self.unjudged(depth)) is not None and share >= WORTH_SAYING
        ]
        if holes:
            notes.append(f"unjudged: {', '.join(holes)}; treat differences with care")
        return notes

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "n": self.n,
            "missing": self.missing,
            "extra": self.extra,
            "left_out": self.left_out,
            "retrieved": int(self.retrieved.sum()),
            "relevant": int(self.relevant.sum()),
            "relevant_retrieved": int(self.relevant_retrieved.sum()),
            "ties": {"judged_results": self.ties, "queries": int((self.tied > 0).sum())},
            "unjudged": {
                f"at_{depth}": None if (share := self.unjudged(depth)) is None else round(share, 4)
                for depth in self.judged_at
            },
            "notes": self.notes(),
        }


def no_scores(name: str, sampling: Sampling, queries: tuple[str, ...] = ()) -> Scores:
    """The scores of a run in which no query has anything to find, or nobody looks."""
    none = np.zeros(len(queries), dtype=np.int64)
    summary = Summary(none, none, none, none.astype(np.bool_), none, {}, 0)
    return Scores(name=name, queries=queries, columns={}, summary=summary, sampling=sampling)


def summarise(hits: JudgedHits, depths: tuple[int, ...], level: int = 1) -> Summary:
    """The summary of a judged-hits table."""
    judged_at = {}
    for depth in depths or DEFAULT_DEPTHS:
        column = parse_measure(f"Judged@{depth}").column(hits)
        judged_at[depth] = np.where(column.defined, column.values, -1.0)
    return Summary(
        retrieved=hits.retrieved,
        relevant=hits.relevant(level),
        relevant_retrieved=hits.count(hits.grade >= level),
        missing_queries=hits.missing,
        tied=hits.tied,
        judged_at=judged_at,
        extra=hits.extra_queries,
        odd=hits.notes,
    )
