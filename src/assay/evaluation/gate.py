"""May this change be merged, or did search get worse?

    passed        no measure got worse by more than its limit
    failed        one did
    inconclusive  a value is undefined, the baseline is 0 so that nothing can drop, the runs cannot
                  be compared, or (non-inferiority) the interval reaches to both sides of the limit;
                  a run that is incomplete, degraded or has failed answers is never compared

With ``non_inferiority`` the interval of the paired difference decides instead of the means: passed
where all of it lies above the limit, failed where all of it lies below. Its level is 1 − 2 alpha,
which is a one-sided test at alpha on either side.

Limits are written ``Recall@10=5%`` (relative to the baseline) or ``nDCG@10=0.02`` (absolute). A
drop of exactly the limit passes. Every measure that can be gated lies between 0 and 1, so an
absolute limit is below 1.

Latency has limits of its own: ``latency_p95=20%`` and ``latency_mean=15ms`` say how much slower
queries may become, ``latency_p95<500ms`` how long they may take at all. Sides that were not timed
together cannot show that one is slower: a limit that is exceeded is then inconclusive.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np

from assay.errors import UsageError
from assay.evaluation.baseline import Baseline
from assay.evaluation.defaults import GATE_LIMIT
from assay.evaluation.drawing import drawn_otherwise
from assay.evaluation.latency import NOT_TOGETHER, LatencyChange, Speed
from assay.evaluation.outcomes import Latency
from assay.evaluation.scores import ends, rounded
from assay.measures.base import Family, Measure
from assay.measures.parse import parse_measure
from assay.model.sampling import Sampling
from assay.model.scoring import MATCHED_BY
from assay.model.tabular import Records, Tabular
from assay.plural import counted
from assay.stats.bootstrap import bootstrap_mean
from assay.stats.defaults import DEFAULT_ALPHA
from assay.stats.interval import Interval

ROUNDING = 1e-9  # 0.80 to 0.76 is a drop of exactly 5 %, whatever floating point says
FILE_ROUNDING = 6e-5  # half of the last of four decimals, and what a margin makes of it
NOT_COMPARED = "not compared: see the reasons below"
_AMOUNT = r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)"


class GateOutcome(StrEnum):
    """What the gate says, of one measure or of all."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        return {"passed": 0, "failed": 3, "inconclusive": 4}[self.value]


@dataclass(frozen=True, slots=True)
class GateLimit:
    """The largest drop of one measure that passes."""

    measure: Measure
    amount: float
    relative: bool

    def __str__(self) -> str:
        return f"{self.measure}={self.allowed}"

    @property
    def name(self) -> str:
        """What is limited."""
        return str(self.measure)

    @property
    def allowed(self) -> str:
        """The amount as it is written."""
        return f"{self.amount * 100:g}%" if self.relative else f"{self.amount:g}"

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value of the measure is good news."""
        return not self.measure.definition.lower_is_better

    def margin(self, baseline: float) -> float:
        """The allowed drop in units of the measure."""
        return self.amount * abs(baseline) if self.relative else self.amount

    def worse_by(self, baseline: float, current: float) -> float:
        """How far the measure went in the bad direction; negative where it got better."""
        return baseline - current if self.higher_is_better else current - baseline

    def got_worse(self, baseline: float, current: float, *, rounded: bool = False) -> bool:
        """Whether the measure got worse at all, by more than ``slack``."""
        return self.worse_by(baseline, current) > slack(rounded)

    def exceeded(self, baseline: float, current: float, *, rounded: bool = False) -> bool:
        """Whether the measure got worse by more than the limit; files hold ``rounded`` numbers."""
        return self.worse_by(baseline, current) > self.margin(baseline) + slack(rounded)


class LatencyBound(StrEnum):
    """What the amount of a latency limit is."""

    SHARE = "share"  # how much slower, of the baseline
    INCREASE = "increase"  # how much slower, in milliseconds
    CEILING = "ceiling"  # how long at all, in milliseconds


@dataclass(frozen=True, slots=True)
class LatencyLimit:
    """The largest slowdown that passes, or the longest time; ``figure`` is mean, p50 or p95."""

    figure: str
    amount: float
    bound: LatencyBound

    def __str__(self) -> str:
        return f"{self.name}{'' if self.bound is LatencyBound.CEILING else '='}{self.allowed}"

    @property
    def name(self) -> str:
        """What is limited."""
        return f"latency_{self.figure}"

    @property
    def allowed(self) -> str:
        """The amount as it is written."""
        if self.bound is LatencyBound.SHARE:
            return f"{self.amount * 100:g}%"
        sign = "<" if self.bound is LatencyBound.CEILING else ""
        return f"{sign}{self.amount:g}ms"

    def of(self, latency: Latency | None) -> float | None:
        """The figure of one side, in milliseconds."""
        found: float | None = None if latency is None else getattr(latency, self.figure)
        return found

    def most(self, baseline: float) -> float:
        """How long queries may take, given the baseline."""
        if self.bound is LatencyBound.SHARE:
            return baseline * (1 + self.amount)
        return self.amount + (baseline if self.bound is LatencyBound.INCREASE else 0.0)


AnyLimit: TypeAlias = GateLimit | LatencyLimit


@dataclass(frozen=True, slots=True)
class Check:
    """One measure, or the latency, held against its limit; times are in milliseconds."""

    limit: AnyLimit
    baseline: float | None
    current: float | None
    outcome: GateOutcome
    sentence: str
    interval: Interval | None = None

    @property
    def difference(self) -> float | None:
        """Current minus baseline."""
        if self.baseline is None or self.current is None:
            return None
        return self.current - self.baseline

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "measure": self.limit.name,
            "limit": self.limit.allowed,
            "baseline": rounded(self.baseline),
            "current": rounded(self.current),
            "difference": rounded(self.difference),
            "relative": _relative(self.baseline, self.current),
            "ci": ends(self.interval),
            "outcome": self.outcome.value,
            "explanation": self.sentence,
            **({"unit": "ms"} if isinstance(self.limit, LatencyLimit) else {}),
        }


@dataclass(frozen=True, slots=True)
class FailingQuery:
    """A query that got worse, by the first measure that has a limit."""

    query_id: str
    query_text: str
    query_type: str
    baseline: float
    current: float


@dataclass(frozen=True, slots=True)
class GateReport(Tabular):
    """Everything that a reviewer should see."""

    baseline: str
    current: str
    checks: tuple[Check, ...]
    shown: Mapping[str, tuple[float | None, float | None]]
    by_type: Mapping[str, Mapping[str, tuple[float | None, float | None]]]
    failing: tuple[FailingQuery, ...]
    failing_measure: str
    blockers: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    non_inferiority: bool = False
    provenance: Mapping[str, str] = field(default_factory=dict)

    @property
    def outcome(self) -> GateOutcome:
        """A blocker makes it inconclusive; else one failure fails all."""
        outcomes = {check.outcome for check in self.checks}
        if self.blockers:
            return GateOutcome.INCONCLUSIVE
        for outcome in (GateOutcome.FAILED, GateOutcome.INCONCLUSIVE):
            if outcome in outcomes:
                return outcome
        return GateOutcome.PASSED

    def records(self) -> Records:
        """A row for each limit."""
        rows = [
            {
                "measure": check.limit.name,
                "baseline": check.baseline,
                "current": check.current,
                "difference": check.difference,
                "limit": check.limit.allowed,
                "outcome": check.outcome.value,
                "explanation": check.sentence,
            }
            for check in self.checks
        ]
        title = f"{self.outcome.value}: {self.current} against {self.baseline}"
        return Records.of(rows, title, (*self.blockers, *self.warnings))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "outcome": self.outcome.value,
            "exit_code": self.outcome.exit_code,
            "baseline": self.baseline,
            "current": self.current,
            "mode": "non_inferiority" if self.non_inferiority else "limit",
            "checks": [check.to_dict() for check in self.checks],
            "measures": _sides(self.shown),
            "per_query_type": {kind: _sides(values) for kind, values in self.by_type.items()},
            "failing_measure": self.failing_measure,
            "failing_queries": [
                {
                    "query_id": query.query_id,
                    "query_type": query.query_type,
                    "baseline": rounded(query.baseline),
                    "current": rounded(query.current),
                }
                for query in self.failing
            ],
            "blockers": list(self.blockers),
            "warnings": list(self.warnings),
            "provenance": dict(self.provenance),
        }


def gate(
    baseline: Baseline,
    current: Baseline,
    limits: Sequence[AnyLimit],
    *,
    non_inferiority: bool = False,
    alpha: float = DEFAULT_ALPHA,
    sampling: Sampling | None = None,
    timed: LatencyChange | None = None,
    warnings: Sequence[str] = (),
) -> GateReport:
    """Compare the current run with the baseline; ``timed`` are both, timed in turn."""
    blockers = _blockers(baseline, current)
    sampling = sampling or Sampling()
    checks = tuple(
        _by_times(limit, baseline, current, timed)
        if isinstance(limit, LatencyLimit)
        else _by_interval(limit, baseline, current, alpha, sampling)
        if non_inferiority
        else _by_means(limit, baseline, current)
        for limit in limits
    )
    if blockers:  # no row says "passed" of what was not compared
        checks = tuple(
            replace(check, outcome=GateOutcome.INCONCLUSIVE, sentence=NOT_COMPARED)
            for check in checks
        )
    keys = list(dict.fromkeys([*baseline.means, *current.means]))
    types = [kind for kind in current.by_type if kind in baseline.by_type]
    of_quality = (limit for limit in limits if isinstance(limit, GateLimit))
    first = next(of_quality, measure_limit(GATE_LIMIT))
    return GateReport(
        baseline=baseline.name,
        current=current.name,
        checks=checks,
        shown=_pairs(keys, baseline.means, current.means),
        by_type={
            kind: _pairs(keys, baseline.by_type[kind], current.by_type[kind]) for kind in types
        },
        failing=_failing(first.name, first, baseline, current),
        failing_measure=first.name,
        blockers=tuple(blockers),
        warnings=tuple(
            dict.fromkeys(
                (
                    *warnings,
                    *current.rule_notes,
                    *_drawn_otherwise(baseline, current, non_inferiority),
                    *baseline.warnings,
                    *current.warnings,
                )
            )
        ),
        non_inferiority=non_inferiority,
        provenance={
            **{f"baseline {key}": value for key, value in baseline.provenance.items()},
            **{f"current {key}": value for key, value in current.provenance.items()},
        },
    )


def _blockers(baseline: Baseline, current: Baseline) -> list[str]:
    found = [
        f"{side.name} is degraded: {counted(side.degraded, 'query', 'was')} answered without "
        "some component"
        for side in (baseline, current)
        if side.degraded
    ]
    found += [side.incomplete for side in (baseline, current) if side.incomplete is not None]
    found += [
        f"{counted(side.unanswered, 'query')} of {side.name} could not be answered"
        for side in (baseline, current)
        if side.unanswered
    ]
    if baseline.failed:
        found.append(
            f"{counted(baseline.failed, 'query')} of {baseline.name} failed, which lowers the bar: "
            "make the baseline again"
        )
    one, other = baseline.test_set, current.test_set
    if one is not None and other is not None and one.differs(other):
        found.append(
            f"the test sets differ ({one} and {other}): make a baseline with the present one"
        )
    elif one is not None and other is not None and one.asked_otherwise(other):
        found.append(
            f"the queries were asked with other filters (part {one.part} and {other.part}): "
            "make both with the same --mode"
        )
    before, after = baseline.match, current.match
    if before is not None and after is not None and before is not after:
        found.append(
            f"{baseline.name} is scored {MATCHED_BY[before]}, {current.name} {MATCHED_BY[after]}: "
            "make both with the same --match"
        )
    separators = baseline.chunk_separator, current.chunk_separator
    if before is not None and after is not None and separators[0] != separators[1]:
        found.append(
            f'document and chunk are separated by "{separators[0]}" and "{separators[1]}": '
            "make both with the same --chunk-separator"
        )
    if before is not None and after is not None and baseline.protocol != current.protocol:
        found.append(
            f"the protocols differ ({baseline.protocol or 'none'} and "
            f"{current.protocol or 'none'}): make both with the same --protocol"
        )
    if chunkers_differ(baseline, current):
        found.append(
            "the chunkers differ, and a file has no results to match by their characters: "
            "take the stored run as baseline"
        )
    if unsaid := lacking(baseline, current):
        missing, written = (part for part in zip(*unsaid, strict=True))
        found.append(
            f"{baseline.name} does not say {' and '.join(missing)}: take the stored run as "
            f"baseline, or write it into the file ({', '.join(written)})"
        )
    return found


def chunkers_differ(baseline: Baseline, current: Baseline) -> bool:
    """Whether judged documents were cut in two ways, as far as both sides know."""
    one, other = baseline.chunkers, current.chunkers
    return one is not None and other is not None and one.differ(other)


def lacking(baseline: Baseline, current: Baseline) -> list[tuple[str, str]]:
    """What a file leaves open that could change the verdict, and how a file says it."""
    found = []
    if baseline.match is None and current.match is not None:
        rule = current.match.value
        found.append(
            (
                f"by which rule its run was scored (this one: {rule})",
                f'"scoring": {{"match": "{rule}"}}',
            )
        )
    if baseline.chunkers is None and current.chunkers is not None and current.chunkers.index:
        named = sorted(current.chunkers.index)
        found.append(
            (
                f"with which chunker it was made (this one: {', '.join(named)})",
                f'"chunker_versions": {json.dumps(named)}',
            )
        )
    return found


def _drawn_otherwise(baseline: Baseline, current: Baseline, drawn: bool) -> list[str]:
    """What to know where the sides were made with different statistics."""
    said = drawn_otherwise(baseline.drawing, current.drawing)
    if not said or drawn:
        return said
    return [
        f"{baseline.name} and {current.name} draw intervals differently: "
        "here the means decide, and no interval is drawn"
    ]


def _by_means(limit: GateLimit, before: Baseline, after: Baseline) -> Check:
    key = str(limit.measure)
    baseline, current = before.means.get(key), after.means.get(key)
    undefined = _undefined(limit, baseline, current)
    if undefined is not None:
        return undefined
    assert baseline is not None
    assert current is not None
    worse, rounded_side = limit.worse_by(baseline, current), before.rounded or after.rounded
    if not limit.got_worse(baseline, current, rounded=rounded_side):
        sentence = "it did not get worse"
    else:
        share = f" ({worse / abs(baseline):.2%} of the baseline)" if baseline else ""
        sentence = f"it got worse by {worse:.4f}{share}; {limit.allowed} is allowed"
    failed = limit.exceeded(baseline, current, rounded=rounded_side)
    outcome = GateOutcome.FAILED if failed else GateOutcome.PASSED
    return Check(limit, baseline, current, outcome, sentence)


def _by_times(
    limit: LatencyLimit, before: Baseline, after: Baseline, timed: LatencyChange | None
) -> Check:
    """Hold the times of both sides against a limit: those taken in turn where there are any."""
    if limit.bound is LatencyBound.CEILING:
        return _by_ceiling(limit, before, after)
    sides = (before.latency, after.latency) if timed is None else (timed.a, timed.b)
    baseline, current = (limit.of(side) for side in sides)
    if baseline is None or current is None:
        return _untimed(limit, baseline, current, before if baseline is None else after)
    interval = None if timed is None else timed.interval
    took = f"{baseline:.1f} ms became {current:.1f} ms"
    apart = "" if timed is not None else f" ({NOT_TOGETHER}: latency_repeats times them in turn)"
    if current <= limit.most(baseline) + slack(rounded=True):
        sentence = f"{took}; {limit.allowed} more is allowed{apart}"
        return Check(limit, baseline, current, GateOutcome.PASSED, sentence, interval)
    sentence = f"{took}, and only {limit.allowed} more is allowed{apart}"
    if timed is not None and timed.verdict is Speed.SLOWER:
        return Check(limit, baseline, current, GateOutcome.FAILED, sentence, interval)
    if timed is not None:
        sentence += "; but the interval of the mean difference holds 0: time them more often"
    return Check(limit, baseline, current, GateOutcome.INCONCLUSIVE, sentence, interval)


def _by_ceiling(limit: LatencyLimit, before: Baseline, after: Baseline) -> Check:
    """Hold the times that the current run itself took against the longest that is allowed."""
    baseline, current = limit.of(before.latency), limit.of(after.latency)
    if current is None:
        return _untimed(limit, baseline, current, after)
    fits = current <= limit.amount
    sentence = f"queries took {current:.1f} ms; {limit.amount:g} ms is allowed"
    outcome = GateOutcome.PASSED if fits else GateOutcome.FAILED
    return Check(limit, baseline, current, outcome, sentence)


def _untimed(
    limit: LatencyLimit, baseline: float | None, current: float | None, side: Baseline
) -> Check:
    sentence = f"{side.name} does not say how long its queries took"
    return Check(limit, baseline, current, GateOutcome.INCONCLUSIVE, sentence)


def _by_interval(
    limit: GateLimit, before: Baseline, after: Baseline, alpha: float, sampling: Sampling
) -> Check:
    key = str(limit.measure)
    baseline, current = before.means.get(key), after.means.get(key)
    undefined = _undefined(limit, baseline, current)
    if undefined is not None:
        return undefined
    one, other = before.per_query.get(key, {}), after.per_query.get(key, {})
    common = [q for q in other if other[q] is not None and one.get(q) is not None]
    if not common:
        sentence = _no_pairs(limit, before, after)
        return Check(limit, baseline, current, GateOutcome.INCONCLUSIVE, sentence)
    a = np.array([one[q] for q in common], dtype=np.float64)
    b = np.array([other[q] for q in common], dtype=np.float64)
    good = b - a if limit.higher_is_better else a - b
    groups = _clusters(before, after)
    interval = bootstrap_mean(
        good,
        clusters=None if groups is None else [groups[query] for query in common],
        method=sampling.method,
        level=1 - 2 * alpha,
        resamples=sampling.resamples,
        seed=sampling.seed,
    )
    nothing = _nothing_to_lose(limit, float(a.mean()), float(b.mean()))
    if nothing is not None:
        return nothing
    margin = limit.margin(float(a.mean()))
    outcome, sentence = _ruling(interval, margin, slack(before.rounded or after.rounded))
    return Check(limit, float(a.mean()), float(b.mean()), outcome, sentence, interval)


def _clusters(before: Baseline, after: Baseline) -> Mapping[str, str] | None:
    """The group of each query, where either side was made to resample groups."""
    if not (before.by_group or after.by_group):
        return None
    return after.groups if after.groups is not None else before.groups


def _no_pairs(limit: GateLimit, before: Baseline, after: Baseline) -> str:
    """Why there is nothing to draw an interval from, and what to do."""
    key = str(limit.measure)
    for side in (before, after):
        if not side.per_query.get(key):
            return (
                f"{side.name} has no values of single queries to draw an interval from: make the "
                "file with assay eval show RUN --json --per-query, or name the stored run"
            )
    return "no query has a value on both sides: make both with the same test set"


def _ruling(interval: Interval, margin: float, apart: float) -> tuple[GateOutcome, str]:
    """What the interval says of the margin; ends closer to it than ``apart`` lie on it."""
    low, high = interval.low, interval.high
    if low is None or high is None:
        return GateOutcome.INCONCLUSIVE, f"there is no interval: {interval.reason}"
    shown = f"the {interval.level:.0%} interval of the change, [{low:+.4f}, {high:+.4f}],"
    if low >= -margin - apart:
        return GateOutcome.PASSED, f"{shown} lies above −{margin:.4f}"
    if high < -margin - apart:
        return GateOutcome.FAILED, f"{shown} lies below −{margin:.4f}"
    return GateOutcome.INCONCLUSIVE, f"{shown} reaches below −{margin:.4f}: take more queries"


def _undefined(limit: GateLimit, baseline: float | None, current: float | None) -> Check | None:
    """What a check says that cannot be made, if it cannot."""
    if baseline is not None and current is not None:
        return _nothing_to_lose(limit, baseline, current)
    side = "baseline" if baseline is None else "current run"
    sentence = f"the {side} has no value of {limit.measure}"
    return Check(limit, baseline, current, GateOutcome.INCONCLUSIVE, sentence)


def _nothing_to_lose(limit: GateLimit, baseline: float, current: float) -> Check | None:
    if baseline != 0.0 or not limit.higher_is_better:
        return None
    sentence = (
        f"the baseline of {limit.measure} is 0, so nothing can drop and everything would pass: "
        "make a baseline that finds something"
    )
    return Check(limit, baseline, current, GateOutcome.INCONCLUSIVE, sentence)


def _failing(
    key: str, limit: GateLimit, baseline: Baseline, current: Baseline
) -> tuple[FailingQuery, ...]:
    before, after = baseline.per_query.get(key, {}), current.per_query.get(key, {})
    rounded_side = baseline.rounded or current.rounded
    found = []
    for query, value in after.items():
        old = before.get(query)
        if old is None or value is None:
            continue
        if limit.got_worse(old, value, rounded=rounded_side):
            text, kind = current.queries.get(query, ("", ""))
            found.append(FailingQuery(query, text, kind, old, value))
    return tuple(sorted(found, key=lambda q: (-limit.worse_by(q.baseline, q.current), q.query_id)))


def _pairs(
    keys: Sequence[str], a: Mapping[str, float | None], b: Mapping[str, float | None]
) -> dict[str, tuple[float | None, float | None]]:
    return {key: (a.get(key), b.get(key)) for key in keys}


def _sides(values: Mapping[str, tuple[float | None, float | None]]) -> dict[str, Any]:
    return {
        key: {"baseline": rounded(before), "current": rounded(after)}
        for key, (before, after) in values.items()
    }


def _relative(baseline: float | None, current: float | None) -> float | None:
    if baseline is None or current is None or baseline == 0.0:
        return None
    return rounded((current - baseline) / abs(baseline))


def slack(rounded: bool) -> float:
    """How far two equal values may lie apart, where one of them was ``rounded`` or none was."""
    return FILE_ROUNDING if rounded else ROUNDING


def parse_limit(text: str) -> AnyLimit:
    """The limit that ``measure=amount`` or ``latency_p95=amount`` stands for."""
    of_latency = text.strip().lower().startswith("latency")
    return latency_limit(text) if of_latency else measure_limit(text)


def measure_limit(text: str) -> GateLimit:
    """The limit of a measure."""
    name, equals, amount = text.rpartition("=")
    if not equals or not name.strip():
        raise _bad(text)
    measure = parse_measure(name)
    if measure.definition.family is Family.DECISION:
        raise UsageError(f"{measure} cannot be gated", hint="give a measure of rankings or answers")
    found = re.fullmatch(rf"{_AMOUNT}\s*(%?)", amount.strip())
    number = float(found[1]) if found else math.nan
    if found is None or not math.isfinite(number):
        raise _bad(text)
    relative = bool(found[2])
    if not relative and number >= 1.0:
        raise UsageError(
            f"{text!r:.80} can never fail: {measure} lies between 0 and 1, and so does any drop",
            hint=f'did you mean "{measure}={found[1]}%"?',
        )
    return GateLimit(measure, number / 100 if relative else number, relative)


def latency_limit(text: str) -> LatencyLimit:
    """The limit of a figure of latency."""
    form = rf"latency_(mean|p50|p95)\s*(=|<=?)\s*{_AMOUNT}\s*(%|ms)"
    found = re.fullmatch(form, text.strip().lower())
    number = float(found[3]) if found else math.nan
    ceiling = found is not None and found[2] != "="
    if found is None or not math.isfinite(number) or (ceiling and found[4] == "%"):
        raise UsageError(
            f"{text!r:.80} is not a limit of latency",
            hint='write "latency_p95=20%" (slower than the baseline), "latency_mean=15ms" or '
            '"latency_p95<500ms" (at all); mean, p50 and p95 are known',
        )
    if ceiling:
        return LatencyLimit(found[1], number, LatencyBound.CEILING)
    if found[4] == "%":
        return LatencyLimit(found[1], number / 100, LatencyBound.SHARE)
    return LatencyLimit(found[1], number, LatencyBound.INCREASE)


def parse_limits(texts: Iterable[str]) -> tuple[AnyLimit, ...]:
    """The limits in force: those given, or the usual one where none is."""
    given: dict[str, AnyLimit] = {}
    for text in texts:
        limit = parse_limit(text)
        ceiling = isinstance(limit, LatencyLimit) and limit.bound is LatencyBound.CEILING
        key = f"{limit.name}<" if ceiling else limit.name  # a slowdown and a ceiling are two things
        if key in given:
            raise UsageError(f"{limit.name} has two limits")
        given[key] = limit
    return tuple(given.values()) or (measure_limit(GATE_LIMIT),)


def _bad(text: str) -> UsageError:
    return UsageError(
        f"{text!r:.80} is not a limit",
        hint='write "Recall@10=5%" (relative), "nDCG@10=0.02" or "latency_p95=20%"',
    )
