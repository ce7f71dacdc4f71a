"""Is everything of a workspace in its backup, or is it said where the rest is?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.app.backup import restore
from assay.app.keys import create_key, list_keys
from assay.app.layout import Layout
from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.client import Client
from assay.settings import Settings, configure
from tests.unit.http.process import ServiceProcess

MODELS = {"dense_model": "none", "splade_model": "none"}
ROW = {"doc_id": "d1", "title": "A note", "text": "Aspirin eased the headache."}


def settings(home: Path, **more: str) -> Settings:
    return configure({"home": home, **MODELS, **more}, environ={}, folder=home.parent)


def made(home: Path, **more: str) -> Settings:
    """A workspace with a document, a key, a test set and a saved configuration."""
    of_it = settings(home, **more)
    with Workspace(of_it) as workspace:
        workspace.add([ROW])
        layout = workspace.layout
    create_key(layout, "me", ["admin"])
    for path, text in ((layout.test_set("mine"), "name: mine\n"), (layout.configuration("a"), "")):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return of_it


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    assert run(list(arguments)) == 0
    return capsys.readouterr()


def test_a_workspace_of_its_own_is_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in MODELS.items():
        monkeypatch.setenv(f"ASSAY_{name.upper()}", value)
    made(tmp_path / "home")
    file = tmp_path / "b.tar.gz"
    text, notes = said(capsys, "--home", str(tmp_path / "home"), "backup", str(file))
    counts = "1 document, 0 runs, 1 key, 1 test set, 1 saved configuration"
    assert text == f"{file}: {counts}, {file.stat().st_size:,} bytes\n"
    assert "PostgreSQL" not in notes
    new = tmp_path / "new"
    text, notes = said(capsys, "--home", str(new), "restore", str(file))
    assert text.startswith(f"{new}: {counts}, as of ")
    assert notes.startswith("note: 1 key is valid again")
    with Workspace(settings(new)) as workspace:
        assert workspace.document("d1").title == "A note"
        assert workspace.search("aspirin").results[0].chunk.doc_id == "d1"
    assert Layout(new).configuration("a").exists()


def check(body: dict[str, Any]) -> None:
    """What is said of a workspace whose documents are on a server."""
    assert body["database"] == "postgresql"
    assert body["on_server"] == ["documents", "runs", "judgments"]
    assert body["holds"]["keys"] == body["holds"]["testsets"] == body["holds"]["configs"] == 1


@pytest.fixture
def on_server(postgresql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    pytest.importorskip("psycopg", reason="it takes pip install 'assay-search[postgres]'")
    for name, value in {**MODELS, "database": postgresql}.items():
        monkeypatch.setenv(f"ASSAY_{name.upper()}", value)
    return made(tmp_path / "home", database=postgresql)


def test_a_workspace_on_a_server_is_backed_up_as_far_as_it_is_here(
    on_server: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, home = tmp_path / "b.tar.gz", on_server.home
    text, notes = said(capsys, "--home", str(home), "backup", str(file))
    assert text.startswith(f"{file}: 1 key, 1 test set, 1 saved configuration, ")
    assert "documents, runs and judgments are on the PostgreSQL server" in notes
    assert "pg_dump" in notes
    more, _ = said(capsys, "--home", str(home), "backup", str(tmp_path / "c"), "--json")
    check(json.loads(more))
    text, notes = said(capsys, "--home", str(tmp_path / "new"), "restore", str(file))
    assert text.startswith(f"{tmp_path / 'new'}: 1 key, 1 test set, 1 saved configuration, as of ")
    assert "documents, runs and judgments were on a PostgreSQL server" in notes
    body, _ = said(capsys, "--home", str(tmp_path / "again"), "restore", str(file), "--json")
    check(json.loads(body))
    assert json.loads(body)["generation"] is None
    assert [key.name for key in list_keys(Layout(tmp_path / "new"))] == ["me"]
    with Workspace(settings(tmp_path / "new", database=on_server.database)) as workspace:
        workspace.write_index()  # from the server, which has the documents
        assert workspace.document("d1").title == "A note"


def test_the_same_over_http(on_server: Settings, tmp_path: Path) -> None:
    key = create_key(Layout(on_server.home), "admin", ["admin"]).key
    with ServiceProcess(on_server.home) as process, Client(process.address, key=key) as client:
        written = client.backup(tmp_path / "b.tar.gz")
    assert written.on_server == ("documents", "runs", "judgments")
    assert written.bytes == (tmp_path / "b.tar.gz").stat().st_size
    assert written.manifest.holds["keys"] == 2
    restored = restore(settings(tmp_path / "new"), tmp_path / "b.tar.gz")
    assert restored.on_server == written.on_server


def test_documents_of_a_file_are_not_indexed_for_a_server(
    on_server: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Workspace(made(tmp_path / "own")) as workspace:
        workspace.backup(tmp_path / "b")
    _, notes = said(capsys, "--home", str(tmp_path / "new"), "restore", str(tmp_path / "b"))
    assert "set database to sqlite to use them" in notes
    assert not Layout(tmp_path / "new").index.exists()
