"""A service in a process of its own, as operators run it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import httpx2 as httpx

import assay
from tests.waiting import eventually

SETTINGS = {"ASSAY_DENSE_MODEL": "none", "ASSAY_SPLADE_MODEL": "none"}

HAND_OVER = """import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.argv[2], sys.argv[2:])
"""


class ServiceProcess:
    """``assay serve`` on a free port, or on a socket that is handed to it as systemd does."""

    def __init__(
        self, home: Path, listener: socket.socket | None = None, /, **settings: str
    ) -> None:
        source = str(Path(assay.__file__).parents[1])  # this very code, whatever is installed
        environ = {**os.environ, "PYTHONPATH": source, **SETTINGS, **settings}
        command = [
            sys.executable,
            "-m",
            "assay",
            "--home",
            str(home),
            "serve",
            "--port",
            "0",
            "--json",
        ]
        handed = () if listener is None else (listener.fileno(),)
        if listener is not None:
            environ["LISTEN_FDS"] = "1"
            command = [sys.executable, "-c", HAND_OVER, str(listener.fileno()), *command]
        self.process = subprocess.Popen(
            command,
            env=environ,
            pass_fds=handed,
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        self.address: str = json.loads(line)["address"]
        self.client = httpx.Client(base_url=self.address, timeout=30)

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def stop(self) -> tuple[int, str]:
        """End it as systemd does; the exit code and the log."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        _, log = self.process.communicate(timeout=40)
        self.client.close()
        return self.process.returncode, log

    def __enter__(self) -> ServiceProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.client.close()
        if self.process.poll() is None:
            self.stop()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    @contextmanager
    def connection(self) -> Iterator[socket.socket]:
        """A plain connection, for what no client would send."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as raw:
            yield raw


def whole_answer(raw: socket.socket) -> bytes:
    """Everything until the service closes the connection."""
    parts = []
    while part := raw.recv(65536):
        parts.append(part)
    return b"".join(parts)


def wait_until_ready(service: ServiceProcess) -> None:
    """Until the index is open."""
    eventually(lambda: service.client.get("/readyz").status_code == 200)
