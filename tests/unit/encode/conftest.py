"""What do the tests of encoders share?

Real models are pulled once into the folder that all workspaces share (``ASSAY_MODELS``, or the
user's cache), about 107 MB. Where no package registry can be reached, the tests that need them are
skipped and say so.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from assay.encode.pull import pull
from assay.encode.shelf import Shelf, shelf
from assay.errors import AssayError
from tests.unit.encode.tiny import write_model

REAL = ("bge-small-en-v1.5", "all-minilm-l6-v2", "splade-tiny", "ms-marco-minilm-l12-v2")


@cache
def _pulled() -> str:
    """Nothing where the models are here now, otherwise why not; asked once per session."""
    here = shelf()
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
    return shelf()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One folder per role with a small random model."""
    root = tmp_path_factory.mktemp("tiny")
    return {role: write_model(root / role, role) for role in ("dense", "splade", "reranker")}
