"""What do the tests of the service share?"""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from assay.app.workspace import Workspace
from assay.http.app import create_app
from assay.http.edge.logs import service_log
from assay.http.service import Service
from assay.ingest import read_corpus
from assay.settings import configure
from tests.unit.http.small import DOCUMENTS

SETTINGS = {"dense_model": "none", "splade_model": "none", "query_log": "text"}
MakeService = Callable[..., Service]


def service_of(folder: Path, log: io.StringIO, **settings: Any) -> Service:
    """A service over a workspace, with no settings but those of the tests."""
    flags = {"home": folder, **SETTINGS, **settings}
    return Service(configure(flags, environ={}, folder=folder), service_log(log))


@pytest.fixture
def log() -> io.StringIO:
    """What the service wrote to its log."""
    return io.StringIO()


@pytest.fixture
def make_service(tmp_path: Path, log: io.StringIO) -> Iterator[MakeService]:
    """Services over an own workspace, closed afterwards."""
    made: list[Service] = []

    def make(**settings: Any) -> Service:
        made.append(service_of(tmp_path, log, **settings))
        return made[-1]

    yield make
    for service in made:
        service.close()


def client_of(
    service: Service, *, client: tuple[str, int] = ("127.0.0.1", 50_000), **options: Any
) -> TestClient:
    """A client in this process; a defect shows as a 500, as it does over a socket."""
    return TestClient(
        create_app(service),
        base_url="http://localhost",
        raise_server_exceptions=False,
        client=client,
        **options,
    )


@pytest.fixture
def client(make_service: MakeService) -> Iterator[TestClient]:
    """A client of a service with an empty workspace."""
    with client_of(make_service()) as client:
        yield client


@pytest.fixture(scope="session")
def small_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a few documents, indexed for words only."""
    home = tmp_path_factory.mktemp("small")
    corpus = home / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in DOCUMENTS), encoding="utf-8")
    with Workspace(configure({"home": home, **SETTINGS}, environ={}, folder=home)) as workspace:
        workspace.store_documents(read_corpus(corpus))
        workspace.update_index()
    return home


@pytest.fixture
def home(small_home: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    place = tmp_path / "home"
    shutil.copytree(small_home, place)
    return place


@pytest.fixture
def small(make_service: MakeService, home: Path) -> Iterator[TestClient]:
    """A client of a service over the small workspace."""
    with client_of(make_service(home=home)) as client:
        yield client


def assert_problem(response: Any, status: int, code: str | None = None) -> dict[str, Any]:
    """The one shape that every refusal has."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert set(body) == {
        "type", "title", "status", "detail", "code", "request_id", "hint", "errors",
    }  # fmt: skip
    assert body["status"] == status
    assert body["request_id"] == response.headers["x-request-id"]
    assert "Traceback" not in response.text
    assert all(set(fault) == {"where", "message"} for fault in body["errors"])
    if code is not None:
        assert body["code"] == code
    return body
