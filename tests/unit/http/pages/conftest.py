"""What do the tests of pages share?"""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from tests.unit.http.small import TEST_SET

PERSON = {"accept": "text/html"}
FORM = {"origin": "http://localhost", "content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
def pages(small: TestClient) -> TestClient:
    """A browser in front of a workspace with two runs, a and b; b is tagged baseline."""
    for name, depth in (("run_a", "1"), ("run_b", "100")):
        response = small.post(f"/v1/evaluate?evaluation_id={name}&depth={depth}", json=TEST_SET)
        assert response.status_code == 200, response.text
    small.put("/v1/runs/run_b/tags/baseline")
    small.headers.update(PERSON)
    return small
