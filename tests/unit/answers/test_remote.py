"""Is a language model asked, waited for and read with care? Against a real server."""

from __future__ import annotations

import json

import pytest

from assay import limits, posting
from assay.answers.remote import RemoteAnswerer
from assay.errors import AnswererError, UsageError
from assay.model.answers import Answer, Usage
from assay.testing.answerer import PASSAGES, QUESTION
from tests.unit.answers.model_server import DEFAULT, ModelServer, Reply, completion, fails, says


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "FIRST_WAIT", 0.01)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_the_question_goes_out_with_numbered_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret")
    with ModelServer() as server:
        answerer = RemoteAnswerer(server.url, "tiny", "MY_KEY")
        assert answerer.answer(QUESTION, PASSAGES) == Answer(DEFAULT, ("label-1:chunk_2",))
    ((path, headers, body),) = server.requests
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer secret"
    assert (body["model"], body["temperature"], body["stream"]) == ("tiny", 0, False)
    asked = body["messages"][1]["content"]
    assert "[1] EXAMPLOL" in asked
    assert "[2] " in asked
    assert asked.endswith(f"Question: {QUESTION}")
    assert "secret" not in repr(answerer)
    assert "secret" not in answerer.name


def test_without_a_key_none_is_sent() -> None:
    with ModelServer() as server:
        RemoteAnswerer(server.url, "tiny").answer(QUESTION, PASSAGES)
    assert "Authorization" not in server.requests[0][1]


def test_a_refusal() -> None:
    with ModelServer(says("NOT ANSWERABLE: the sources speak of adults only.")) as server:
        said = RemoteAnswerer(server.url, "tiny").answer(QUESTION, PASSAGES)
    assert said == Answer("", (), False, "the sources speak of adults only.")


@pytest.mark.slow
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(status: int) -> None:
    with ModelServer(fails(status), fails(status, "0")) as server:
        assert RemoteAnswerer(server.url, "tiny").answer(QUESTION, PASSAGES).grounded
    assert len(server.requests) == 3


def test_it_gives_up_after_three_attempts() -> None:
    with (
        ModelServer(*[fails(503)] * 5) as server,
        pytest.raises(AnswererError, match=r"after 3 attempts: HTTP 503.*no luck"),
    ):
        RemoteAnswerer(server.url, "tiny").answer(QUESTION, PASSAGES)
    assert len(server.requests) == 3


@pytest.mark.parametrize(("status", "hint"), [(401, "OPENAI_API_KEY"), (404, "address"), (400, "")])
def test_what_will_not_pass_is_told_at_once(status: int, hint: str) -> None:
    with (
        ModelServer(fails(status)) as server,
        pytest.raises(AnswererError, match=f"HTTP {status}") as caught,
    ):
        RemoteAnswerer(server.url, "tiny").answer(QUESTION, PASSAGES)
    assert hint in (caught.value.hint or "")
    assert len(server.requests) == 1


def test_nobody_there() -> None:
    with pytest.raises(AnswererError, match="after 3 attempts: ConnectError"):
        RemoteAnswerer("http://127.0.0.1:1/v1", "tiny").answer(QUESTION, PASSAGES)


def test_an_endless_reply_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ANSWER_BYTES", 100)
    with (
        ModelServer(says("x" * 1000)) as server,
        pytest.raises(AnswererError, match="more than a reply holds"),
    ):
        RemoteAnswerer(server.url, "tiny").answer(QUESTION, PASSAGES)


BAD = {
    "not JSON": b"<html>",
    "cut off": completion(DEFAULT)[:-5],
    "no choices": b"{}",
    "empty choices": b'{"choices": []}',
    "a list": b"[]",
    "a number": completion(5),
    "NaN": b'{"choices": NaN}',
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD)
def test_a_reply_of_another_form(body: bytes) -> None:
    with ModelServer(Reply(200, {}, body)) as server, pytest.raises(AnswererError):
        RemoteAnswerer(server.url, "tiny").answer(QUESTION, PASSAGES)


USED = {"prompt_tokens": 80, "completion_tokens": 12, "cost": 0.002}


def test_an_answer_says_what_it_took() -> None:
    body = json.dumps({**json.loads(completion(DEFAULT)), "usage": USED}).encode()
    with ModelServer(Reply(200, {}, body)) as server:
        said = RemoteAnswerer(server.url, "tiny").answer(QUESTION, PASSAGES)
    assert said.usage == Usage(0.002, 92, 80, 12)


@pytest.mark.parametrize("usage", [[], "5", {"total_tokens": -1}, {"cost": True}, {"cost": 1e999}])
def test_usage_of_another_form_is_left_out(usage: object) -> None:
    body = json.dumps({**json.loads(completion(DEFAULT)), "usage": usage}).replace(
        "Infinity", "1e999"
    )
    with ModelServer(Reply(200, {}, body.encode())) as server:
        assert RemoteAnswerer(server.url, "tiny").answer(QUESTION, PASSAGES).usage is None


def test_a_reply_without_text_is_a_refusal() -> None:
    with ModelServer(says(None)) as server:
        said = RemoteAnswerer(server.url, "tiny").answer(QUESTION, PASSAGES)
    assert said.refusal_reason == "the model replied nothing"


@pytest.mark.parametrize(
    "url", ["", "ftp://x", "localhost:1", "http://user:pw@host/v1", "http://h/v1?key=x"]
)
def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(UsageError):
        RemoteAnswerer(url, "tiny")


def test_a_redirect_is_not_followed() -> None:
    with (
        ModelServer(Reply(302, {"Location": "http://127.0.0.1:1/"}, b"")) as server,
        pytest.raises(AnswererError, match="HTTP 302"),
    ):
        RemoteAnswerer(server.url, "tiny").answer(QUESTION, PASSAGES)
