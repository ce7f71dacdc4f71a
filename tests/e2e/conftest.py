"""A workspace with real models, made once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.app.workspace import Workspace
from assay.encode.shelf import Shelf
from assay.search.searcher import Searcher
from assay.settings import configure
from tests.e2e.clinic import chunks
from tests.unit.search.corpus import documents


@pytest.fixture(scope="session")
def clinic(tmp_path_factory: pytest.TempPathFactory, real_shelf: Shelf) -> Iterator[Workspace]:
    home = tmp_path_factory.mktemp("clinic") / "home"
    patient = {"home": home, "component_timeout_ms": 20_000}  # the machine may be busy
    with Workspace(configure(patient, environ={}, folder=home.parent)) as opened:
        opened.store_documents(documents(chunks()))
        opened.update_index()
        yield opened


@pytest.fixture
def search(clinic: Workspace) -> Searcher:
    return clinic.searcher
