"""Connections to a node: kept, opened anew, and encrypted by whom we trust."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.errors import ConfigError, EngineError
from assay.opensearch.node import LateError, Node
from assay.opensearch.transport import Credentials, Transport

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
CLOSING = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


@contextmanager
def listening(serve: Callable[[socket.socket], None]) -> Iterator[tuple[int, list[int]]]:
    """A port and the connections that came; ``serve`` has each of them."""
    came: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                came.append(1)
                with connection:
                    try:
                        serve(connection)
                    except OSError:
                        continue

        thread = threading.Thread(target=accept)
        thread.start()
        yield server.getsockname()[1], came
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


def answers(*said: bytes) -> Callable[[socket.socket], None]:
    def serve(connection: socket.socket) -> None:
        for one in said:
            if connection.recv(65_536):
                connection.sendall(one)

    return serve


def test_a_connection_is_kept_and_opened_anew_when_the_node_closed_it() -> None:
    with listening(answers(ANSWER, ANSWER)) as (port, came):
        node = Node(f"http://127.0.0.1:{port}", {}, None)
        for _ in range(4):
            assert node.request("GET", "/", None, 5.0) == (200, b"{}")
        node.close()
    assert len(came) == 2


def test_a_node_that_closes_after_every_answer() -> None:
    with listening(answers(CLOSING)) as (port, came):
        node = Node(f"http://127.0.0.1:{port}", {}, None)
        for _ in range(3):
            assert node.request("POST", "/x", b"{}", 5.0) == (200, b"{}")
        node.close()
    assert len(came) == 3


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (b"SSH-2.0-OpenSSH_9\r\n", "can be reached: .*: BadStatusLine"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", "can be reached: .*: IncompleteRead"),
        (b"HTTP/1.1 200 OK\r\nContent-", "did not answer with JSON"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<ht>", "did not answer with JSON"),
    ],
)
def test_what_is_no_answer_is_refused(said: bytes, error: str) -> None:
    with listening(answers(said)) as (port, came):
        transport = Transport(f"http://127.0.0.1:{port}")
        with pytest.raises(EngineError, match=error):
            transport.ask("GET", "/")
        transport.close()
    assert len(came) == 1, "it is not asked for ever"


def test_a_node_that_takes_the_request_and_is_silent() -> None:
    release = threading.Event()
    with listening(lambda _: [release.wait(10)].clear()) as (port, _):
        node = Node(f"http://127.0.0.1:{port}", {}, None)
        with pytest.raises(LateError):
            node.request("GET", "/", None, 0.05)
        release.set()


def certificate(folder: Path) -> tuple[Path, Path]:
    key, made = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-keyout", str(key), "-out", str(made), "-days", "2"),
            *("-subj", "/CN=node", "-addext", "subjectAltName=IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    return key, made


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_only_trusted_nodes_are_spoken_to(tmp_path: Path) -> None:
    key, made = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, key)

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secure:
            answers(ANSWER)(secure)

    with listening(serve) as (port, _):
        url = f"https://127.0.0.1:{port}"
        stranger = Transport(url)
        with pytest.raises(EngineError, match="SSLCertVerificationError"):
            stranger.ask("GET", "/")
        friend = Transport(url, Credentials(ca=made))
        assert friend.ask("GET", "/") == {}
        friend.close()
    with pytest.raises(ConfigError, match="ASSAY_OPENSEARCH_CA"):
        Transport(url, Credentials(ca=tmp_path / "none.pem"))
