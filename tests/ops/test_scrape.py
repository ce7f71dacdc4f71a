"""Does a real Prometheus read our figures, and does the alert of a low recall wait in it?"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.unit.http.process import ServiceProcess

RULES = Path(__file__).resolve().parents[2] / "ops" / "prometheus" / "alerts.yml"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def ask(port: int, path: str) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
        return json.load(answer)["data"]


@pytest.mark.req("E11")
def test_prometheus_scrapes_the_service(tmp_path: Path) -> None:
    if shutil.which("prometheus") is None:
        pytest.skip("prometheus is not here (Debian: prometheus)")
    home = tmp_path / "home"
    home.mkdir()
    with ServiceProcess(home) as service:
        found = {"doc_id": "d1", "text": "Aspirin eases headache."}
        assert service.client.post("/v1/documents", json={"documents": [found]}).status_code == 200
        queries = [
            {"query_id": f"q{at}", "query_text": "headache",
             "relevant_docs": [{"doc_id": "d1:chunk_0" if at else "nowhere", "grade": 1}]}
            for at in range(2)
        ]  # fmt: skip
        low = {"name": "half_found", "version": "v1", "queries": queries}
        assert service.client.post("/v1/testsets", json=low).status_code == 201
        done = service.client.post("/v1/evaluate", json={"dataset_id": "half_found"})
        assert done.status_code == 200, done.text
        shutil.copy(RULES, tmp_path / "alerts.yml")
        (tmp_path / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
            "rule_files: [alerts.yml]\n"
            "scrape_configs:\n"
            "  - job_name: assay\n"
            f"    static_configs: [{{targets: ['127.0.0.1:{service.port}']}}]\n"
        )
        port = free_port()
        command = [
            "prometheus", "--config.file=prometheus.yml", f"--web.listen-address=127.0.0.1:{port}",
            "--storage.tsdb.path=tsdb", "--log.level=error",
        ]  # fmt: skip
        with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as prometheus:
            try:
                recall = wait_for(port, 'medicalkg_retrieval_recall_at_k{k="10"}')
                assert recall == "0.5"
                assert wait_for(port, "up{job='assay'} == 1")  # a first try may come too early
                pending = _alert(port, "AssayRecallLow")
                assert pending["state"] == "pending"  # it fires after 15 minutes
            finally:
                prometheus.terminate()


def wait_for(port: int, query: str) -> str:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            path = f"/api/v1/query?{urllib.parse.urlencode({'query': query})}"
            result = ask(port, path)["result"]
        except OSError:
            result = []
        if result:
            value: str = result[0]["value"][1]
            return value
        time.sleep(0.3)
    raise AssertionError(f"{query} never came")


def _alert(port: int, name: str) -> dict[str, Any]:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        for alert in ask(port, "/api/v1/alerts")["alerts"]:
            if alert["labels"]["alertname"] == name:
                found: dict[str, Any] = alert
                return found
        time.sleep(0.3)
    raise AssertionError(f"{name} never came")
