"""Is every request surrounded by what the frame promises?"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import Request
from starlette.testclient import TestClient

from assay import limits
from assay.errors import StorageError
from assay.http.app import create_app
from assay.http.edge.frame import Frame
from assay.http.service import Service
from tests.unit.http.conftest import MakeService, assert_problem, client_of

pytestmark = pytest.mark.slow


def with_routes(service: Service) -> Frame:
    """The application with routes that misbehave on purpose."""
    frame = create_app(service)
    assert isinstance(frame, Frame)
    app = frame.application

    async def slow() -> None:
        await asyncio.sleep(30)

    async def defect() -> None:
        raise ZeroDivisionError("secret /etc/passwd")

    async def broken() -> None:
        raise StorageError("the disk is full", hint="free some")

    async def echo(request: Request) -> dict[str, int]:
        return {"bytes": len(await request.body())}

    app.router.add_api_route("/slow", slow)
    app.router.add_api_route("/defect", defect)
    app.router.add_api_route("/broken", broken)
    app.router.add_api_route("/echo", echo, methods=["POST"])
    return frame


def odd_client(service: Service) -> TestClient:
    app = with_routes(service)
    return TestClient(
        app,
        base_url="http://localhost",
        raise_server_exceptions=False,
        client=("127.0.0.1", 50_000),
    )


@pytest.fixture
def odd(make_service: MakeService) -> Iterator[TestClient]:
    with odd_client(make_service()) as client:
        yield client


def test_every_answer_has_an_id_and_safe_headers(client: TestClient) -> None:
    response = client.get("/healthz")
    assert response.json() == {"status": "alive"}
    assert len(response.headers["x-request-id"]) == 16
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert response.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in response.headers
    assert "server" not in response.headers


@pytest.mark.parametrize(
    ("given", "kept"), [("abc-1.2_3", True), ("a b", False), ("x" * 65, False), ("a\u00e9", False)]
)
def test_a_harmless_request_id_of_the_caller_is_kept(
    client: TestClient, given: str, kept: bool
) -> None:
    headers = {b"X-Request-ID": given.encode("latin-1")}
    assert (client.get("/healthz", headers=headers).headers["x-request-id"] == given) is kept


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "", "localhost:99999999"]
)
def test_a_spoofed_host_is_refused(client: TestClient, host: str) -> None:
    assert_problem(client.get("/healthz", headers={"Host": host}), 421, "unknown_host")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8321", "127.0.0.1:1", "[::1]:80"])
def test_our_own_names_are_known(client: TestClient, host: str) -> None:
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


def test_forms_of_other_sites_are_refused(odd: TestClient) -> None:
    foreign = odd.post("/echo", json={}, headers={"Origin": "https://evil.example"})
    assert_problem(foreign, 403, "foreign_origin")
    own = odd.post("/echo", json={}, headers={"Origin": "http://localhost"})
    assert own.status_code == 200, (own.status_code, own.headers)
    assert own.json() == {"bytes": 2}


@pytest.mark.parametrize("path", ["/nope", "/v1/nope", "/..%2f..%2fetc", "/static/nope.js"])
def test_an_unknown_path_is_a_problem(client: TestClient, path: str) -> None:
    assert_problem(client.get(path), 404, "not_found")


def test_a_wrong_method_names_the_right_one(client: TestClient) -> None:
    response = client.post("/healthz")
    assert_problem(response, 405, "method_not_allowed")
    assert response.headers["allow"] == "GET"
    assert "takes GET" in client.post("/v1/search", json={"q": "x"}).json()["hint"]


@pytest.mark.parametrize("address", ["/healthz?q=%ff", "/healthz?q=%00", "/%ff", "/a%00b"])
def test_an_address_that_is_not_text_is_refused(client: TestClient, address: str) -> None:
    assert_problem(client.get(address), 400, "bad_address")


def test_too_many_parameters_are_refused(client: TestClient) -> None:
    address = "/healthz?" + "&".join(f"a{number}=1" for number in range(200))
    assert_problem(client.get(address), 400)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "json"])
def test_another_kind_of_body_is_refused(odd: TestClient, kind: str) -> None:
    response = odd.post("/echo", content=b"{}", headers={"Content-Type": kind})
    assert_problem(response, 415, "unsupported_media_type")


def test_a_compressed_body_is_refused(odd: TestClient) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert_problem(odd.post("/echo", content=b"\x1f\x8b", headers=headers), 415, "compressed")


def test_a_body_is_refused_by_its_length_before_it_is_read(odd: TestClient) -> None:
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(limits.MAX_BODY_BYTES + 1),
    }
    assert_problem(odd.post("/echo", content=b"{}", headers=headers), 413, "too_large")


def test_a_body_without_a_length_is_counted(odd: TestClient) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(limits.MAX_BODY_BYTES // 2**20 + 2):
            yield b" " * 2**20

    headers = {"Content-Type": "application/json"}
    response = odd.post("/echo", content=pieces(), headers=headers)
    assert_problem(response, 413, "too_large")


def test_the_deadline_ends_a_slow_answer(make_service: MakeService) -> None:
    with odd_client(make_service(request_seconds="0.5")) as odd:
        assert_problem(odd.get("/slow"), 504, "deadline")


def test_a_defect_says_nothing_about_itself_but_the_log_does(
    odd: TestClient, log: io.StringIO
) -> None:
    body = assert_problem(odd.get("/defect"), 500, "internal")
    assert "secret" not in json.dumps(body)
    assert "secret" in log.getvalue()
    assert body["request_id"] in log.getvalue()


def test_an_error_of_ours_keeps_its_code_and_hint(odd: TestClient) -> None:
    body = assert_problem(odd.get("/broken"), 500, "storage")
    assert body["hint"] == "free some"


def test_a_client_that_leaves_ends_the_work(make_service: MakeService, log: io.StringIO) -> None:
    app = with_routes(make_service())
    ended: list[str] = []

    async def scene() -> None:
        left = asyncio.Event()
        messages: list[dict[str, Any]] = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop(0)
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            ended.append(message["type"])

        scope = {
            "type": "http", "method": "GET", "path": "/slow", "raw_path": b"/slow",
            "query_string": b"", "headers": [(b"host", b"localhost")], "client": ("127.0.0.1", 1),
            "server": ("localhost", 80), "scheme": "http", "http_version": "1.1", "root_path": "",
        }  # fmt: skip
        task = asyncio.create_task(app(scope, receive, send))
        await asyncio.sleep(0.05)
        left.set()
        await asyncio.wait_for(task, 1)

    asyncio.run(scene())
    assert ended == []
    assert json.loads(log.getvalue().splitlines()[-1])["gone"] is True


def test_a_full_gate_refuses_and_says_when_to_come_back(make_service: MakeService) -> None:
    service = make_service()
    service.gates["work"].slots = 0
    service.gates["work"].queue = 0
    with client_of(service) as client:
        response = client.get("/nope")
        assert_problem(response, 503, "overloaded")
        assert response.headers["retry-after"] == "1"
        assert client.get("/healthz").status_code == 200  # answered whatever the load


def test_a_caller_that_asks_too_often_is_told_to_wait(make_service: MakeService) -> None:
    with client_of(make_service(rate_limit="1")) as client:
        assert client.get("/metrics").status_code == 200
        response = client.get("/metrics")
        assert_problem(response, 429, "rate_limited")
        assert int(response.headers["retry-after"]) >= 1


def test_parts_of_pages_do_not_count_as_requests(make_service: MakeService) -> None:
    with client_of(make_service(rate_limit="1")) as client:
        for path in ("/ui/style.css", "/static/ui.css", "/healthz"):
            assert client.get(path).status_code == 200
        assert client.get("/metrics").status_code == 200
        assert_problem(client.get("/metrics"), 429, "rate_limited")


def test_a_log_line_cannot_be_forged(client: TestClient, log: io.StringIO) -> None:
    client.get("/nope%0a{}", headers={"X-Request-ID": 'x"\\n{'})
    client.request("G\u0045T", "/healthz")
    events = [json.loads(line)["event"] for line in log.getvalue().splitlines()]
    assert events.count("request") == 2, "one for each request, whatever was in it"
