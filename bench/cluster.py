"""What does search on a cluster cost beside the embedded index, and our layer beside raw calls?

``python -m bench.cluster [--quick] [--only ingest,search,layer] [--url URLS] [--report] [--write]``

Three OpenSearch nodes are started on this machine (Java and Maven), or ``--url`` names a cluster.
Results are kept in ``bench/work/cluster.json``; ``--write`` turns them into a part of
BENCHMARKS.md. ``--quick`` is for trying the benchmark itself: 1,500 passages, nothing kept.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
from pathlib import Path
from typing import Any

from bench import cluster_worker as worker
from bench.cluster_report import render
from bench.document import write_part
from bench.index_data import HERE, Workload, available
from bench.machine import describe
from bench.search import built
from bench.search_data import Questions
from bench.search_engines import Assay
from bench.search_worker import folder_of
from tests.cluster.nodes import running

SECTIONS = ("ingest", "search", "layer")
RESULTS = HERE.parent / "cluster.json"
SHARDS, REPLICAS = 3, 1
HEAP = "1g"
PACKAGES = ("assay", "faiss-cpu", "httpx2")


def main(arguments: list[str] | None = None) -> None:
    options = _options(arguments)
    chosen = options.only.split(",") if options.only else [*SECTIONS]
    if unknown := set(chosen) - set(SECTIONS):
        raise SystemExit(f"--only takes {', '.join(SECTIONS)}, not {', '.join(sorted(unknown))}")
    results: dict[str, Any] = {} if options.quick else _stored()
    if not options.report:
        workload = "tiny" if options.quick else "real" if available("real") else "s100k"
        built("assay", workload)
        with running(options.url, heap=HEAP, java=()) as urls:
            measure(results, chosen, Workload(workload), urls, keep=not options.quick)
    text = render(results)
    print(text)
    if options.write and not options.quick:
        write_part("bench.cluster", text)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,500 passages, nothing kept")
    parser.add_argument("--only", help=f"sections, parted by commas: {','.join(SECTIONS)}")
    parser.add_argument("--url", help="nodes of a running cluster instead of three of our own")
    parser.add_argument("--report", action="store_true", help="measure nothing, show what is kept")
    parser.add_argument("--write", action="store_true", help="write into BENCHMARKS.md")
    return parser.parse_args(arguments)


def measure(
    results: dict[str, Any], chosen: list[str], data: Workload, urls: str, *, keep: bool
) -> None:
    """Each section in turn; what was measured is kept before the next one begins."""
    embedded = Assay(data, Questions(data))
    cluster = worker.OnCluster(data, urls, shards=SHARDS, replicas=REPLICAS)
    folder = folder_of("assay", data.spec.name)
    for section in chosen:
        results[section] = _section(section, embedded, cluster, folder)
        results[section]["load"] = os.getloadavg()[1]
        results[section]["when"] = datetime.datetime.now(datetime.UTC).date().isoformat()
        results |= {
            "machine": describe(PACKAGES),
            "workload": data.spec.name,
            "passages": data.spec.passages,
            "layout": {"shards": SHARDS, "replicas": REPLICAS, "heap": HEAP},
        }
        if keep:
            RESULTS.parent.mkdir(parents=True, exist_ok=True)
            RESULTS.write_text(json.dumps(results, indent=1))


def _section(name: str, embedded: Assay, cluster: worker.OnCluster, folder: Path) -> dict[str, Any]:
    loaded = cluster.load(folder, fresh=name == "ingest")
    if name == "ingest":
        return {"cluster": loaded, "embedded": worker.embedded_load(embedded, folder)}
    worker.warm(cluster, folder)
    if name == "search":
        return {
            "embedded": worker.searches(embedded, folder),
            "cluster": worker.searches(cluster, folder),
            "nearest": worker.nearest(cluster, folder),
        }
    return worker.layer(cluster, folder)


def _stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    return found


if __name__ == "__main__":
    main()
