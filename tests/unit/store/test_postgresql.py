"""Does everything that SQLite keeps also live on a PostgreSQL server?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.main import run
from assay.errors import BusyError, ConfigError, StorageError
from assay.model.document import ChunkPlace, IngestionMode
from assay.store import database
from assay.store.corpus import CorpusStore, Written
from assay.store.database import open_database, writing
from assay.store.schema import metadata
from tests.unit.store.test_corpus import document

pytestmark = pytest.mark.slow

pytest.importorskip("psycopg", reason="it takes pip install 'assay-search[postgres]'")


@pytest.fixture
def server(postgresql: str) -> str:
    """The server with empty tables."""
    engine = open_database(postgresql)
    with writing(engine) as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())
    engine.dispose()
    return postgresql


def test_documents_and_chunks(server: str) -> None:
    store = CorpusStore(server)
    whole, parts = document("d1", "Ein Text mit Umlauten: äöü 💊 and more.")
    assert store.put([(whole, parts)]) == Written(added=1, chunks=2)
    assert store.put([(whole, parts)]) == Written(unchanged=1)
    (page,) = store.added_since(0, store.last_change())
    assert [row.chunk for row in page] == list(parts)
    assert store.put([document("d1", "another text", "v2")]) == Written(replaced=1, chunks=2)
    assert store.counts() == {"documents": 1, "chunks": 2, "archived_chunks": 2}
    places = store.inventory
    assert places.by_key([page[0].key]) == {page[0].key: ChunkPlace("d1", parts[0].spans, "v1")}
    assert places.present(["d1", "d1:chunk_1", "d2"]) == {"d1", "d1:chunk_1"}
    assert places.ingestion_modes(["d1"]) == {"d1": IngestionMode.LIVE}
    assert places.chunker_versions() == ("v2",)
    assert store.delete(["d1"]) == Written(deleted=1, chunks=2)
    store.close()


def test_several_processes_write_at_once(server: str) -> None:
    code = """
import sys
from assay.model.document import Chunk, Document
from assay.store.corpus import CorpusStore
store = CorpusStore(sys.argv[1])
for n in range(10):
    name = f"p{sys.argv[2]}n{n}"
    store.put([(Document(name, "text"), (Chunk(f"{name}:chunk_0", name, "text"),))])
"""
    running = [subprocess.Popen([sys.executable, "-c", code, server, str(n)]) for n in range(3)]
    assert [process.wait(120) for process in running] == [0, 0, 0]
    store = CorpusStore(server)
    assert store.counts()["documents"] == 30
    assert store.last_change() == 30, "changes are numbered without gaps"
    store.close()


def test_a_writer_that_waits_too_long_is_told_so(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 1)
    first, second = open_database(server), open_database(server)
    with writing(first), pytest.raises(BusyError, match="locked for 1 s"), writing(second):
        pass
    first.dispose()
    second.dispose()


def test_a_whole_evaluation(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DATABASE", server)
    for name in ("DENSE", "SPLADE"):
        monkeypatch.setenv(f"ASSAY_{name}_MODEL", "none")
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "aspirin and the heart"}\n')
    (tmp_path / "set.yaml").write_text(
        "name: one\nversion: v1\nqueries:\n  - query_id: q1\n    query_text: aspirin\n"
        "    query_type: exact_term\n    relevant_docs: [{doc_id: d1, grade: 3}]\n"
    )
    assert run(["ingest", "corpus.jsonl"]) == 0
    capsys.readouterr()
    assert run(["eval", "run", "-t", "set.yaml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["mrr"] == 1.0
    assert run(["eval", "run", "-t", "set.yaml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cached"]
    assert not (tmp_path / ".assay" / "assay.db").exists()


def test_other_databases_and_nonsense_are_refused() -> None:
    with pytest.raises(ConfigError, match="no support for mysql"):
        open_database("mysql://host/name")
    with pytest.raises(ConfigError, match="not the URL"):
        open_database("not a url")


def test_a_foreign_database_is_refused(server: str) -> None:
    engine = open_database(server)
    with writing(engine) as connection:
        connection.exec_driver_sql("DELETE FROM assay_schema")
    with pytest.raises(StorageError, match="another program"):
        open_database(server)
    with writing(engine) as connection:
        for table in reversed(metadata.sorted_tables):
            connection.exec_driver_sql(f'DROP TABLE "{table.name}" CASCADE')
    engine.dispose()
    open_database(server).dispose()  # made anew


def test_a_connection_that_went_away_is_made_anew(postgresql: str) -> None:
    store, other = CorpusStore(postgresql), open_database(postgresql)
    before = store.last_change()
    with other.connect() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        )
    assert store.last_change() == before
    store.close()
    other.dispose()
