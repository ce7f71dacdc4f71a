"""Does the doctor see what is wrong, and say what to do?"""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from assay.app.configurations import save_configuration
from assay.app.doctor import Finding, State, examine
from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.encode.cache import VectorCache
from assay.errors import CorruptError
from assay.settings import Settings, configure
from assay.store.corpus import CorpusStore
from tests.conftest import without_compiled
from tests.unit.store.test_corpus import document


def configured(home: Path, **flags: object) -> Settings:
    return configure({"home": str(home), "dense_model": "none", "splade_model": "none", **flags})


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


def test_an_empty_place_is_fit_and_told_what_comes_next(tmp_path: Path) -> None:
    found = by_name(examine(configured(tmp_path / "home")))
    assert found["store"].state is State.NOTE
    assert found["store"].hint == "assay ingest PATH"
    assert found["model dense"].says == "switched off"
    assert "index" not in found
    assert not (tmp_path / "home").exists()


def test_compiled_code_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_compiled(monkeypatch)
    found = by_name(examine(configured(tmp_path)))["compiled code"]
    assert found.state is State.OK
    assert "slower" in found.says
    assert "C compiler" in found.hint


@pytest.mark.slow
def test_an_index_behind_the_store_and_a_damaged_one(tmp_path: Path) -> None:
    config = configured(tmp_path)
    with Workspace(config) as workspace:
        workspace.store_documents([document("d1", "a text about kidneys")])
        workspace.update_index()
        assert by_name(examine(config))["index"].state is State.OK
        workspace.store_documents([document("d2", "a text about hearts")])
        found = by_name(examine(config))["index"]
        assert (found.state, found.hint) == (State.NOTE, "assay index update")
        workspace.update_index()
    part = next(path for path in sorted((tmp_path / "index").rglob("*.npy")))
    part.write_bytes(part.read_bytes()[:-1] + b"\0\0")
    found = by_name(examine(config))["index"]
    assert (found.state, found.hint) == (State.FAULT, "assay index rebuild")


def test_a_model_that_is_not_here(tmp_path: Path) -> None:
    found = by_name(examine(configured(tmp_path, dense_model=str(tmp_path / "no-model"))))
    assert found["model dense"].state is State.FAULT


def test_the_command_tells_by_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DENSE_MODEL", "none")
    monkeypatch.setenv("ASSAY_SPLADE_MODEL", "none")
    assert run(["--home", str(tmp_path), "doctor"]) == 0
    assert "no workspace" in capsys.readouterr().out
    (tmp_path / "assay.db").write_text("this is no database, and it is long enough to see that")
    assert run(["--home", str(tmp_path), "doctor", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["fit"] is False
    assert [f["name"] for f in answer["findings"] if f["state"] == "fault"] == ["store", "index"]


def test_vectors_that_were_damaged_are_named(tmp_path: Path) -> None:
    config = configured(tmp_path)
    with Workspace(config) as workspace:
        workspace.store_documents([document("d1", "a text about kidneys")])
    with VectorCache(tmp_path / "vectors", "m") as cache:
        cache.put({b"key": b"vector"})
    assert "vectors" not in by_name(examine(config))
    with closing(sqlite3.connect(cache.path)) as connection:
        connection.execute("UPDATE vectors SET data = x'00'")
        connection.commit()
    found = by_name(examine(config))["vectors"]
    assert found.state is State.FAULT
    assert "1 vectors have another checksum" in found.says
    assert "delete it" in found.hint


@pytest.mark.slow
def test_an_index_that_is_damaged_and_behind_is_a_fault(tmp_path: Path) -> None:
    config = configured(tmp_path)
    with Workspace(config) as workspace:
        workspace.store_documents([document("d0", "a text about kidneys")])
        workspace.update_index()
        workspace.store_documents([document("d1", "a text about hearts")])
    found = by_name(examine(config))["index"]
    assert (found.state, found.hint) == (State.NOTE, "assay index update")
    (keys,) = tmp_path.glob("index/seg-*/keys.npy")
    keys.write_bytes(b"damaged")
    found = by_name(examine(config))["index"]
    assert (found.state, found.hint) == (State.FAULT, "assay index rebuild")
    assert found.says == f"{keys} was damaged"


def test_a_database_that_was_cut_to_nothing(tmp_path: Path) -> None:
    config = configured(tmp_path)
    with Workspace(config) as workspace:
        workspace.store_documents([document("d0", "a text about kidneys")])
        workspace.update_index()
    (tmp_path / "assay.db").write_bytes(b"")
    found = by_name(examine(config))["store"]
    assert (found.state, "is empty" in found.says) == (State.FAULT, True)
    assert "assay restore" in found.hint


@pytest.mark.slow
def test_an_index_that_should_be_compacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = configured(tmp_path)
    with Workspace(config) as workspace:
        for names in (("d0", "d1", "d2", "d3"), ("d4", "d5"), ("d6",)):
            workspace.store_documents([document(name, f"a text about {name}") for name in names])
            workspace.update_index()
        assert by_name(examine(config))["index"].state is State.OK
        with monkeypatch.context() as few:
            few.setattr("assay.app.doctor.MANY_SEGMENTS", 2)
            assert "in 3 segments" in by_name(examine(config))["index"].says
        workspace.delete([f"d{number}" for number in range(5)])
        workspace.update_index()
        found = by_name(examine(config))["index"]
        assert (found.state, found.hint) == (State.NOTE, "assay index compact")
        assert "of its chunks were replaced or deleted" in found.says
        workspace.update_index(fresh=True)
        assert by_name(examine(config))["index"].state is State.OK


@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 1])
def test_a_database_that_is_gone_and_an_index_of_another_one(count: int, tmp_path: Path) -> None:
    """Also where the new one has as many changes as the old one had."""
    config = configured(tmp_path)
    with Workspace(config) as workspace:
        workspace.store_documents(
            [document(f"d{at}", "a text about kidneys") for at in range(count)]
        )
        workspace.update_index()
    for path in tmp_path.glob("assay.db*"):
        path.unlink()
    found = by_name(examine(config))["store"]
    assert (found.state, "assay.db is missing" in found.says) == (State.FAULT, True)
    with Workspace(config) as workspace:
        workspace.store_documents([document("other", "a text about hearts")])
        found = by_name(examine(config))["index"]
        assert (found.state, "another database" in found.says) == (State.FAULT, True)
        with pytest.raises(CorruptError, match="another database"):
            workspace.generation()
        workspace.update_index()
        assert list(workspace.generation().chunk_ids.values()) == ["other:chunk_0", "other:chunk_1"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "then"),
    [
        (lambda store: store.delete(["d0"]), lambda store: store.delete(["d1"])),
        (
            lambda store: store.put([document("new", "about kidneys")]),
            lambda store: store.put([document("new", "about livers!")]),
        ),
    ],
    ids=["another is deleted", "another text of the same length"],
)
def test_a_database_that_was_put_back_and_went_another_way(
    first: Callable[[CorpusStore], object], then: Callable[[CorpusStore], object], tmp_path: Path
) -> None:
    config = configured(tmp_path)
    with Workspace(config) as workspace:
        workspace.store_documents([document(f"d{at}", "a text about kidneys") for at in range(3)])
        workspace.update_index()
    copy = (tmp_path / "assay.db").read_bytes()
    with Workspace(config) as workspace:
        first(workspace.store)
        workspace.update_index()
    (tmp_path / "assay.db").write_bytes(copy)
    with Workspace(config) as workspace:
        then(workspace.store)
        found = by_name(examine(config))["index"]
        assert (found.state, "another database" in found.says) == (State.FAULT, True)
        workspace.update_index()
        assert workspace.check_index() == []
        workspace.store.put([document("new", "changed since")])
        workspace.generation()  # what is newer than the index does not make it a foreign one


def test_a_test_set_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "testsets").mkdir()
    (tmp_path / "testsets" / "mine.yaml").write_text("name: [")
    found = by_name(examine(configured(tmp_path)))["test set"]
    assert (found.state, found.hint) == (State.FAULT, "assay testset validate mine")
    assert "mine.yaml" in found.says


def test_credentials_that_anybody_could_read_on_their_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "ASSAY_OPENSEARCH_API_KEY", "very-secret")
    url = "http://127.0.0.2:9"
    config = configured(tmp_path, engine="opensearch", opensearch_url=url)
    found = [one for one in examine(config) if one.name == "cluster"]
    assert [one.state for one in found] == [State.NOTE, State.FAULT]
    assert found[0].says == f"credentials go to {url} unencrypted"
    assert "very-secret" not in str(found)


def test_a_saved_configuration_that_cannot_be_read(tmp_path: Path) -> None:
    settings = configured(tmp_path)
    with Workspace(settings) as workspace:
        save_configuration(workspace.layout, "mine", settings.search)
        assert "configuration" not in by_name(examine(settings))
        workspace.layout.configuration("mine").write_text("rrf_k: sixty\n", encoding="utf-8")
    found = by_name(examine(settings))["configuration"]
    assert found.state is State.FAULT
    assert "rrf_k" in found.says
