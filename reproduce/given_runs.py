"""What does fusing runs of other systems give?

A run's ``files`` names TREC run files to fuse, as in ``bm25=bm25.trec.gz splade=splade.trec.gz``;
their ranks count, as the engine gave them. ``ties: trec`` scores the fused run as trec_eval reads
it (equal scores by document id) and not in our own order, for anchors that were made so.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import assay
from assay.model.query import Hit
from assay.search.fusion import fuse
from reproduce.experiment import Experiment
from reproduce.outcome import Outcome


def run(experiment: Experiment, folder: Path) -> Iterator[Outcome]:
    """Every run of the experiment."""
    qrels = assay.load_qrels(folder / experiment.split)
    keys: dict[str, int] = {}
    for one in experiment.runs:
        files = dict(part.split("=") for part in one.more["files"].split())
        lists = {name: _run_file(folder / path, keys) for name, path in files.items()}
        began = time.perf_counter()
        fused = {
            query: fuse({name: hits.get(query, []) for name, hits in lists.items()}, one.options)
            for query in qrels.queries
        }
        took = (time.perf_counter() - began) / len(fused) * 1000
        if one.more.get("ties") == "trec":
            scored = {query: {h.chunk_id: h.score for h in hits} for query, hits in fused.items()}
            scores = assay.score(qrels, scored, list(one.expected))
        else:
            ranked = {query: [hit.chunk_id for hit in hits] for query, hits in fused.items()}
            scores = assay.score(qrels, ranked, list(one.expected))
        yield Outcome.of(one, scores, took)


def _run_file(path: Path, keys: dict[str, int]) -> Mapping[str, list[Hit]]:
    """The lists of a TREC run file in the order of its ranks."""
    found: dict[str, list[tuple[int, Hit]]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            query, _, document, rank, score, _ = line.split()
            key = keys.setdefault(document, len(keys))
            found.setdefault(query, []).append((int(rank), Hit(key, document, float(score))))
    return {
        query: [hit for _, hit in sorted(rows, key=lambda row: row[0])]
        for query, rows in found.items()
    }
