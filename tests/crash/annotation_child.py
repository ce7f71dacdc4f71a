"""Judges until it is killed, saying on stdout what was acknowledged.

Called as ``python -m tests.crash.annotation_child DATABASE ANNOTATOR``. It goes on where an earlier
process stopped, which is what a person does who starts ``assay annotate`` again.
"""

from __future__ import annotations

import sys
from pathlib import Path

from assay.app.annotation import Desk
from assay.model.annotation import Item, Purpose, Round, RoundQuery
from assay.store.annotations import AnnotationStore

QUERIES, PASSAGES = 40, 25


def open_round(database: Path) -> Desk:
    """The round that the annotators work on, made where it is missing."""
    store = AnnotationStore(database)
    if not store.rounds():
        queries = [RoundQuery(f"q{at}", f"question {at}") for at in range(QUERIES)]
        items = [
            Item(query.query_id, f"d{at}:chunk_0", f"d{at}", f"passage {at}")
            for query in queries
            for at in range(PASSAGES)
        ]
        held = Round(
            round_id="crash",
            purpose=Purpose.REFRESH,
            test_set="set",
            version="v1",
            checksum="0",
            annotators=("ann", "bob"),
            seed=1,
            created_at="2026-01-01",
        )
        store.create(held, queries, items)
    return Desk(store, store.round("latest"))


def main() -> None:
    at, annotator = open_round(Path(sys.argv[1])), sys.argv[2]
    while (task := at.next(annotator)) is not None:
        grade = (len(annotator) + int(task.chunk_id[1:].split(":")[0])) % 4
        at.grade(annotator, (task.query_id, task.chunk_id), grade)
        print(task.query_id, task.chunk_id, grade, flush=True)


if __name__ == "__main__":
    main()
