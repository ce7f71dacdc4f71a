"""How good is what each engine finds by words?

``python -m bench.index_quality ENGINE`` prints one line of JSON: nDCG@10 (linear gain), Recall@100
of the test queries of two judged collections. All engines get the same texts, title and abstract
together, and are used as they come: each cuts, stems and weighs words in its own way.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import assay
from bench.index_data import DATA, Spec, Workload
from bench.index_engines import ENGINES

COLLECTIONS = {"nfcorpus": "test.tsv.gz", "scifact": "test.tsv"}
MEASURES = ("nDCG(gain=linear)@10", "Recall@100")


class Collection(Workload):
    """A judged collection in the form of a workload; it has no vectors."""

    def __init__(self, name: str) -> None:
        folder = DATA / name
        self._texts = {
            row["_id"]: f"{row['title']}\n{row['text']}"
            for row in _rows(folder / "corpus.jsonl.gz")
        }
        self.spec = Spec(name, len(self._texts))
        self.qrels: dict[str, dict[str, int]] = {}
        opened = gzip.open if COLLECTIONS[name].endswith(".gz") else open
        with opened(folder / "qrels" / COLLECTIONS[name], "rt", encoding="utf-8") as lines:
            next(lines)
            for line in lines:
                query, doc, grade = line.split()
                self.qrels.setdefault(query, {})[doc] = int(grade)
        asked = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl.gz")}
        self.ids = [*self._texts]
        self.questions = [asked[query] for query in self.qrels]
        self.groups = np.zeros(self.spec.passages, dtype=np.int64)

    def texts(self) -> Iterator[str]:
        """The documents, in order."""
        yield from self._texts.values()


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def available() -> bool:
    """Whether the collections are there; they are not part of the repository."""
    return all((DATA / name).is_dir() for name in COLLECTIONS)


def quality(name: str) -> dict[str, dict[str, float | None]]:
    """Collection to measures."""
    found = {}
    for collection in COLLECTIONS:
        data = Collection(collection)
        engine = ENGINES[name]("bm25", data)
        engine.load()
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "index"
            engine.build(folder)
            engine.open(folder)
            run = {
                query: {
                    data.ids[row]: -float(rank)
                    for rank, row in enumerate(engine.search(at, filtered=False))
                }
                for at, query in enumerate(data.qrels)
            }
        scores = assay.score(data.qrels, run, MEASURES)
        found[collection] = {measure: scores[measure] for measure in MEASURES}
    return found


if __name__ == "__main__":
    print(json.dumps(quality(sys.argv[1])))
