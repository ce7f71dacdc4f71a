"""How much slower or faster did queries become?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.evaluation.sampling import Sampling
from assay.evaluation.stored_run import StoredRun
from assay.model.arrays import FloatArray
from assay.stats.bootstrap import bootstrap_mean
from assay.stats.clustering import cluster_shares
from assay.stats.interval import Interval
from assay.stats.wilcoxon import wilcoxon


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds over the queries that were timed in both runs."""

    mean: float | None
    p50: float | None
    p95: float | None

    def to_dict(self) -> dict[str, float | None]:
        """JSON-ready, to a microsecond."""
        return {"mean": _round(self.mean), "p50": _round(self.p50), "p95": _round(self.p95)}


@dataclass(frozen=True, slots=True)
class LatencyChange:
    """Both runs' times and b − a; ``interval`` is that of the mean difference.

    ``median_change`` and ``p`` (Wilcoxon) look at single queries, so that one that had to wait for
    a cold start does not decide. Where queries come in groups, those are the unit of ``interval``
    and ``p``.
    """

    n: int
    a: Times
    b: Times
    difference: Times
    interval: Interval
    median_change: float | None
    p: float | None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        ends = [_round(self.interval.low), _round(self.interval.high)]
        return {
            "unit": "ms",
            "n": self.n,
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "difference": self.difference.to_dict(),
            "ci": ends if self.interval.defined else None,
            "median_change": _round(self.median_change),
            "p_wilcoxon": self.p,
        }


def latency_change(
    a: StoredRun,
    b: StoredRun,
    queries: Iterable[str],
    sampling: Sampling | None = None,
    groups: Mapping[str, str] | None = None,
) -> LatencyChange:
    """The times of queries that succeeded and were timed in both runs, side by side.

    ``groups`` tells which queries belong together; one that is not in it stands alone.
    """
    sampling = sampling or Sampling()
    timed = [
        (query, one, other)
        for query in queries
        if (one := _time(a, query)) is not None and (other := _time(b, query)) is not None
    ]
    clusters = None if groups is None else [groups.get(query, query) for query, _, _ in timed]
    times = np.array([pair for _, *pair in timed], dtype=np.float64).reshape(-1, 2)
    before, after = _times(times[:, 0]), _times(times[:, 1])
    return LatencyChange(
        n=len(times),
        a=before,
        b=after,
        difference=Times(
            _minus(after.mean, before.mean),
            _minus(after.p50, before.p50),
            _minus(after.p95, before.p95),
        ),
        interval=bootstrap_mean(
            times[:, 1] - times[:, 0],
            clusters=clusters,
            method=sampling.method,
            level=sampling.level,
            resamples=sampling.resamples,
            seed=sampling.seed,
        ),
        median_change=float(np.median(times[:, 1] - times[:, 0])) if len(times) else None,
        p=_p(times, clusters),
    )


def _p(times: FloatArray, clusters: list[str] | None) -> float | None:
    """How likely such a difference is where there is none; of groups, their shares are compared."""
    if clusters:
        times, _ = cluster_shares(times, np.ones(times.shape, dtype=np.bool_), clusters)
    return wilcoxon(times[:, 0], times[:, 1]).p


def _time(run: StoredRun, query: str) -> float | None:
    outcome = run.by_query.get(query)
    return None if outcome is None or outcome.error is not None else outcome.latency_ms


def _times(values: FloatArray) -> Times:
    if not len(values):
        return Times(None, None, None)
    p50, p95 = np.percentile(values, (50, 95)).tolist()
    return Times(float(values.mean()), p50, p95)


def _minus(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3) + 0.0
