"""Is a service of answers left at the deadline?"""

from __future__ import annotations

import time

import pytest

from assay import posting
from assay.answers.remote import RemoteAnswerer
from assay.errors import AnswererError
from assay.testing.answerer import PASSAGES, QUESTION
from tests.unit.answers.model_server import DEFAULT, ModelServer, Reply, completion, fails


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "FIRST_WAIT", 0.01)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_a_slow_service_is_left_at_the_deadline() -> None:
    slow = Reply(200, {}, completion(DEFAULT), 1.0)
    with ModelServer(*[slow] * 3) as server:
        begin = time.monotonic()
        with pytest.raises(AnswererError, match="did not answer"):
            RemoteAnswerer(server.url, "tiny", seconds=0.2).answer(QUESTION, PASSAGES)
        assert time.monotonic() - begin < 0.8


def test_a_wait_beyond_the_deadline_is_not_waited_for() -> None:
    with ModelServer(fails(429, "3600")) as server:
        begin = time.monotonic()
        with pytest.raises(
            AnswererError, match=r"after 1 attempt \(it asks to wait 3600 s\): HTTP 429"
        ):
            RemoteAnswerer(server.url, "tiny", seconds=5).answer(QUESTION, PASSAGES)
        assert time.monotonic() - begin < 2
