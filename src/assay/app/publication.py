"""How do the figures of a run reach Prometheus from a machine that runs no service?

Either as a file that the node exporter's textfile collector reads, replaced as a whole, or by a
push to a Pushgateway.
"""

from __future__ import annotations

from pathlib import Path

import httpx2 as httpx
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from assay.app.quality import QualityCollector, newest_quality
from assay.durable import write_atomically
from assay.errors import InputError, UnreachableError
from assay.model.run_store import RunStore
from assay.settings import Settings

JOB = "assay"
TIMEOUT_S = 10.0


def figures(store: RunStore) -> bytes:
    """The gauges of the newest run, in the text form of Prometheus."""
    quality = newest_quality(store)
    if quality is None:
        raise InputError(
            "there is no complete run of the whole system yet", hint="assay eval run makes one"
        )
    registry = CollectorRegistry()
    registry.register(QualityCollector(lambda: quality))
    return generate_latest(registry)


def places(config: Settings) -> dict[str, str]:
    """Where the settings want figures to go."""
    named = {"textfile": config.metrics_textfile, "pushgateway": config.pushgateway}
    return {name: str(place) for name, place in named.items() if place is not None}


def publish(config: Settings, text: bytes) -> dict[str, str]:
    """Hand the figures to every place that the settings name."""
    found = places(config)
    if "textfile" in found:
        to_textfile(text, Path(found["textfile"]))
    if "pushgateway" in found:
        to_pushgateway(text, found["pushgateway"])
    return found


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
