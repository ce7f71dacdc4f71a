"""What do the tests of encoders share?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.encode.tiny import write_model


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One folder per role with a small random model."""
    root = tmp_path_factory.mktemp("tiny")
    return {role: write_model(root / role, role) for role in ("dense", "splade", "reranker")}
