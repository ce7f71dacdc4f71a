"""How does a real OpenSearch cluster of three nodes get onto this machine?

The jars come from Maven's repository once and stay in the user's cache. Each node is a process of
its own with half a gigabyte of heap, on loopback, and is gone when the cluster is closed. Where
Java or Maven is missing, ``unavailable`` says so.

``running`` is a cluster for a program that needs one; ``python -m tests.cluster.nodes`` starts one
to play with.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CACHE = (
    Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "assay" / "opensearch-2.19.1"
)
KNN = "org.opensearch.plugin:opensearch-knn:2.19.1.0:zip"
HEAP = "512m"
QUICK_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # tests are short
START_SECONDS = 300.0


def unavailable() -> str:
    """Why there can be no cluster here; empty where there can."""
    for tool in ("java", "javac", "mvn"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed (Debian: apt install default-jdk-headless maven)"
    try:
        fetch()
    except (subprocess.CalledProcessError, OSError) as problem:
        return f"the jars of OpenSearch cannot be had: {problem}"
    return ""


def fetch() -> None:
    """Have the jars and our one class, unless they are here already."""
    if (CACHE / "ClusterNode.class").exists():
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    maven = ["mvn", "-q", "-B", "-f", str(HERE / "pom.xml")]
    _run([*maven, "dependency:copy-dependencies", f"-DoutputDirectory={CACHE / 'lib'}"])
    _run([*maven, "dependency:copy", f"-Dartifact={KNN}", f"-DoutputDirectory={CACHE}"])
    shutil.unpack_archive(next(CACHE.glob("opensearch-knn-*.zip")), CACHE / "knn")
    _run(["javac", "-cp", f"{CACHE}/lib/*", "-d", str(CACHE), str(HERE / "ClusterNode.java")])


class ClusterProcesses:
    """Three nodes; ``urls`` is what the setting opensearch_url wants."""

    def __init__(
        self, size: int = 3, *, heap: str = HEAP, java: tuple[str, ...] = QUICK_START
    ) -> None:
        self._java = (f"-Xms{heap}", f"-Xmx{heap}", *java)
        self.folder = Path(tempfile.mkdtemp(prefix="assay-cluster-"))
        self._ports = _free_ports(2 * size)
        self._names = [f"node{at}" for at in range(size)]
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self.urls = [f"http://127.0.0.1:{self._ports[at]}" for at in range(size)]
        for at in range(size):
            self.start(at)

    def start(self, at: int) -> None:
        """Start a node, or start it again on the data that it had."""
        size = len(self._names)
        seeds = ",".join(f"127.0.0.1:{port}" for port in self._ports[size:])
        with (self.folder / f"{at}.log").open("ab") as log:
            self.processes[at] = subprocess.Popen(
                [
                    *("java", *self._java, "-Djava.security.manager=allow"),
                    *("-cp", f"{CACHE}:{CACHE}/lib/*:{CACHE}/knn/*", "ClusterNode"),
                    *(self._names[at], str(self.folder / self._names[at])),
                    *(str(self._ports[at]), str(self._ports[size + at])),
                    *(seeds, ",".join(self._names)),
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def kill(self, at: int) -> None:
        """End a node as a power cut would."""
        self.processes[at].send_signal(signal.SIGKILL)
        self.processes[at].wait()

    def wait(self, *, nodes: int, status: str = "green") -> None:
        """Until so many nodes are one cluster and in this state."""
        until = time.monotonic() + START_SECONDS
        query = f"/_cluster/health?wait_for_nodes={nodes}&wait_for_status={status}&timeout=10s"
        while time.monotonic() < until:
            for url in self.urls:
                with suppress(OSError), urllib.request.urlopen(url + query, timeout=15) as answer:
                    if answer.status == 200:
                        return
            time.sleep(0.5)
        raise TimeoutError(f"the cluster did not come up: see {self.folder}")

    def close(self) -> None:
        """Stop every node and remove what it wrote."""
        for process in self.processes.values():
            process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def running(url: str | None = None, **more: Any) -> Iterator[str]:
    """The addresses of a cluster: of the one that is named, or of three nodes for the while."""
    if url:
        yield url
        return
    if reason := unavailable():
        raise SystemExit(reason)
    cluster = ClusterProcesses(**more)
    try:
        cluster.wait(nodes=3)
        yield " ".join(cluster.urls)
    finally:
        cluster.close()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=900)


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with running() as urls:
        with suppress(KeyboardInterrupt):
            print(f"export ASSAY_ENGINE=opensearch ASSAY_OPENSEARCH_URL='{urls}'")
            print("Ctrl-C stops it", flush=True)
            signal.pause()
        for again in (signal.SIGINT, signal.SIGTERM):  # a second one would leave nodes behind
            signal.signal(again, signal.SIG_IGN)


if __name__ == "__main__":
    main()
