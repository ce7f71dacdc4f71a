"""Did queries become slower or faster from one run to another?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from assay.evaluation.outcomes import Latency, latency_of
from assay.evaluation.stored_run import StoredRun
from assay.model.arrays import FloatArray
from assay.model.codec import encode
from assay.model.runs import Timings
from assay.model.sampling import DEFAULT_LEVEL, Sampling
from assay.plural import counted
from assay.stats.bootstrap import bootstrap_mean
from assay.stats.interval import Interval

NOT_TOGETHER = "the sides were not measured together, so nothing follows from their times"


class Speed(StrEnum):
    """How the latency of b compares with that of a."""

    SLOWER = "slower"
    FASTER = "faster"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class LatencyChange:
    """How much slower or faster queries became: both sides' times and b − a.

    ``repeats`` says how often both sides were asked each query in turn, and a query counts with
    its median over them. It is None for runs that were made one after the other: what else the
    machine did meanwhile is then part of the difference, so that it has neither ``interval`` nor
    ``verdict``. Where queries come in groups, those are the unit of the interval. ``pairs`` are
    the single times behind it, as in ``Timings``.
    """

    n: int
    a: Latency
    b: Latency
    difference: Latency
    interval: Interval
    repeats: int | None = None
    pairs: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict, repr=False)

    @property
    def verdict(self) -> Speed | None:
        """Slower or faster where the whole interval is; None where the sides were timed apart."""
        low, high = self.interval.low, self.interval.high
        if self.repeats is None or not self.n:
            return None
        if low is None or high is None or low <= 0.0 <= high:
            return Speed.INCONCLUSIVE
        return Speed.SLOWER if low > 0.0 else Speed.FASTER

    @property
    def remark(self) -> str:
        """How the times came about."""
        if self.repeats is None:
            return NOT_TOGETHER
        return (
            f"{counted(self.n, 'query', 'was')} asked of both sides in turn, "
            f"{counted(self.repeats, 'time')}"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        ends = [_round(self.interval.low), _round(self.interval.high)]
        return {
            "unit": "ms",
            "n": self.n,
            "a": _times(self.a),
            "b": _times(self.b),
            "difference": _times(self.difference),
            "measured_together": self.repeats is not None,
            "repeats": self.repeats,
            "ci": ends if self.interval.defined else None,
            "ci_reason": self.interval.reason,
            "verdict": None if self.verdict is None else self.verdict.value,
            "remark": self.remark,
            **({"pairs": encode(self.pairs)} if self.pairs else {}),
        }


def latency_apart(a: StoredRun, b: StoredRun, queries: Iterable[str]) -> LatencyChange:
    """The runs' own times, over queries that succeeded and were timed in both."""
    timed = [
        (one, other)
        for query in queries
        if (one := _time(a, query)) is not None and (other := _time(b, query)) is not None
    ]
    nothing = Interval(
        low=None,
        high=None,
        level=DEFAULT_LEVEL,
        method="none",
        n=len(timed),
        reason=NOT_TOGETHER,
    )
    return _change(np.array(timed, dtype=np.float64).reshape(-1, 2), nothing, None)


def latency_together(
    timings: Timings, sampling: Sampling | None = None, groups: Mapping[str, str] | None = None
) -> LatencyChange:
    """Times that were measured in turn, with the interval of their mean difference.

    ``groups`` tells which queries belong together; one that is not in it stands alone.
    """
    sampling = sampling or Sampling()
    # the median of a query over its passes: a pause of the machine is not the query's
    medians = [np.median(np.array(pairs), axis=0) for pairs in timings.pairs.values()]
    times = np.array(medians, dtype=np.float64).reshape(-1, 2)
    interval = bootstrap_mean(
        times[:, 1] - times[:, 0],
        clusters=None if groups is None else [groups.get(query, query) for query in timings.pairs],
        method=sampling.method,
        level=sampling.level,
        resamples=sampling.resamples,
        seed=sampling.seed,
    )
    return replace(_change(times, interval, timings.repeats), pairs=timings.pairs)


def _change(times: FloatArray, interval: Interval, repeats: int | None) -> LatencyChange:
    before, after = latency_of(times[:, 0]), latency_of(times[:, 1])
    difference = Latency(
        len(times),
        _minus(after.mean, before.mean),
        _minus(after.p50, before.p50),
        _minus(after.p95, before.p95),
    )
    return LatencyChange(len(times), before, after, difference, interval, repeats)


def _time(run: StoredRun, query: str) -> float | None:
    outcome = run.by_query.get(query)
    return None if outcome is None or outcome.error is not None else outcome.latency_ms


def _times(latency: Latency) -> dict[str, float | None]:
    """To a microsecond."""
    return {name: _round(getattr(latency, name)) for name in ("mean", "p50", "p95")}


def _minus(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3) + 0.0
