"""What do bytes cost in quality, where a large segment would use them?

``python -m bench.packed [COLLECTION[:SPLIT] ...]``

Each collection (a BEIR folder of the shared data) is asked the queries of a split, ``test`` unless
another is named; what is chosen by this is chosen on ``nfcorpus:dev`` and ``scifact:train``. It is
indexed as usual and once more in the form
that large segments have: two bytes a number, of which one is searched, and 511 different weights.
Prints nDCG@10 of both, and how many of the best 100 they share. ``nfcorpus_splade_v3`` takes the
given vectors of SPLADE-v3, so that no model is needed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import assay
from assay.index import writer
from assay.index.impacts import Impacts
from assay.index.reader import open_generation
from assay.index.sparse import Postings, open_terms, write_sparse
from assay.ingest import read_corpus
from reproduce.data import existing, indexed, json_lines, judged, query_texts
from reproduce.given_vectors import _vector
from reproduce.run import DATA

MEASURE = "nDCG(gain=linear)@10"
GIVEN = "nfcorpus_splade_v3"
K = 100

Lists = dict[str, list[str]]


def of_collection(name: str, split: str) -> Iterator[tuple[str, Lists, Lists]]:
    """What each component finds in an index as it is and in a packed one."""
    folder = DATA / name
    texts = query_texts(folder)
    queries = [query for query in judged(folder, split).queries if query in texts]
    with (
        indexed(name, read_corpus(folder, "beir", "whole", skip_empty=True)) as home,
        tempfile.TemporaryDirectory() as place,
    ):
        plain, models = home.generation(), home.generation().manifest.models
        dense, sparse = home.encoders(models)
        assert dense is not None
        assert sparse is not None
        encoders = writer.Encoders(
            both=lambda texts: (_ for _ in ()).throw(AssertionError("nothing is new")),
            dense_model=models["dense"],
            sparse_model=models["splade"],
            vocabulary=sparse.vocabulary,
        )
        with mock.patch.object(writer, "MERGED_ROWS", 0):
            shutil.copytree(home.layout.index, place, dirs_exist_ok=True)
            writer.update(Path(place), home.store, encoders)
        packed = open_generation(Path(place))
        for kind in ("dense", "splade"):
            before, after = (
                _found(one.dense(dense) if kind == "dense" else one.splade(sparse), texts, queries)
                for one in (plain, packed)
            )
            yield kind, before, after


def _found(component: Any, texts: Mapping[str, str], queries: list[str]) -> Lists:
    return {
        query: [hit.chunk_id.rpartition(":chunk_")[0] for hit in component.search(texts[query], K)]
        for query in queries
    }


def of_given() -> Iterator[tuple[str, Lists, Lists]]:
    """The same for the vectors of SPLADE-v3."""
    folder = DATA / "nfcorpus" / "splade_v3"
    terms: dict[str, int] = {}
    rows = list(json_lines(existing(folder / "doc_vectors.jsonl")))
    documents = [_vector(row["vector"], terms) for row in rows]
    asked = [
        (row["_id"], _vector(row["vector"], terms))
        for row in json_lines(existing(folder / "query_vectors.jsonl"))
    ]
    found = []
    for large in (False, True):
        with tempfile.TemporaryDirectory() as place:
            write_sparse(Path(place), documents, len(terms), large=large)
            postings: Postings | Impacts = open_terms(Path(place), len(rows))
            lists = {}
            for query, vector in asked:
                best, scores = postings.best(vector, K, None)
                order = sorted(zip(-scores, (rows[at]["_id"] for at in best), strict=True))
                lists[query] = [name for _, name in order[:K]]
            found.append(lists)
    yield "splade", found[0], found[1]


def main() -> None:
    print(f"| collection | component | {MEASURE} | packed | difference | shared of {K} |")
    print("|---|---|---|---|---|---|")
    for given in sys.argv[1:] or ["nfcorpus:dev", "scifact:train", "med1033", GIVEN]:
        name, _, split = given.partition(":")
        split = split or "test"
        qrels = judged(DATA / ("nfcorpus" if name == GIVEN else name), split)
        for kind, plain, packed in of_given() if name == GIVEN else of_collection(name, split):
            before, after = (_score(qrels, lists) for lists in (plain, packed))
            pairs = [(set(plain[query]), set(packed[query])) for query in plain]
            shared = sum(len(a & b) for a, b in pairs) / max(1, sum(len(a) for a, _ in pairs))
            print(
                f"| {name} {split} | {kind} | {before:.4f} | {after:.4f} | {after - before:+.4f} "
                f"| {shared:.4f} |",
                flush=True,
            )


def _score(qrels: Any, lists: Lists) -> float:
    found = assay.score(qrels, lists, [MEASURE])[MEASURE]
    assert found is not None
    return float(found)


if __name__ == "__main__":
    main()
