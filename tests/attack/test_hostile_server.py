"""Does an answer of any other shape than ours end in words that name the service?"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import httpx2 as httpx
import pytest

from assay.client import Client
from assay.errors import AssayError, UsageError

ANSWERS: tuple[Any, ...] = (
    {}, [], None, 7, "text", {"total": "x"}, {"total": None, "outcomes": 3}, {"runs": {}},
    {"outcomes": [{}], "total": 1}, {"outcomes": [[]], "total": 1}, {"job_id": 5},
    {"job_id": "a", "kind": 1}, {"job_id": "a", "kind": "x", "done": "1", "total": []},
    {"job_id": "a", "kind": "x", "done": 0, "total": 0, "state": "complete"},
    {"job_id": "a", "kind": "x", "done": 0, "total": 0, "state": "failed", "problem": "no"},
    {"modes": []}, {"modes": {"a": 3}}, {"run_id": 5, "cached": "x"}, {"sections": 3},
    {"test_sets": {"a": 1}}, {"models": [1]}, {"problems": [None]}, {"ids": [[1]]},
    {"places": {"a": {}}}, {"latency": []}, {"queries": [1], "name": "x"},
)  # fmt: skip
VERBS: dict[str, Callable[[Client], Any]] = {
    "search": lambda client: client.search("heart"),
    "answer": lambda client: client.answer("heart"),
    "sections": lambda client: client.sections(),
    "freshness": lambda client: client.freshness(),
    "check": lambda client: client.check_index(),
    "write": lambda client: client.write_index(),
    "documents": lambda client: client.documents(),
    "document": lambda client: client.document("d1"),
    "delete": lambda client: client.delete(["d1"]),
    "models": lambda client: client.models(),
    "sets": lambda client: client.test_sets(),
    "places": lambda client: client.archived(["c"], frozenset()),
    "present": lambda client: client.present(["c"]),
    "timings": lambda client: client.timings("a", "b", repeats=1, seed=1),
    "list": lambda client: client.runs.runs(),
    "show": lambda client: client.stored_run("latest"),
    "outcomes": lambda client: client.runs.outcomes("latest"),
    "test set": lambda client: client.runs.test_set("latest"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("status", [200, 422, 503])
def test_every_verb_names_what_it_cannot_read(
    verb: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.client.ATTEMPTS", 1)
    for answer in ANSWERS:

        def reply(request: httpx.Request, answer: Any = answer) -> httpx.Response:
            del request
            return httpx.Response(status, content=json.dumps(answer).encode())

        # a shape of another verb may be an answer of this one, but only when all went well
        with (
            Client("http://hostile", transport=httpx.MockTransport(reply)) as client,
            contextlib.suppress(AssayError),
        ):
            VERBS[verb](client)
            assert status == 200


@pytest.mark.parametrize("address", ["http://[::1", "http://a:b:c", "http://host:99999999999999"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(AssayError), Client(address, timeout=1.0) as client:
        client.sections()


@pytest.mark.parametrize("key", ["a\nb", "ключ", "a\x00b", "a\udcffb"])
def test_a_key_that_is_none(key: str) -> None:
    with pytest.raises(UsageError, match="API key"):
        Client("http://host", key=key)


@pytest.mark.parametrize("wait", ["²", "1e9", "-5", "nan", "9" * 400, ""])
def test_a_wait_that_is_none(wait: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("assay.client.time.sleep", waited.append)

    def busy(request: httpx.Request) -> httpx.Response:
        del request
        return httpx.Response(503, headers=[(b"retry-after", wait.encode())], content=b"{}")

    with (
        Client("http://busy", transport=httpx.MockTransport(busy)) as client,
        pytest.raises(AssayError),
    ):
        client.sections()
    assert all(0 <= one <= 10 for one in waited)
