"""What do the tests of pages share?"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.unit.http.conftest import MakeService, client_of, service_of
from tests.unit.http.small import TEST_SET

PERSON = {"accept": "text/html"}
FORM = {"origin": "http://localhost", "content-type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="session")
def evaluated_home(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small workspace with two runs, a and b; b is tagged baseline."""
    home = tmp_path_factory.mktemp("evaluated") / "home"
    shutil.copytree(small_home, home)
    service = service_of(home, io.StringIO())
    with client_of(service) as client:
        for name, depth in (("run_a", "1"), ("run_b", "100")):
            address = f"/v1/evaluate?evaluation_id={name}&depth={depth}"
            response = client.post(address, json=TEST_SET)
            assert response.status_code == 200, response.text
        client.put("/v1/runs/run_b/tags/baseline")
    service.close()
    return home


@pytest.fixture
def pages(make_service: MakeService, evaluated_home: Path, home: Path) -> Iterator[TestClient]:
    """A browser in front of a copy of it that a test may change."""
    shutil.rmtree(home)
    shutil.copytree(evaluated_home, home)
    with client_of(make_service(home=home), headers=PERSON) as client:
        yield client


@pytest.fixture(scope="module")
def reading(evaluated_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A browser for tests that change nothing: one for all of a module."""
    home = tmp_path_factory.mktemp("reading") / "home"
    shutil.copytree(evaluated_home, home)
    service = service_of(home, io.StringIO())
    with client_of(service, headers=PERSON) as client:
        yield client
    service.close()
