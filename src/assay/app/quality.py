"""How good was the newest evaluation, for Prometheus?

The figures are read from the store whenever somebody looks, so that they are there after a restart
and follow runs that the command line makes. What counts is the newest complete run whose
configuration is not a part of the system on purpose: a run of one component is an experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from assay.errors import AssayError
from assay.model.run_store import RunFilter, RunStore
from assay.model.runs import RunStatus

GAUGES = (
    "medicalkg_retrieval_recall_at_k",
    "medicalkg_retrieval_ndcg_at_k",
    "medicalkg_retrieval_mrr",
    "medicalkg_evaluation_last_run_timestamp_seconds",
    "medicalkg_store_up",
)
CUTOFFS = (5, 10, 20)
LOOKED_AT = 50
WHOLE_PARTS = ("all", "evaluation", "overall")


@dataclass(frozen=True, slots=True)
class Quality:
    """The figures of one run; ``metrics`` by their names in JSON, such as ``recall_at_10``."""

    metrics: Mapping[str, float | None]
    finished_at: str


class QualityCollector(Collector):
    """Asks for the newest figures each time Prometheus looks."""

    def __init__(self, newest: Callable[[], Quality | None]) -> None:
        self._newest = newest

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """The families, without asking the store."""
        yield from families(None)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The families with their values; without the store, only that it is down."""
        try:
            quality = self._newest()
        except AssayError:
            yield GaugeMetricFamily("medicalkg_store_up", "The store can be read.", 0)
            return
        yield GaugeMetricFamily("medicalkg_store_up", "The store can be read.", 1)
        yield from families(quality)


def families(quality: Quality | None) -> Iterator[GaugeMetricFamily]:
    """The gauges of the contract; one without a value has no series, never a 0."""
    metrics = {} if quality is None else quality.metrics
    for measure in ("recall", "ndcg"):
        family = GaugeMetricFamily(
            f"medicalkg_retrieval_{measure}_at_k",
            f"{measure} of the newest evaluation, by cutoff.",
            labels=["k"],
        )
        for k in CUTOFFS:
            value = metrics.get(f"{measure}_at_{k}")
            if value is not None:
                family.add_metric([str(k)], value)
        yield family
    rank = GaugeMetricFamily("medicalkg_retrieval_mrr", "MRR of the newest evaluation.")
    mrr = metrics.get("mrr")
    if mrr is not None:
        rank.add_metric([], mrr)
    yield rank
    when = GaugeMetricFamily(
        "medicalkg_evaluation_last_run_timestamp_seconds", "When the newest evaluation ended."
    )
    if quality is not None:
        when.add_metric([], datetime.fromisoformat(quality.finished_at).timestamp())
    yield when


def newest_quality(store: RunStore) -> Quality | None:
    """The figures of the newest run that stands for the whole system."""
    page = store.runs(RunFilter(status=RunStatus.COMPLETE), limit=LOOKED_AT)
    for info in page.runs:
        if _whole(info.config) and info.finished_at and info.part in WHOLE_PARTS:
            return Quality(info.aggregate.get("metrics", {}), info.finished_at)
    return None


def _whole(config: Mapping[str, Any]) -> bool:
    """Whether a run asked more than one component: one alone is an experiment."""
    components = config.get("components")
    return not isinstance(components, list) or len(components) != 1
