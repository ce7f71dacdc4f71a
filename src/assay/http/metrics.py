"""What does Prometheus read from this service?

Every label comes from a closed set and every series exists from the start, so that no request can
make a new one; a value outside its set counts as ``other``. The intents are those that we ship and,
once it is loaded, those of the user's own lexicon.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.exposition import generate_latest

from assay.search.request import COMPONENTS
from assay.search.response import SearchResponse

REASONS = ("timeout", "error", "unavailable", "partial")
INTENTS = (
    "tabular", "eligibility", "adverse_events", "results", "methods", "dosage",
    "dosage_forms", "overdosage", "indications", "contraindications", "interactions", "warnings",
    "boxed_warning", "pharmacology", "storage",
)  # fmt: skip
OUTCOMES = ("complete", "failed", "cancelled", "interrupted")
GATES = (
    "search", "evaluation", "work", "backup", "jobs", "answer", "uploads", "rate", "connections",
)  # fmt: skip
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")
STATUSES = ("2xx", "3xx", "4xx", "5xx", "gone")
NO_INTENT = "none"  # what callers ask for who want no boosts; never detected
OTHER = "other"

_FAST = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.15,
    0.2,
    0.3,
    0.4,
    0.5,
    0.6,
    0.8,
    1,
    2.5,
    5,
)
_TINY = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1)


class Metrics:
    """The counters and histograms of one service, in a registry of its own."""

    def __init__(self, routes: Iterable[str] = ()) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self.routes: frozenset[str] = frozenset()
        self._asked: set[str] = set()
        self._known_intents: tuple[str, ...] = INTENTS
        self._components: tuple[str, ...] = COMPONENTS
        self._make_search()
        self._make_service()
        self.know_routes(routes)
        self._series_of(OTHER)

    def know_routes(self, routes: Iterable[str]) -> None:
        """Count requests to each of these routes apart.

        The first request makes the series of all statuses: there are thousands for all routes, and
        a failure that comes later is seen as a step from zero.
        """
        self.routes = self.routes | frozenset(routes)

    def _series_of(self, route: str) -> None:
        if route not in self._asked:
            self._asked.add(route)
            self._request_seconds.labels(route)
            for status in STATUSES:
                self._requests.labels(route, status)

    def know_intents(self, intents: Iterable[str]) -> None:
        """Give each of these intents its series."""
        new = [name for name in intents if name not in self._known_intents and name != NO_INTENT]
        self._known_intents += tuple(new)
        for name in new:
            self._intents.labels(name)

    def know_components(self, names: Iterable[str]) -> None:
        """Give each of these components its series."""
        new = [name for name in names if name not in self._components]
        self._components += tuple(new)
        for name in new:
            self._component_seconds.labels(name)
            self._used.labels(name)
            for reason in REASONS:
                self._errors.labels(name, reason)

    def searched(self, response: SearchResponse) -> None:
        """Count one search, by what its response says."""
        seconds = {name: value / 1000 for name, value in response.timings_ms.items()}
        for name, histogram in self._stages.items():
            if name in seconds:
                histogram.observe(seconds[name])
        for component in self._components:
            if component in seconds:
                self._component_seconds.labels(component).observe(seconds[component])
        for component in response.components_used:
            self._used.labels(_one_of(component, self._components)).inc()
        self.failed(response.component_errors)
        for intent in response.intents:
            self._intents.labels(_one_of(str(intent.get("intent")), self._known_intents)).inc()

    def failed(self, component_errors: Iterable[str]) -> None:
        """Count the components that did not answer."""
        for error in component_errors:
            component, _, reason = error.rpartition("_")
            self._errors.labels(
                _one_of(component, self._components), _one_of(reason, REASONS)
            ).inc()

    def evaluated(self, outcome: str) -> None:
        """Count one evaluation that came to an end."""
        self._runs.labels(_one_of(outcome, OUTCOMES)).inc()

    def requested(self, route: str | None, status: str, seconds: float) -> None:
        """Count one HTTP request."""
        known = route if route in self.routes else OTHER
        assert known is not None
        self._series_of(known)
        self._requests.labels(known, _one_of(status, STATUSES)).inc()
        self._request_seconds.labels(known).observe(seconds)

    def refused(self, gate: str) -> None:
        """Count one request that was refused under load."""
        self._refused.labels(_one_of(gate, GATES)).inc()

    def gate(self, name: str, active: int, waiting: int) -> None:
        """How many are inside a gate, and how many wait."""
        self._active.labels(_one_of(name, GATES)).set(active)
        self._waiting.labels(_one_of(name, GATES)).set(waiting)

    def text(self) -> bytes:
        """Everything, in the text form that Prometheus reads."""
        return generate_latest(self.registry)

    def _make_search(self) -> None:
        self._stages = {
            "total": self._histogram("retrieval_duration_seconds", "One search.", _FAST),
            "fusion": self._histogram("fusion_duration_seconds", "Fusion of lists.", _TINY),
            "rerank": self._histogram("reranking_duration_seconds", "Reranking.", _FAST),
        }
        self._component_seconds = self._histogram(
            "retrieval_component_duration_seconds", "One component.", _FAST, component=COMPONENTS
        )
        self._used = self._counter(
            "retrieval_component_used", "Searches that a component answered.", component=COMPONENTS
        )
        self._errors = self._counter(
            "retrieval_component_errors",
            "Searches that a component failed to answer.",
            component=COMPONENTS,
            reason=REASONS,
        )
        self._intents = self._counter(
            "query_intent_detected", "Intents that were read from queries.", intent=INTENTS
        )
        self._runs = self._counter(
            "evaluation_runs", "Evaluations that this service ran.", outcome=OUTCOMES
        )

    def _make_service(self) -> None:
        self._requests = Counter(
            "medicalkg_http_requests",
            "HTTP requests.",
            ["route", "status"],
            registry=self.registry,
        )
        self._request_seconds = Histogram(
            "medicalkg_http_request_duration_seconds",
            "HTTP requests.",
            ["route"],
            registry=self.registry,
            buckets=_FAST,
        )
        self._refused = self._counter(
            "http_refused", "Requests that were refused because of load.", gate=GATES
        )
        self._active = self._gauge("gate_active", "Callers inside a gate.", gate=GATES)
        self._waiting = self._gauge("gate_waiting", "Callers in line at a gate.", gate=GATES)

    def _histogram(
        self, name: str, line: str, buckets: tuple[float, ...], **labels: tuple[str, ...]
    ) -> Histogram:
        made = Histogram(
            f"medicalkg_{name}", line, list(labels), registry=self.registry, buckets=buckets
        )
        for values in _products(labels):
            made.labels(*values)
        return made

    def _counter(self, name: str, line: str, **labels: tuple[str, ...]) -> Counter:
        made = Counter(f"medicalkg_{name}", line, list(labels), registry=self.registry)
        for values in _products(labels):
            made.labels(*values)
        return made

    def _gauge(self, name: str, line: str, **labels: tuple[str, ...]) -> Gauge:
        made = Gauge(f"medicalkg_{name}", line, list(labels), registry=self.registry)
        for values in _products(labels):
            made.labels(*values)
        return made


def _products(labels: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Every combination of label values, ``other`` among them; nothing for no labels."""
    from itertools import product

    if not labels:
        return []
    return list(product(*((*values, OTHER) for values in labels.values())))


def _one_of(value: str, known: tuple[str, ...]) -> str:
    return value if value in known else OTHER
