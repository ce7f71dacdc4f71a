"""What do all tests share?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


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
