"""Does a configuration that the playground saves arrive where the command line finds it?"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from assay.app.configurations import read_configuration
from tests.unit.http.pages.conftest import FORM

pytestmark = pytest.mark.slow


def test_a_configuration_becomes_a_side_of_an_ab_test(pages: TestClient, home: Path) -> None:
    address = "/search?q=x&fusion_method=weighted&weighting=own&w_bm25=0.7&rerank=off&boosts=off"
    body = urlencode({"address": address, "name": "words"})
    answer = pages.post("/ui/save-configuration", content=body, headers=FORM)
    assert answer.status_code == 200, answer.text
    assert read_configuration(str(home / "configs" / "words.yaml")) == {
        "depth": 100,
        "components": ("bm25",),
        "fusion_method": "weighted",
        "rrf_k": 60,
        "weights": {"bm25": 0.7},
        "per_type_weights": False,
        "type_weights": {},
        "normalization": "min-max",
        "boosts": False,
        "group_by": "chunk",
        "collapse": False,
        "rerank": False,
        "reranker": "assay-bio-rerank",
    }
    assert pages.post("/ui/save-configuration", content=body, headers=FORM).status_code == 200
    other = urlencode({"address": "/search?rrf_k=5", "name": "words"})
    assert pages.post("/ui/save-configuration", content=other, headers=FORM).status_code == 409
    assert "weights: bm25=0.7" in pages.get("/search/configuration/words").text
    assert pages.get("/search/configuration/nothing").status_code == 404
    assert '<a href="/search/configuration/words">words</a>' in pages.get("/search?q=x").text
