"""Fills a workspace, searches and evaluates it, and prints the digest of all that came out.

Called as ``python -m tests.faults.digest_child FOLDER ORDER THREADS``: the documents come in an
order of their own, in batches of their own. ``PYTHONHASHSEED`` is the caller's to choose.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from pathlib import Path

from assay.app.workspace import Workspace
from assay.evaluation.outcomes import outcomes_digest, score_outcomes
from assay.evaluation.parts import part_of
from assay.evaluation.record import RecordOptions, record
from assay.ingest import read_corpus
from assay.measures.parse import parse_measures
from assay.settings import configure
from assay.testsets.load import parse_test_set
from tests.faults.whole import MODELS, TEST_SET, WORDS, settings
from tests.unit.encode.tiny import write_model

QUESTIONS = ("aspirin heart", "risk of attack", "the heart of a risk")


def main() -> None:
    folder, order, threads = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    home = folder / "home"
    for role, name in MODELS.items():
        write_model(home / "models" / name.replace("/", "--"), role)
    rng = random.Random(order)
    rows = [
        {"id": f"d{at}", "text": f"{WORDS[at % 7]} the {WORDS[at % 5]} of a {WORDS[at % 3]}."}
        for at in range(60)
    ]
    rng.shuffle(rows)
    found = hashlib.sha256()
    with Workspace(configure({**settings(home), "threads": threads})) as workspace:
        while rows:
            batch = [rows.pop() for _ in range(min(len(rows), rng.randrange(1, 40)))]
            path = folder / "corpus.jsonl"
            path.write_text("\n".join(map(json.dumps, batch)) + "\n", encoding="utf-8")
            workspace.store_documents(read_corpus(path))
            workspace.update_index()
        for question in QUESTIONS:
            for hit in workspace.search(question, k=20).results:
                said = (hit.chunk.chunk_id, hit.score, *sorted(hit.component_scores.items()))
                found.update(repr(said).encode())
        test_set = parse_test_set(TEST_SET.encode()).sound()
        made = record(
            workspace.system(), part_of(test_set), workspace.runs, RecordOptions(owner="digest")
        )
        outcomes = workspace.runs.outcomes(made.info.run_id)
        found.update(outcomes_digest(outcomes).encode())
        scores = score_outcomes(test_set, outcomes, parse_measures("nDCG@10 AP@10 RR@10"))
        for measure in scores.measures:
            found.update(repr((scores.aggregate(measure), scores.interval(measure))).encode())
    print(found.hexdigest())


if __name__ == "__main__":
    main()
