"""Can a person sign in with a key, and does the session hold what the key may do?"""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from assay.store.keys import KeyStore
from tests.unit.http.conftest import MakeService, client_of
from tests.unit.http.pages.conftest import FORM, PERSON

pytestmark = pytest.mark.slow


@pytest.fixture
def locked(make_service: MakeService, home: Path) -> Iterator[tuple[TestClient, str]]:
    """A service with a reader's key."""
    store = KeyStore(home / "assay.db")
    _, shown = store.create("reader", ["read"])
    store.close()
    with client_of(make_service(home=home), headers=PERSON) as client:
        yield client, shown


def _sign_in(client: TestClient, key: str, following: str = "/runs") -> tuple[int, str, str]:
    body = urlencode({"key": key, "next": following})
    answer = client.post("/sign-in", content=body, headers=FORM, follow_redirects=False)
    cookie = answer.headers.get("set-cookie", "")
    return answer.status_code, answer.headers.get("location", ""), cookie


def test_a_page_asks_for_a_key_and_comes_back(locked: tuple[TestClient, str]) -> None:
    client, key = locked
    refused = client.get("/runs?suite=small")
    assert refused.status_code == 401
    assert "/sign-in?next=%2Fruns%3Fsuite%3Dsmall" in refused.text
    assert "header" not in refused.text.split("<main")[1]  # that is for programs
    status, place, cookie = _sign_in(client, key)
    assert (status, place) == (303, "/runs")
    assert {"HttpOnly", "SameSite=strict"} <= {part.strip() for part in cookie.split(";")}
    assert client.get("/runs").status_code == 200


def test_a_reader_may_look_and_not_change(locked: tuple[TestClient, str]) -> None:
    client, key = locked
    _sign_in(client, key)
    answer = client.post("/ui/tag", content="run=latest&tag=baseline", headers=FORM)
    assert answer.status_code == 403
    assert "This key may not do that" in answer.text


def test_signing_out_ends_the_session(locked: tuple[TestClient, str]) -> None:
    client, key = locked
    _sign_in(client, key)
    token = client.cookies["assay_session"]
    client.post("/sign-out", headers=FORM, follow_redirects=False)
    client.cookies.set("assay_session", token)
    assert client.get("/runs").status_code == 401


@pytest.mark.parametrize(
    "following", ["//elsewhere.example", "https://elsewhere.example", "/\\elsewhere.example", ""]
)
def test_signing_in_never_leads_elsewhere(locked: tuple[TestClient, str], following: str) -> None:
    client, key = locked
    assert _sign_in(client, key, following)[1] == "/"


def test_a_wrong_key_is_named_and_opens_nothing(locked: tuple[TestClient, str]) -> None:
    client, key = locked
    status, _, cookie = _sign_in(client, key[:-1] + ("A" if key[-1] != "A" else "B"))
    assert (status, cookie) == (401, "")


def test_a_line_to_copy_brings_the_key_along(locked: tuple[TestClient, str]) -> None:
    client, key = locked
    _sign_in(client, key)
    text = html.unescape(client.get("/testsets").text)
    assert 'curl -H "Authorization: Bearer $ASSAY_API_KEY" http://localhost/v1/testsets' in text
    assert key not in text
