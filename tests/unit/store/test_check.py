"""Does reading everything find what nobody would notice?"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from assay.errors import CorruptError
from assay.store.check import problems
from assay.store.corpus import CorpusStore
from assay.store.database import open_database, writing
from assay.store.runs import SqlRunStore
from assay.testing.run_store import FULL, TEST_SET, contract_run
from tests.unit.store.test_corpus import document


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "assay.db"
    store = CorpusStore(place)
    store.put([document(f"d{at}", f"the text of document {at}") for at in range(5)])
    store.put([document("d1", "another text")])
    store.delete(["d2"])
    store.close()
    runs = SqlRunStore(place)
    runs.begin(contract_run("r1"), TEST_SET)
    runs.append("r1", [FULL])
    runs.finish("r1", {"mrr": 0.5})
    runs.close()
    return place


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(statement).rowcount == 1
        connection.commit()


def test_a_sound_database(path: Path) -> None:
    assert problems(path) == []


@pytest.mark.slow
@pytest.mark.req("3")
@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE documents SET text = 'the texT' WHERE doc_id = 'd3'", "document 'd3'"),
        ("UPDATE documents SET body = '{' WHERE doc_id = 'd3'", "document 'd3'"),
        ("UPDATE chunks SET text = 'x' WHERE chunk_id = 'd4:chunk_1'", "document 'd4'"),
        ("UPDATE chunks SET start_time = 2.5 WHERE chunk_id = 'd0:chunk_0'", "document 'd0'"),
        ("DELETE FROM chunks WHERE chunk_id = 'd0:chunk_0'", "document 'd0'"),
        ("UPDATE eval_runs SET test_set_checksum = 'x'", "a row of eval_runs names a row"),
        ("UPDATE eval_test_sets SET body = replace(body, 'q1', 'q7')", "test set"),
        ("UPDATE eval_runs SET aggregate_json = replace(aggregate_json, '0.5', '0.6')", "run r1"),
        (
            "UPDATE eval_query_results SET result_json = replace(result_json, '1', '2')",
            "'q1' in the run r1",
        ),
    ],
)
def test_a_change_that_nobody_made(path: Path, statement: str, named: str) -> None:
    change(path, statement)
    (found,) = problems(path)
    assert named in found
    assert "was damaged" in found


def test_a_damaged_run_is_refused_when_it_is_read(path: Path) -> None:
    change(path, "UPDATE eval_query_results SET result_json = replace(result_json, '1', '2')")
    runs = SqlRunStore(path)
    with pytest.raises(CorruptError, match="outcome of q1 in the run r1 was damaged"):
        runs.outcomes("r1")
    change(path, "UPDATE eval_test_sets SET body = '{}'")
    with pytest.raises(CorruptError, match="test set of the run r1 was damaged"):
        runs.test_set("r1")
    change(path, "UPDATE eval_runs SET provenance_json = 'x'")
    with pytest.raises(CorruptError, match="the run r1 was damaged"):
        runs.run("r1")
    runs.close()


@pytest.mark.slow
def test_documents_on_a_server(postgresql: str) -> None:
    store = CorpusStore(postgresql)
    store.put([document("seal1", "the text of a document"), document("seal2", "another")])
    store.close()
    assert problems(postgresql) == []
    engine = open_database(postgresql)
    with writing(engine) as connection:
        connection.exec_driver_sql("UPDATE documents SET title = 'x' WHERE doc_id = 'seal1'")
    engine.dispose()
    assert problems(postgresql) == ["the document 'seal1' was damaged"]
    store = CorpusStore(postgresql)
    store.delete(["seal1", "seal2"])
    store.close()
