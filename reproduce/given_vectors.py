"""How good are SPLADE-v3's own vectors, alone and fused with our components?

Its weights are not free for all to use, its vectors of NFCorpus are there. They are put into our
postings as an encoder would put them, one file for documents, one for queries.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

import assay
from assay.index.sparse import Postings, write_sparse
from assay.index.top import best_rows
from assay.ingest import read_corpus
from assay.model.query import Hit
from assay.model.vectors import SparseVector
from assay.search.fusion import fuse
from reproduce.data import existing, indexed, json_lines, judged, query_texts
from reproduce.experiment import Experiment
from reproduce.outcome import Outcome


def run(experiment: Experiment, folder: Path) -> Iterator[Outcome]:
    """Every run of the experiment; the component splade is the given one."""
    qrels = judged(folder, experiment.split)
    texts = query_texts(folder)
    with indexed(experiment.corpus, read_corpus(folder, "beir", "whole", skip_empty=True)) as home:
        generation = home.generation()
        components = home.components(generation)
        keys = {chunk.rpartition(":chunk_")[0]: key for key, chunk in generation.chunk_ids.items()}
        given = _given_lists(folder / "splade_v3", keys)
        lists = {
            query: {
                "bm25": components["bm25"].search(texts[query], 100),
                "splade": given[query],
                "dense": components["dense"].search(texts[query], 100),
            }
            for query in qrels.queries
        }
    for one in experiment.runs:
        began = time.perf_counter()
        ranked = {
            query: [
                hit.chunk_id.rpartition(":chunk_")[0]
                for hit in fuse({name: found[name] for name in one.options.components}, one.options)
            ]
            for query, found in lists.items()
        }
        took = (time.perf_counter() - began) / len(ranked) * 1000
        yield Outcome.of(one, assay.score(qrels, ranked, list(one.expected)), took)


def _given_lists(folder: Path, keys: Mapping[str, int]) -> dict[str, list[Hit]]:
    """The 100 best documents of every query, by our postings."""
    terms: dict[str, int] = {}
    rows = list(json_lines(existing(folder / "doc_vectors.jsonl")))
    documents = [_vector(row["vector"], terms) for row in rows]
    ids = [row["_id"] for row in rows]
    queries = {
        row["_id"]: _vector(row["vector"], terms)
        for row in json_lines(existing(folder / "query_vectors.jsonl"))
    }
    with tempfile.TemporaryDirectory() as place:
        write_sparse(Path(place), documents, len(terms))
        postings = Postings(Path(place), len(ids))
        found = {}
        for query, vector in queries.items():
            scores = postings.scores(vector)
            best = best_rows(scores, 100, floor=0.0).tolist()
            hits = [Hit(keys[ids[at]], f"{ids[at]}:chunk_0", float(scores[at])) for at in best]
            found[query] = sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:100]
    return found


def _vector(weights: Mapping[str, float], terms: dict[str, int]) -> SparseVector:
    pairs = sorted((terms.setdefault(term, len(terms)), weight) for term, weight in weights.items())
    return SparseVector(
        np.array([term for term, _ in pairs], np.int32),
        np.array([weight for _, weight in pairs], np.float32),
    )
