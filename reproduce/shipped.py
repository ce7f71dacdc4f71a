"""Do boosts help on the test set that ships, as a whole and for each intent?

``expected`` names ``all`` and the intents that are read from the queries. Values are nDCG@10.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import assay
from assay.ingest import read_corpus
from assay.model.judgments import Qrels
from assay.search.boost import default_lexicon, detect
from reproduce.data import indexed, ranked_ids
from reproduce.experiment import Experiment
from reproduce.outcome import Outcome

MEASURE = "nDCG@10"
ALL = "all"
CORPUS = Path(str(files("assay"))) / "data" / "corpus"


def run(experiment: Experiment, folder: Path) -> Iterator[Outcome]:
    """Every run of the experiment; ``folder`` is not used, since the corpus ships."""
    parts = sorted(part for part in CORPUS.iterdir() if part.name != "README.md")
    documents = [entry for part in parts for entry in read_corpus(part)]
    queries = assay.load_test_set("test_set_v1").queries
    grades = {
        query.query_id: {one.id: one.grade for one in query.relevant_docs} for query in queries
    }
    with indexed(experiment.corpus, documents) as home:
        snapshot = home.snapshot()
        lists = {
            query.query_id: {
                name: component.search(query.query_text.lower(), 100)
                for name, component in snapshot.components.items()
            }
            for query in queries
        }
        for one in experiment.runs:
            began = time.perf_counter()
            ranked = {
                query.query_id: ranked_ids(
                    query.query_text, lists[query.query_id], one.options, snapshot
                )
                for query in queries
            }
            took = (time.perf_counter() - began) / len(ranked) * 1000
            values = assay.score(Qrels.from_mapping(grades), ranked, [MEASURE]).per_query(MEASURE)
            groups: dict[str, list[float]] = {}
            for query in queries:
                read = {found.intent for found in detect(query.query_text, default_lexicon())}
                for group in (ALL, *sorted(read)):
                    groups.setdefault(group, []).append(values[query.query_id] or 0.0)
            found = {name: round(sum(each) / len(each), 4) for name, each in groups.items()}
            yield Outcome(one, found, took)
