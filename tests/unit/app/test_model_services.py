"""Does a workspace search with models behind addresses, and do its keys stay where they belong?"""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay import posting
from assay.app import doctor
from assay.app.search import options_of_caller
from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.errors import ConfigError, ModelServiceError, UsageError
from assay.model.answers import Usage
from assay.settings import Settings, configure
from tests.unit.encode.model_service import ModelService, fails

TEXTS = {"a": "aspirin lowers the risk of a heart attack", "b": "metformin lowers glucose"}


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "FIRST_WAIT", 0.01)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / "documents").mkdir(exist_ok=True)
        (tmp_path / "documents" / f"{name}.txt").write_text(text)
    return tmp_path


def settings(folder: Path, **variables: str) -> Settings:
    given = {"ASSAY_SPLADE_MODEL": "none", "ASSAY_HOME": str(folder / ".assay"), **variables}
    return configure(environ=given, folder=folder)


def dense(server: ModelService) -> dict[str, str]:
    return {"ASSAY_DENSE_MODEL": f"http+openai:{server.url}#small"}


def test_documents_are_indexed_and_found_by_a_service(folder: Path) -> None:
    with ModelService() as server, Workspace(settings(folder, **dense(server))) as workspace:
        workspace.ingest(folder / "documents")
        made = workspace.index_card()["models"]["dense"]
        assert made.startswith(f"http+openai:{server.url}#small:0:")
        response = workspace.search("heart attack")
        assert set(response.components_used) == {"bm25", "dense"}
        assert not response.degraded
        assert len(workspace.opened_models.usage()) == 1
        asked = len(server.requests)
        workspace.write_index("rebuild")
        assert len(server.requests) == asked  # every passage is kept by its text


def test_a_service_is_asked_once_for_a_search_and_named_once(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is to be warmed up there, and each request may cost something."""
    with ModelService() as server:
        with Workspace(settings(folder, **dense(server))) as workspace:
            workspace.ingest(folder / "documents")
        with Workspace(settings(folder, **dense(server))) as workspace:
            before = len(server.requests)
            workspace.search("glucose")
            assert len(server.requests) == before + 1
        with Workspace(settings(folder, **dense(server))) as workspace:
            server.replies = [fails(400)] * 5
            caplog.clear()
            assert workspace.search("glucose").component_errors == ("dense_error",)
            assert caplog.text.count("dense_") == 1


def test_a_run_knows_what_its_queries_took(folder: Path) -> None:
    asked = [assay.GoldenQuery("q1", "heart attack", relevant_docs=(assay.Judgment("a", 1),))]
    with (
        ModelService() as server,
        Workspace(
            settings(folder, ASSAY_DENSE_MODEL=f"http+openai:{server.url}#small?price=1000")
        ) as workspace,
    ):
        workspace.ingest(folder / "documents")
        result = workspace.evaluate(assay.TestSet("asked", "v1", tuple(asked)))
        (text,) = server.requests[-1][2]["input"]
        tokens = len(text.split())  # the service counts words
        assert result.usage == Usage(cost=tokens / 1000, tokens=tokens)


def test_words_are_found_while_the_service_is_down_and_vectors_come_later(folder: Path) -> None:
    with (
        ModelService(*[fails(503, "0")] * 6) as server,
        Workspace(settings(folder, **dense(server))) as workspace,
    ):
        written = workspace.ingest(folder / "documents")
        assert written.lacking.startswith("without dense: ")
        assert "HTTP 503" in written.lacking
        assert "assay index update" in written.lacking
        found = workspace.search("heart attack")
        assert [hit.chunk.doc_id for hit in found.results] == ["a"]
        assert found.component_errors == ("dense_unavailable",)
        assert "has given no vectors yet" in workspace.freshness().lacking
        assert workspace.write_index("update").lacking == ""
        assert workspace.freshness().lacking == ""
        assert set(workspace.search("heart attack").components_used) == {"bm25", "dense"}
        server.replies = [fails(503, "0")] * 6
        later = workspace.add([{"doc_id": "c", "text": "ibuprofen after meals"}])
        assert "without dense" in later.lacking
        assert workspace.search("ibuprofen").results[0].chunk.doc_id == "c"
        asked = len(server.requests)
        assert workspace.write_index("update").lacking == ""
        assert len(server.requests) == asked + 1  # for the one text that it has not given


def test_a_refused_text_does_not_cost_the_index_its_vectors(folder: Path) -> None:
    with ModelService() as server, Workspace(settings(folder, **dense(server))) as workspace:
        workspace.ingest(folder / "documents")
        server.replies = [fails(400)]
        with pytest.raises(ModelServiceError, match="HTTP 400"):
            workspace.add([{"doc_id": "c", "text": "ibuprofen after meals"}])
        assert "dense" in workspace.index_card()["models"]


def test_a_service_that_fails_is_missed_by_name(folder: Path) -> None:
    with ModelService() as server:
        variables = dense(server)
        with Workspace(settings(folder, **variables)) as workspace:
            workspace.ingest(folder / "documents")
            server.replies = [fails(400)] * 5
            response = workspace.search("glucose")
            assert response.component_errors == ("dense_error",)
            assert "HTTP 400" in str(response.warnings)
            assert response.results[0].chunk.doc_id == "b"
    with Workspace(settings(folder, **variables)) as workspace:
        assert workspace.search("glucose").degraded


def test_a_refused_key_is_named_and_words_are_found(folder: Path) -> None:
    with (
        ModelService(*[fails(401)] * 9) as server,
        Workspace(settings(folder, **dense(server))) as workspace,
    ):
        assert "HTTP 401" in workspace.ingest(folder / "documents").lacking
        assert workspace.search("aspirin").results[0].chunk.doc_id == "a"
        server.replies = []
        workspace.update_index()
        assert not workspace.search("aspirin").degraded


def test_another_model_behind_the_address_is_seen(folder: Path) -> None:
    with ModelService() as server:
        with Workspace(settings(folder, **dense(server))) as workspace:
            workspace.ingest(folder / "documents")
        server.dimension = 8
        with Workspace(settings(folder, **dense(server))) as workspace:
            response = workspace.search("aspirin")
            assert response.component_errors == ("dense_error",)


def test_a_reranker_behind_an_address(folder: Path) -> None:
    with ModelService() as server:
        named = {"ASSAY_DENSE_MODEL": "none", "ASSAY_RERANKER": f"http+cohere:{server.url}#rank"}
        with Workspace(settings(folder, **named)) as workspace:
            workspace.ingest(folder / "documents")
            response = workspace.search("lowers glucose", rerank=True)
            assert response.reranker_error is None
            assert response.results[0].chunk.doc_id == "b"
            server.replies = [fails(400)] * 3
            response = workspace.search("lowers risk", rerank=True)
            assert response.reranker_error == "error"
            assert response.results


def test_only_the_setting_may_name_the_address_of_a_reranker(folder: Path) -> None:
    with ModelService() as server, Workspace(settings(folder)) as workspace:
        other = f"http+tei:{server.url}"
        with pytest.raises(UsageError, match="reranker"):
            options_of_caller(workspace.settings, {"reranker": other})
        workspace.store_documents([])
        (folder / "documents" / "c.txt").write_text("a third text")
    with (
        ModelService() as server,
        Workspace(settings(folder, ASSAY_DENSE_MODEL="none")) as workspace,
    ):
        workspace.ingest(folder / "documents")
        response = workspace.search("text", rerank=True, reranker=f"http+tei:{server.url}")
        assert response.reranker_error == "unavailable"
        assert not server.requests


def test_a_key_goes_only_where_its_owner_sends_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "secret")
    with ModelService() as server:
        address = f"http+openai:{server.url}#small"
        named = settings(folder, ASSAY_DENSE_MODEL=address, ASSAY_DENSE_KEY_VARIABLE="MY_KEY")
        with Workspace(named) as workspace:
            workspace.ingest(folder / "documents")
        assert all(h["Authorization"] == "Bearer secret" for _, h, _ in server.requests)
        (folder / "assay.yaml").write_text(f'dense_model: "{address}"\n')
        with pytest.raises(ConfigError, match=r"dense_model says where .* are sent"):
            settings(folder, ASSAY_DENSE_KEY_VARIABLE="MY_KEY")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dense_key_variable", "AWS_SECRET_ACCESS_KEY"),
        ("reranker_key_variable", "AWS_SECRET_ACCESS_KEY"),
        ("reranker", "http+tei:http://127.0.0.1:1"),
        ("dense_model", "http+tei:http://127.0.0.1:1"),
    ],
)
def test_a_file_that_is_not_trusted_chooses_neither_address_nor_variable(
    folder: Path, name: str, value: str
) -> None:
    (folder / "assay.yaml").write_text(f'{name}: "{value}"\n')
    with pytest.raises(ConfigError, match=f"{name} says .* this file is not trusted"):
        configure(environ={}, folder=folder)
    named = configure(environ={"ASSAY_CONFIG": str(folder / "assay.yaml")}, folder=folder)
    assert named.value(name) == value


def test_the_doctor_asks_each_service_once(folder: Path) -> None:
    with ModelService() as server:
        named = {**dense(server), "ASSAY_RERANKER": f"http+tei:{server.url}"}
        found = {one.name: one for one in doctor.examine(settings(folder, **named))}
        assert found["model dense"].state is doctor.State.OK
        assert "64 numbers" in found["model dense"].says
        assert found["reranker"].state is doctor.State.OK
        server.replies = [fails(401)] * 2
        found = {one.name: one for one in doctor.examine(settings(folder, **named))}
        assert found["model dense"].state is found["reranker"].state is doctor.State.FAULT
        assert "HTTP 401" in found["reranker"].says


def test_what_was_used_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ASSAY_HOME", str(folder / ".assay"))
    with ModelService() as server:
        monkeypatch.setenv("ASSAY_SPLADE_MODEL", "none")
        monkeypatch.setenv("ASSAY_DENSE_MODEL", f"http+openai:{server.url}#small?price=10")
        assert run(["ingest", "documents"]) == 0
    said = capsys.readouterr().err
    assert "1 request, 2 texts" in said
    assert "tokens, cost" in said
