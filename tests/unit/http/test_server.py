"""Does the service as a process keep its promises to clients that do not, and end well?"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.unit.http.conftest import assert_problem
from tests.unit.http.process import ServiceProcess, whole_answer
from tests.unit.http.small import TEST_SET
from tests.unit.http.test_evaluate import many_queries
from tests.waiting import eventually

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def running(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    import shutil

    home = tmp_path_factory.mktemp("running") / "home"
    shutil.copytree(small_home, home)
    with ServiceProcess(home, ASSAY_REQUEST_SECONDS="2") as process:
        yield process


def problem_of(answer: bytes) -> tuple[int, dict[str, object]]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    return int(head.split()[1]), json.loads(body)


def test_it_answers(running: ServiceProcess) -> None:
    assert running.client.get("/healthz").json() == {"status": "alive"}
    found = running.client.get("/v1/search", params={"q": "headache"}).json()
    assert [hit["doc_id"] for hit in found["results"]] == ["d1", "d2"]
    docs = running.client.get("/docs")
    assert "<h2" in docs.text
    assert '="http' not in docs.text  # nothing comes from, or leads to, another host
    assert running.client.get("/static/docs.js").status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"hello\r\n\r\n",
        b"GET /v1/search?q=" + b"x" * 2**20 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /v1/compare HTTP/1.1\r\nHost: localhost\r\nContent-Length: abc\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
        b"\x16\x03\x01\x00\xa5\x01\x00\x00",
    ],
    ids=["words", "1 MB query", "length", "two hosts", "tls"],
)
def test_what_is_not_http_is_refused_in_the_same_shape(
    running: ServiceProcess, sent: bytes
) -> None:
    with running.connection() as raw:
        raw.sendall(sent)
        answer = whole_answer(raw)
    assert problem_of(answer)[0] == 400


def post(length: int) -> bytes:
    return (
        b"POST /v1/compare HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % length
    )


def test_a_length_that_promises_too_little_is_refused(running: ServiceProcess) -> None:
    with running.connection() as raw:
        raw.sendall(post(2) + b'{}{"more": "than was said"}\r\n\r\n')
        answer = whole_answer(raw)
    assert answer.startswith(b"HTTP/1.1 422")
    assert b"HTTP/1.1 400" in answer  # what follows is not a request


def test_a_body_larger_than_allowed_is_refused_without_being_read(running: ServiceProcess) -> None:
    with running.connection() as raw:
        raw.sendall(post(2**40))
        status, problem = problem_of(whole_answer(raw))
    assert (status, problem["code"]) == (413, "too_large")


def test_a_body_without_an_end_is_refused(running: ServiceProcess) -> None:
    head = post(0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with running.connection() as raw:
        raw.sendall(head)
        for _ in range(300):
            raw.sendall(chunk)
        raw.sendall(b"0\r\n\r\n")
        assert problem_of(whole_answer(raw))[0] == 413


def test_a_client_that_leaves_does_no_harm(running: ServiceProcess) -> None:
    for _ in range(20):
        with running.connection() as raw:
            raw.sendall(b"GET /v1/search?q=headache HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert running.client.get("/healthz").status_code == 200


def test_a_crash_loses_no_job(home: Path) -> None:
    with ServiceProcess(home) as process:
        address = process.client.post(
            "/v1/evaluate", json=many_queries(400), headers={"Prefer": "respond-async"}
        ).headers["location"]
        eventually(lambda: process.client.get(address).json()["done"] > 0)
        process.process.kill()
        process.process.communicate()
    with ServiceProcess(home) as process:
        eventually(lambda: process.client.get(address).json()["state"] == "complete")
        job = process.client.get(address).json()
        assert (job["done"], job["total"]) == (400, 400)


def test_requests_wait_while_a_service_restarts_on_a_socket_that_stays(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with ServiceProcess(home, listener) as old:
            assert old.port == listener.getsockname()[1]
            assert old.client.get("/healthz").status_code == 200
        with ThreadPoolExecutor(4) as pool:
            url = f"{old.address}/v1/search"
            asked = [
                pool.submit(httpx.get, url, params={"q": "headache"}, timeout=60) for _ in range(4)
            ]
            with ServiceProcess(home, listener):
                assert [one.result().status_code for one in asked] == [200] * 4


def test_a_socket_that_strangers_reach_is_refused_without_keys(tmp_path: Path) -> None:
    with socket.create_server(("0.0.0.0", 0)) as listener, pytest.raises(AssertionError) as refused:
        ServiceProcess(tmp_path, listener)
    assert "no API key" in str(refused.value)


def test_an_open_public_bind_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assay", "--home", str(tmp_path), "serve", "--host", "0.0.0.0"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "no API key" in done.stderr


def test_a_port_in_use_is_named(running: ServiceProcess, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assay", "--home", ".", "serve", "--port", f"{running.port}"],
        cwd=tmp_path,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert f":{running.port}" in done.stderr


def test_problems_over_a_socket_have_the_shape_of_all(running: ServiceProcess) -> None:
    assert_problem(running.client.get("/v1/search"), 422)
    assert_problem(running.client.get("/nope"), 404)
    assert_problem(running.client.post("/v1/evaluate", json={**TEST_SET, "queries": 3}), 422)
