"""Writes until it is killed, saying on stdout what was acknowledged.

Called as ``python -m tests.crash.child HOME MODE``. The mode ``ingest`` puts documents and updates
the index; ``compact`` writes the index anew again and again, with a few changes in between so that
there is something to compact; ``save`` enters whole runs. A third argument is the address of a
PostgreSQL database that is written to instead of the file.
"""

from __future__ import annotations

import sys
from pathlib import Path

from assay.index.writer import update
from assay.model.document import Chunk, Document
from assay.store.corpus import CorpusStore
from assay.store.runs import SqlRunStore
from assay.testing.run_store import FULL, PLAIN, TEST_SET, contract_run
from tests.unit.index.helpers import ENCODERS


def document(number: int) -> tuple[Document, tuple[Chunk, ...]]:
    name = f"d{number}"
    text = f"observation number{number} of the report on heart failure"
    return Document(name, text), (Chunk(f"{name}:chunk_0", name, text, spans=((0, len(text)),)),)


def save(database: Path | str) -> None:
    runs = SqlRunStore(database)
    start = runs.runs().total
    for number in range(start, start + 10_000):
        name = f"r{number}"
        runs.begin(contract_run(name), TEST_SET)
        runs.append(name, [FULL, PLAIN])
        runs.finish(name, {"mrr": number})
        print(number, flush=True)


def main() -> None:
    home, mode = Path(sys.argv[1]), sys.argv[2]
    database = sys.argv[3] if len(sys.argv) > 3 else home / "assay.db"
    if mode == "save":
        save(database)
    store = CorpusStore(database)
    start = store.counts()["documents"]
    for number in range(start, start + 10_000):
        store.put([document(number)])
        print(number, flush=True)
        update(home / "index", store, ENCODERS, fresh=mode == "compact")
        print(f"indexed {number}", flush=True)


if __name__ == "__main__":
    main()
