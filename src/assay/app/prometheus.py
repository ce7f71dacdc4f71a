"""What does Prometheus learn about the quality of the search, and how?

The figures are those of the newest complete run that stands for the whole system; a run of one
component is an experiment. A service reads them from the store whenever Prometheus looks, so that
they are there after a restart and follow runs that the command line makes. Where no service runs,
they go to a file that the node exporter's textfile collector reads, replaced as a whole, or by a
push to a Pushgateway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2 as httpx
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from assay.durable import write_atomically
from assay.errors import AssayError, InputError, UnreachableError
from assay.model.run_store import RunFilter, RunLibrary
from assay.model.runs import RunStatus
from assay.settings import Settings

JOB = "assay"
TIMEOUT_S = 10.0
GAUGES = (
    "medicalkg_retrieval_recall_at_k",
    "medicalkg_retrieval_ndcg_at_k",
    "medicalkg_retrieval_mrr",
    "medicalkg_evaluation_last_run_timestamp_seconds",
    "medicalkg_store_up",
)
CUTOFFS = (5, 10, 20)
MOST_RUNS = 50
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


def newest_quality(runs: RunLibrary) -> Quality | None:
    """The figures of the newest run that stands for the whole system."""
    page = runs.runs(RunFilter(status=RunStatus.COMPLETE), limit=MOST_RUNS)
    for info in page.runs:
        if _whole(info.config) and info.finished_at and info.part in WHOLE_PARTS:
            return Quality(info.aggregate.get("metrics", {}), info.finished_at)
    return None


def _whole(config: Mapping[str, Any]) -> bool:
    """Whether a run asked more than one component: one alone is an experiment."""
    components = config.get("components")
    return not isinstance(components, list) or len(components) != 1


def figures(runs: RunLibrary) -> bytes:
    """The gauges of the newest run, in the text form of Prometheus."""
    quality = newest_quality(runs)
    if quality is None:
        raise InputError(
            "there is no complete run of the whole system yet", hint="assay eval run makes one"
        )
    registry = CollectorRegistry()
    registry.register(QualityCollector(lambda: quality))
    return generate_latest(registry)


def destinations(settings: Settings) -> dict[str, str]:
    """Where the settings want the figures to go."""
    named = {"textfile": settings.metrics_textfile, "pushgateway": settings.pushgateway}
    return {name: str(place) for name, place in named.items() if place is not None}


def publish(settings: Settings, text: bytes) -> dict[str, str]:
    """Hand the figures to every destination that the settings name."""
    chosen = destinations(settings)
    if "textfile" in chosen:
        to_textfile(text, Path(chosen["textfile"]))
    if "pushgateway" in chosen:
        to_pushgateway(text, chosen["pushgateway"])
    return chosen


def to_textfile(text: bytes, path: Path) -> None:
    """Replace the file as a whole, so that half of it is never read."""
    write_atomically(path, text)


def to_pushgateway(text: bytes, address: str) -> None:
    """Replace what the gateway holds of us."""
    base = address if "://" in address else f"http://{address}"
    try:
        answer = httpx.put(f"{base.rstrip('/')}/metrics/job/{JOB}", content=text, timeout=TIMEOUT_S)
        answer.raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        raise UnreachableError(
            f"the Pushgateway at {address} did not take the figures: {problem}",
            hint="see the setting pushgateway",
        ) from None
