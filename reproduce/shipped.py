"""Do boosts help on the test set that ships with the package?

``expected`` names groups of its queries by what search read from them. Values are nDCG@10.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from assay.ingest import read_corpus
from assay.testsets.load import load_test_set, shipped_folder
from reproduce.data import indexed
from reproduce.experiment import Experiment
from reproduce.groups import values_by_group
from reproduce.outcome import Outcome


def run(experiment: Experiment, _: Path) -> Iterator[Outcome]:
    """Every run of the experiment."""
    test_set = load_test_set(experiment.split)
    asked = {query.query_id: query.query_text for query in test_set.queries}
    with indexed("shipped", read_corpus(shipped_folder().parent / "corpus")) as home:
        for one in experiment.runs:
            began = time.perf_counter()
            found = values_by_group(home, asked, test_set.qrels(), one.options)
            found = dict.fromkeys(one.expected, 0.0) | found  # a group may have no query
            yield Outcome(one, found, (time.perf_counter() - began) / len(asked) * 1000)
