"""Where are the bad inputs tried?"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from assay.http.edge.logs import service_log
from assay.http.service import Service
from assay.settings import configure
from assay.store.runs import SqlRunStore
from tests.badinputs.ways import Bench, bench_in
from tests.unit.cli.test_eval_compare import GOOD, put
from tests.unit.evaluation.stored import golden, hit_at, outcome, ranks, stored, suite
from tests.unit.http.conftest import SETTINGS, client_of, small_home

__all__ = ["small_home"]


@pytest.fixture(scope="module")
def service(
    small_home: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[TestClient]:
    """A client of a service over a small workspace of its own."""
    place = tmp_path_factory.mktemp("service") / "home"
    shutil.copytree(small_home, place)
    flags = {"home": place, **SETTINGS}
    made = Service(configure(flags, environ={}, folder=place), service_log(io.StringIO()))
    with client_of(made) as client:
        yield client
    made.close()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with runs that can and cannot be compared."""
    folder = tmp_path_factory.mktemp("runs")
    store = SqlRunStore(folder / "assay.db")
    put(store, ranks("run-good", GOOD, types=True), "good")
    queries = [golden(name, f"D{name}:chunk_0") for name in GOOD]
    newer = suite(*queries, version="v2")
    put(store, stored("run-newer", newer, [hit_at(name, 1) for name in GOOD]), "newer")
    other = [outcome(name, "Y1:chunk_0") for name in GOOD]
    put(store, stored("run-elsewhere", suite(*queries), other), "elsewhere")
    store.close()
    return folder


@pytest.fixture
def bench(tmp_path: Path, service: TestClient, runs: Path) -> Iterator[Bench]:
    """An empty folder with everything around it."""
    with bench_in(tmp_path, service, runs) as made:
        yield made
