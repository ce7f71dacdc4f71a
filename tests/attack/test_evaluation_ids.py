"""Is an id that a caller gives exact: never answered with another evaluation?"""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.unit.http.conftest import assert_problem
from tests.unit.http.small import TEST_SET

pytestmark = pytest.mark.slow


def _asked(client: TestClient, key: str = "", **parameters: str) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return client.post("/v1/evaluate", json=TEST_SET, params=parameters, headers=headers)


def test_an_idempotency_key_does_not_answer_for_another_id(small: TestClient) -> None:
    first = _asked(small, "retry-1")
    assert first.status_code == 200
    assert_problem(_asked(small, "retry-1", evaluation_id="mine"), 409, "conflict")
    assert _asked(small, "retry-2", evaluation_id="mine").json()["evaluation_id"] == "mine"
    assert_problem(_asked(small, "retry-2", evaluation_id="other"), 409, "conflict")
    assert _asked(small, "retry-2").json()["evaluation_id"] == "mine"  # it names no other
