"""Does what a workspace does in a day, saying on stdout what was acknowledged.

Called as ``python -m tests.crash.power_child HOME`` and watched call by call (``power.py``). The
steps are data, so that whoever watches knows the state after each.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from assay.index.writer import update
from assay.model.document import Chunk, Document
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.store.backup import back_up
from assay.store.corpus import CorpusStore
from assay.testsets.save import save_test_set
from tests.unit.index.helpers import ENCODERS


@dataclass(frozen=True)
class Step:
    """``put`` and ``delete`` change documents; the others take what is there as it is."""

    kind: str
    documents: tuple[tuple[str, str], ...] = ()


def put(*numbers: int, version: int = 1) -> Step:
    said = ((f"d{n}", f"observation number{n} version{version} of heart failure") for n in numbers)
    return Step("put", tuple(said))


STEPS = (
    put(0, 1, 2),
    Step("index"),
    put(3, 4),
    put(1, version=2),
    Step("index"),
    Step("delete", (("d0", ""),)),
    Step("testset"),
    Step("index"),
    put(5, *range(6, 40)),
    Step("compact"),
    Step("backup"),
    put(2, 40, version=3),
    Step("testset"),
    Step("index"),
)


def document(doc_id: str, text: str) -> tuple[Document, tuple[Chunk, ...]]:
    return Document(doc_id, text), (Chunk(f"{doc_id}:chunk_0", doc_id, text),)


def test_set(number: int) -> TestSet:
    query = GoldenQuery("q1", f"question {number}", relevant_docs=(Judgment("d1", 1),))
    return TestSet("mine", "v1", (query,))


def main() -> None:
    home = Path(sys.argv[1])
    store = CorpusStore(home / "assay.db")
    for number, step in enumerate(STEPS):
        if step.kind == "put":
            store.put([document(*one) for one in step.documents])
        elif step.kind == "delete":
            store.delete([doc_id for doc_id, _ in step.documents])
        elif step.kind == "testset":
            save_test_set(test_set(number), home / "testsets" / "mine.yaml")
        elif step.kind == "backup":
            back_up(home, home.parent / "backup.tar.gz")
        else:
            update(home / "index", store, ENCODERS, fresh=step.kind == "compact")
        print(number, flush=True)
    store.close()


if __name__ == "__main__":
    main()
