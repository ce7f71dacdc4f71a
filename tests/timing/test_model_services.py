"""Is a model behind a service waited for as long as such services take?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from assay.app.workspace import Workspace
from assay.settings import configure
from tests.unit.encode.model_service import ModelService
from tests.unit.scripted_service import Reply

TAKES_S = 0.8  # as hosted services do


class SlowService(ModelService):
    """A service that takes its time."""

    def usual(self, body: dict[str, Any]) -> Reply:
        """The same, later."""
        time.sleep(TAKES_S)
        return super().usual(body)


def test_a_hosted_model_takes_part_in_a_search(tmp_path: Path) -> None:
    with SlowService() as server:
        flags = {"home": tmp_path / ".assay", "splade_model": "none",
                 "dense_model": f"http+openai:{server.url}#small"}  # fmt: skip
        with Workspace(configure(flags, environ={}, folder=tmp_path)) as workspace:
            workspace.add([{"doc_id": "a", "text": "aspirin lowers fever"}])
            response = workspace.search("fever")
            assert set(response.components_used) == {"bm25", "dense"}
            hasty = workspace.search("aspirin", component_timeout_ms=100)
            assert hasty.component_errors == ("dense_timeout",)
