"""What the store promises of documents and chunks."""

import gc
import sqlite3
import subprocess
import sys
import weakref
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from assay.errors import CorruptError, DuplicateError, StorageError
from assay.model.document import Chunk, Document, IngestionMode, Section, SpeakerRole
from assay.store.corpus import CorpusStore, Written


def document(doc_id: str, text: str, version: str = "v1") -> tuple[Document, tuple[Chunk, ...]]:
    half = len(text) // 2
    parts = tuple(
        Chunk(
            chunk_id=f"{doc_id}:chunk_{at}",
            doc_id=doc_id,
            text=text[start:end],
            title="A title",
            section_label="results",
            spans=((start, end),),
            chunker_version=version,
            speaker_role=SpeakerRole.PATIENT,
            ingestion_mode=IngestionMode.LIVE,
            start_time=1.5,
            metadata={"year": 2020, "new": True, "share": 0.5, "names": ("Aspirin", "ASS")},
        )
        for at, (start, end) in enumerate(((0, half), (half, len(text))))
    )
    whole = Document(
        doc_id,
        text,
        title="A title",
        sections=(Section(0, len(text), "results"),),
        metadata=parts[0].metadata,
    )
    return whole, parts


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    return CorpusStore(tmp_path / "assay.db")


def test_what_goes_in_comes_out(store: CorpusStore) -> None:
    whole, parts = document("d1", "Ein Text mit Umlauten: äöü 💊 and more.")
    assert store.put([(whole, parts)]) == Written(added=1, chunks=2)
    (page,) = store.added_since(0, store.last_change())
    assert [row.chunk for row in page] == list(parts)
    found = store.document("d1")
    assert found is not None
    assert found.text == whole.text
    assert found.sections[0].label == "results"
    assert found.metadata == whole.metadata
    assert store.chunks_by_key([page[0].key]) == {page[0].key: parts[0]}


def test_any_number_of_keys(store: CorpusStore) -> None:
    store.put([document(f"d{at}", f"text number {at}") for at in range(600)])
    keys = [row.key for page in store.added_since(0, store.last_change()) for row in page]
    assert len(keys) == 1_200
    assert sorted(store.chunks_by_key([*keys, *keys[:700], 10**12])) == sorted(keys)
    assert sorted(store.labels_by_key(keys)) == sorted(keys)
    assert store.chunks_by_key([]) == {}


def test_a_damaged_chunk_holds_no_connection(store: CorpusStore, tmp_path: Path) -> None:
    store.put([document("d1", "some text here")])
    with closing(sqlite3.connect(tmp_path / "assay.db")) as database:
        database.execute("UPDATE chunks SET spans = 'not json'")
        database.commit()
    kept = []
    for _ in range(40):
        with pytest.raises(CorruptError) as caught:
            store.chunks_by_key([1, 2])
        kept.append(caught.value)  # as a log or a cycle of frames would
    assert store._engine.pool.status().endswith("Current Checked out connections: 0")


def test_text_that_is_none_leaves_no_transaction_behind(store: CorpusStore, tmp_path: Path) -> None:
    """A cursor that was left half read would answer from the past, and refuse to write."""
    store.put([document("d1", "some text here"), document("d2", "other text here")])
    with closing(sqlite3.connect(tmp_path / "assay.db")) as database:
        database.execute("UPDATE chunks SET title = CAST(x'ff41' AS TEXT) WHERE key = 2")
        database.commit()
        gc.disable()
        try:
            with pytest.raises(CorruptError) as caught:
                store.chunks_by_key([1, 2, 3, 4])
            database.execute("UPDATE chunks SET title = 'later' WHERE key = 1")
            database.commit()
            assert store.chunks_by_key([1])[1].title == "later"
            assert store.put([document("d3", "one more text")]).added == 1
        finally:
            gc.enable()
        assert "UTF-8" in str(caught.value)


def test_stores_that_nobody_closed_are_forgotten(tmp_path: Path) -> None:
    engines = []
    for at in range(3):
        store = CorpusStore(tmp_path / f"{at}.db")
        store.chunks_by_key([1])
        engines.append(weakref.ref(store._engine))
    del store
    gc.collect()
    assert [engine() for engine in engines] == [None] * 3


def test_the_same_again_is_a_no_op(store: CorpusStore) -> None:
    batch = [document("d1", "some text here"), document("d2", "other text here")]
    store.put(batch)
    before = store.last_change()
    assert store.put(batch) == Written(unchanged=2)
    assert store.last_change() == before


def test_a_changed_document_replaces_its_chunks_and_keeps_their_spans(store: CorpusStore) -> None:
    store.put([document("d1", "some text here")])
    seq = store.last_change()
    (page,) = store.added_since(0, seq)
    assert store.put([document("d1", "a longer text stands here", "v2")]) == Written(
        replaced=1, chunks=2
    )
    assert store.removed_since(seq, store.last_change()) == [row.key for row in page]
    new, old = store.history("d1:chunk_0")
    assert (new.chunker_version, old.chunker_version) == ("v2", "v1")
    assert (old.text, old.spans) == ("", page[0].chunk.spans)
    assert store.counts() == {"documents": 1, "chunks": 2, "archived_chunks": 2}


def test_delete(store: CorpusStore) -> None:
    store.put([document("d1", "some text here"), document("d2", "other text")])
    assert store.delete(["d1", "unknown"]) == Written(deleted=1, chunks=2)
    assert store.document("d1") is None
    assert store.counts()["chunks"] == 2


def test_a_chunk_that_came_and_went_in_between_is_neither_added_nor_removed(
    store: CorpusStore,
) -> None:
    store.put([document("d1", "some text here")])
    store.delete(["d1"])
    assert list(store.added_since(0, store.last_change())) == []
    assert store.removed_since(0, store.last_change()) == []


def test_a_batch_is_all_or_nothing(store: CorpusStore) -> None:
    good = document("d1", "some text here")
    bad = (Document("d2", "x"), (Chunk("d2:chunk_0", "d2", text=None),))  # type: ignore[arg-type]
    with pytest.raises(Exception, match="NOT NULL"):
        store.put([good, bad])
    assert store.counts()["documents"] == 0


@pytest.mark.slow
@pytest.mark.req("15")
def test_several_processes_write_at_once(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from assay.model.document import Chunk, Document
from assay.store.corpus import CorpusStore
store = CorpusStore(Path(sys.argv[1]))
for n in range(10):
    name = f"p{sys.argv[2]}n{n}"
    store.put([(Document(name, "text"), (Chunk(f"{name}:chunk_0", name, "text"),))])
"""
    path = tmp_path / "assay.db"
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(path), str(number)])
        for number in range(8)
    ]
    assert [process.wait(120) for process in running] == [0] * 8
    store = CorpusStore(path)
    assert store.counts()["documents"] == store.last_change() == 80
    store.close()


def test_a_foreign_or_newer_file_is_refused_by_name(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("this is not a database, not at all, not even a little bit of one" * 30)
    with pytest.raises(StorageError, match=r"text\.db"):
        CorpusStore(text)
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE mine (x)")
    with pytest.raises(StorageError, match="another program"):
        CorpusStore(foreign)
    newer = tmp_path / "newer.db"
    CorpusStore(newer).close()
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StorageError, match="newer assay"):
        CorpusStore(newer)


def test_a_chunk_belongs_to_one_document(store: CorpusStore) -> None:
    def interview(name: str) -> tuple[Document, tuple[Chunk, ...]]:
        return Document(name, "text"), (Chunk("seg_1", name, "text"),)

    store.put([interview("a")])
    with pytest.raises(DuplicateError, match="seg_1 belongs to the document a"):
        store.put([interview("b")])
    assert store.counts()["documents"] == 1
    store.delete(["a"])
    assert store.put([interview("b")]).added == 1


def test_an_id_that_looks_made_or_comes_twice_in_a_batch_still_names_one_chunk(
    store: CorpusStore,
) -> None:
    def given(name: str, chunk_id: str) -> tuple[Document, tuple[Chunk, ...]]:
        return Document(name, "text"), (Chunk(chunk_id, name, "text"),)

    with pytest.raises(DuplicateError, match="seg_1 belongs to the document a"):
        store.put([given("a", "seg_1"), given("b", "seg_1")])
    assert store.counts()["documents"] == 0
    for first, second in (("p", "p:q"), ("other", "p")):
        store.put([given(first, "p:q:1")])
        with pytest.raises(DuplicateError, match=f"p:q:1 belongs to the document {first}"):
            store.put([given(second, "p:q:1")])
        store.delete([first])


def test_documents_are_listed_by_id_with_their_present_chunks(store: CorpusStore) -> None:
    store.put([document("d2", "abcd"), document("d1", "efgh")])
    store.put([document("d2", "abcdef")])
    places = store.inventory
    assert [(one.doc_id, one.chunks) for one in places.documents(limit=5)] == [("d1", 2), ("d2", 2)]
    assert [one.doc_id for one in places.documents(limit=5, offset=1)] == ["d2"]
    assert places.sections() == ("results",)
    store.delete(["d1", "d2"])
    assert places.documents(limit=5) == ()
    assert places.sections() == ()


def test_nothing_reads_every_chunk_to_find_some(store: CorpusStore) -> None:
    """A corpus of millions is stored, looked up and deleted by indexes alone."""
    store.put([document("a", "One text."), document("b", "Two texts.")])
    asked: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, given: Any, *___: Any) -> None:
        asked.append((statement, given[0] if isinstance(given, list) else given))

    event.listen(store._engine, "before_cursor_execute", note)
    store.put([document("c", "A third."), document("a", "Another text.")])
    store.document("a")
    store.find("b")
    store.has_id("c:chunk_1")
    store.inventory.labels(["a", "b:chunk_1"])
    store.inventory.documents(limit=10)
    store.delete(["b"])
    event.remove(store._engine, "before_cursor_execute", note)
    with store._engine.connect() as connection:
        plans = {
            statement: [
                step[3]
                for step in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", given)
            ]
            for statement, given in asked
            if "chunks" in statement and statement.startswith(("SELECT", "UPDATE"))
        }
    assert len(plans) >= 6
    slow = {
        statement: plan
        for statement, plan in plans.items()
        if any("chunks_by_removed" in step or step == "SCAN chunks" for step in plan)
    }
    assert not slow
