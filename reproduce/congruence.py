"""Does search on a cluster find what the embedded index finds?

``python -m reproduce.congruence [NAME ...] [--url URLS] [--shards N] [--words] [--write]`` searches
each collection with both engines, component by component and fused, and compares nDCG@10. Three
OpenSearch nodes are started for it (Java and Maven), or ``--url`` names a cluster. Both engines
get the same vectors, from the workspace that ``reproduce.run`` fills; ``--words`` compares BM25
alone, in a minute, since nothing is encoded. It ends with exit code 1 where a figure differs by
more than it may.

BM25 is also asked without the statistics of the whole index (``by shard``), to show what they do.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import assay
from assay.app.workspace import Workspace
from assay.ingest import read_corpus
from assay.model.judgments import Qrels
from assay.model.query import Component, Hit
from assay.opensearch.components import WHOLE_STATISTICS, Bm25
from assay.opensearch.transport import Transport
from assay.search.fusion import fuse
from assay.search.query_type import classify
from assay.search.request import COMPONENTS, SearchOptions
from assay.settings import configure
from bench.document import write_part
from reproduce.data import indexed, judged, query_texts
from reproduce.experiment import HERE
from reproduce.run import DATA
from reproduce.searching import documents
from tests.cluster.nodes import running

COLLECTIONS = ("scifact", "nfcorpus")
MEASURE = "nDCG(gain=linear)@10"
MAY_DIFFER = {"bm25": 0.01, "splade": 0.005, "dense": 0.005, "rrf": 0.01}
BY_SHARD = "bm25 by shard"
NO_MODELS = {"dense_model": "none", "splade_model": "none", "components": "bm25"}
DEPTH = 100
TOP = 10

PROSE = """\
## The same search on a cluster: does it find the same?

Written by `python -m reproduce.congruence --write`. nDCG@10 (linear gain) of the embedded index and
of an OpenSearch cluster of three nodes, {shards} shards, the same vectors; how many queries have
another value, and how much of the first ten both share.

- **BM25** has the same fields, boosts, words and statistics. *bm25 by shard* is what a cluster
  does unless it is told otherwise: each shard weighs words by its own documents. We ask for
  `dfs_query_then_fetch` instead.
- **SPLADE**'s weights are rounded to the nine bits that `rank_features` keep.
- **Dense** is exact in the embedded index at this size and comes from a graph (HNSW) here."""

Ranked = Mapping[str, list[str]]  # query to documents, best first


@dataclass(frozen=True, slots=True)
class Row:
    """One way to search, on both engines."""

    name: str
    embedded: float
    cluster: float
    differing: int  # queries whose value differs
    queries: int
    overlap: float  # of the first ten, on average

    @property
    def difference(self) -> float:
        """What moving to the cluster changes."""
        return self.cluster - self.embedded

    @property
    def allowed(self) -> float | None:
        """How much it may; None for what only explains."""
        return MAY_DIFFER.get(self.name)

    @property
    def sound(self) -> bool:
        """Whether both engines are as close as promised."""
        return self.allowed is None or abs(self.difference) <= self.allowed


def main() -> int:
    """Compare the collections that were asked for."""
    options = _options()
    with running(options.url) as urls:
        rows = {}
        for name in options.names or COLLECTIONS:
            if not (options.data / name).is_dir():
                print(f"{name}: skipped, no collection at {options.data / name}")
                continue
            rows[name] = compare(
                name, options.data / name, urls, options.shards, words=options.words
            )
            print(table(name, rows[name]), flush=True)
    if options.write and rows:
        write_part("reproduce.congruence", report(rows, options.shards))
    if not rows:
        print("nothing was compared")
        return 1
    wrong = [f"{name} {row.name}" for name, found in rows.items() for row in found if not row.sound]
    print(f"too far apart: {', '.join(wrong)}" if wrong else "both engines are congruent")
    return 1 if wrong else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m reproduce.congruence", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"collections: {' '.join(COLLECTIONS)}")
    parser.add_argument("--url", help="nodes of a running cluster instead of three of our own")
    parser.add_argument("--shards", type=int, default=3)
    parser.add_argument("--words", action="store_true", help="only BM25: nothing is encoded")
    parser.add_argument("--write", action="store_true", help="write into BENCHMARKS.md")
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("ASSAY_SHARED_DATA", DATA))
    )
    return parser.parse_args()


def compare(name: str, folder: Path, urls: str, shards: int, *, words: bool = False) -> list[Row]:
    """Every way to search, on both engines."""
    models: dict[str, str] = NO_MODELS if words else {}
    kept = f"{name}-words" if words else name
    qrels = judged(folder, "test")
    every = query_texts(folder)
    texts = {query: every[query] for query in sorted(qrels.queries)}
    documents_of = read_corpus(folder, "beir", "whole", skip_empty=True)
    with indexed(kept, documents_of, **models) as here:
        embedded = ranked(here.snapshot().components, texts)
        settings = {
            "home": here.home,
            "engine": "opensearch",
            "opensearch_url": urls,
            **models,
            "opensearch_prefix": f"congruence-{kept}",
            "opensearch_shards": shards,
        }
        with Workspace(configure(settings, environ={}, folder=HERE)) as there:
            there.update_index()
            cluster = ranked(there.snapshot().components, texts)
            assert there.cluster is not None
            lone = _ByShard(urls)
            lists = found(Bm25(lone, there.cluster.current().index), texts)
            cluster[BY_SHARD] = {query: documents(hits) for query, hits in lists.items()}
            lone.close()
    embedded[BY_SHARD] = embedded["bm25"]
    return [row_of(way, qrels, embedded[way], cluster[way]) for way in cluster]


def ranked(components: Mapping[str, Component], texts: Mapping[str, str]) -> dict[str, Ranked]:
    """What each component finds, and all of them by reciprocal ranks."""
    present = [name for name in COMPONENTS if name in components]
    lists = {name: found(components[name], texts) for name in present}

    def fused(*chosen: str) -> Ranked:
        options = SearchOptions(components=chosen)
        return {
            query: documents(
                fuse({name: lists[name][query] for name in chosen}, options, classify(text))
            )
            for query, text in texts.items()
        }

    alone = {name: fused(name) for name in present}
    return {**alone, "rrf": fused(*present)} if len(present) > 1 else alone


def found(component: Component, texts: Mapping[str, str]) -> dict[str, list[Hit]]:
    """The list of every query."""
    return {query: component.search(text, DEPTH) for query, text in texts.items()}


class _ByShard(Transport):
    """Leaves it to each shard to weigh words, as a cluster does unless it is told otherwise."""

    def ask(self, method: str, path: str, body: object = None, **more: Any) -> dict[str, Any]:
        return super().ask(method, path.partition(WHOLE_STATISTICS)[0], body, **more)


def row_of(name: str, qrels: Qrels, embedded: Ranked, cluster: Ranked) -> Row:
    """Both engines' values of one way to search."""
    ours, theirs = (assay.score(qrels, run, [MEASURE]) for run in (embedded, cluster))
    here, there = ours.per_query(MEASURE), theirs.per_query(MEASURE)
    return Row(
        name=name,
        embedded=ours[MEASURE] or 0.0,
        cluster=theirs[MEASURE] or 0.0,
        differing=sum(here[query] != there[query] for query in embedded),
        queries=len(embedded),
        overlap=fmean(_shared(embedded[query][:TOP], cluster[query][:TOP]) for query in embedded),
    )


def _shared(one: list[str], other: list[str]) -> float:
    longest = max(len(one), len(other))
    return len({*one} & {*other}) / longest if longest else 1.0


def table(name: str, rows: list[Row]) -> str:
    """One collection."""
    head = (name, "embedded", "cluster", "difference", "allowed", "queries that differ", "top 10")
    lines = [head, (":--", *("--:",) * (len(head) - 1)), *map(_cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(row: Row) -> tuple[str, ...]:
    allowed = "" if row.allowed is None else f"± {row.allowed:.3f}"
    return (
        *(row.name, f"{row.embedded:.4f}", f"{row.cluster:.4f}"),
        *(f"{row.difference:+.4f}", allowed if row.sound else f"{allowed} **missed**"),
        *(f"{row.differing} of {row.queries}", f"{row.overlap:.1%} shared"),
    )


def report(rows: Mapping[str, list[Row]], shards: int) -> str:
    """The part of BENCHMARKS.md."""
    tables = "\n\n".join(table(name, found) for name, found in rows.items())
    return f"{PROSE.format(shards=shards)}\n\n{tables}"


if __name__ == "__main__":
    raise SystemExit(main())
