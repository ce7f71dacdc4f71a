"""What do both signals of a passage and of a query cost: two models, or one pass of one?

The ways take turns, round by round and query by query, in one process. Passages are encoded on all
cores, queries one at a time on one core. A figure is the median of the rounds, with the smallest
and the largest in brackets; processor time stands beside the clock, since machines are shared.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.encode.catalog import CARDS
from assay.encode.encoders import open_dense, open_hybrid, open_sparse
from assay.encode.shelf import Shelf
from assay.model.vectors import DenseEncoder, HybridEncoder, SparseEncoder, whole_of
from bench.targets import Target

WAYS = (
    ("bge-small-en-v1.5", "splade-tiny"),
    ("assay-bio", "assay-bio"),
    ("assay-bio-fast", "assay-bio-fast"),
)
COLUMNS = (
    *("models", "passages/s", "cpu ms/passage", "terms/passage"),
    *("query p50 ms", "query cpu p50 ms", "query p95 ms"),
)
TARGETS = {"assay-bio": (16, 9), "assay-bio-fast": (40, 5)}  # passages a second, ms a query
TERMS = 160


@dataclass(frozen=True, slots=True)
class Way:
    """A way to both signals, opened for passages on all cores and for queries on one."""

    name: str
    dense: DenseEncoder
    sparse: SparseEncoder
    query_dense: DenseEncoder
    query_sparse: SparseEncoder

    def passages(self, texts: list[str]) -> int:
        """Encode passages; how many terms they have."""
        whole: HybridEncoder | None = whole_of(self.dense)
        if whole is not None:
            return sum(len(both.sparse.terms) for both in whole.encode_both(texts))
        self.dense.encode(texts, "passage")
        return sum(len(one.terms) for one in self.sparse.encode(texts, "passage"))

    def query(self, text: str) -> None:
        """Encode one query."""
        self.query_dense.encode([text], "query")
        self.query_sparse.encode([text], "query")


def opened(names: tuple[str, str], here: Shelf) -> Way | None:
    """The models of a way; None where one of them is not here."""
    if any(here.find(CARDS[name]) is None for name in names):
        return None
    name = " + ".join(dict.fromkeys(names))
    if CARDS[names[0]].role != "hybrid":
        return Way(
            name,
            open_dense(names[0], here),
            open_sparse(names[1], here),
            open_dense(names[0], here, threads=1),
            open_sparse(names[1], here, threads=1),
        )
    many, one = (open_hybrid(names[0], here, threads=at) for at in (0, 1))
    assert many is not None
    assert one is not None
    return Way(name, many.dense, many.sparse, one.dense, one.sparse)


def measured(
    here: Shelf, passages: list[str], queries: Sequence[str], rounds: int
) -> list[dict[str, Any]]:
    """One row for each way whose models are here."""
    ways = [way for names in WAYS if (way := opened(names, here)) is not None]
    speed: dict[str, list[tuple[float, float]]] = {way.name: [] for way in ways}
    latency: dict[str, list[list[tuple[float, float]]]] = {way.name: [] for way in ways}
    terms: dict[str, float] = {}
    for way in ways:  # opens what is opened late
        terms[way.name] = way.passages(passages) / len(passages)
        way.query(queries[0])
    for _ in range(rounds):
        for way in ways:
            speed[way.name].append(_timed(way.passages, passages))
            latency[way.name].append([])
        for text in queries:
            for way in ways:
                latency[way.name][-1].append(_timed(way.query, text))
    return [
        {
            "models": way.name,
            "passages/s": _spread([len(passages) / clock for clock, _ in speed[way.name]], 1),
            "cpu ms/passage": _spread(
                [1000 * cpu / len(passages) for _, cpu in speed[way.name]], 1
            ),
            "terms/passage": round(terms[way.name]),
            "query p50 ms": _spread([_median(each, 0) for each in latency[way.name]], 2),
            "query cpu p50 ms": _spread([_median(each, 1) for each in latency[way.name]], 2),
            "query p95 ms": _spread([_late(each) for each in latency[way.name]], 2),
        }
        for way in ways
    ]


def targets(rows: Sequence[Mapping[str, Any]]) -> str:
    """The figures that should be reached, and whether they are."""
    lines = ["| figure | target | measured | |", "| :-- | --: | --: | :-- |"]
    for row in rows:
        if row["models"] in TARGETS:
            name, (speed, latency) = row["models"], TARGETS[row["models"]]
            lines += [
                Target(f"{name}, both signals", _figure(row["passages/s"]), speed, "/s").row(),
                Target(
                    f"{name}, query P50",
                    _figure(row["query p50 ms"]),
                    latency,
                    "ms",
                    at_least=False,
                ).row(),
                Target(
                    f"{name}, terms a passage", row["terms/passage"], TERMS, "", at_least=False
                ).row(),
            ]
    return "\n".join(lines)


def _timed(work: Any, given: Any) -> tuple[float, float]:
    clock, cpu = time.perf_counter(), time.process_time()
    work(given)
    return time.perf_counter() - clock, time.process_time() - cpu


def _median(times: list[tuple[float, float]], at: int) -> float:
    return 1000 * statistics.median(each[at] for each in times)


def _late(times: list[tuple[float, float]]) -> float:
    return 1000 * sorted(clock for clock, _ in times)[int(0.95 * len(times))]


def _spread(values: Sequence[float], digits: int) -> str:
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"


def _figure(text: str) -> float:
    return float(text.partition(" ")[0])
