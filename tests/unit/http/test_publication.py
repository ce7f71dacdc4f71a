"""Do figures reach Prometheus without a service?"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from assay.app.workflow import SaveRequest, save_evaluation
from assay.cli.main import run
from assay.store.runs import SqlRunStore

LINE = 'medicalkg_retrieval_recall_at_k{k="10"} 0.82'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    store = SqlRunStore(tmp_path / "assay.db")
    metrics: dict[str, float | None] = {"recall_at_10": 0.82, "ndcg_at_10": 0.79, "mrr": 0.85}
    save_evaluation(
        store,
        SaveRequest(evaluation_id="e1", dataset_id="v1", overall_metrics=metrics, total_queries=50),
    )
    store.close()
    return tmp_path


@pytest.mark.slow
@pytest.mark.req("E11")
def test_as_a_file(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "out" / "assay.prom"
    assert run(["--home", str(home), "eval", "publish", "--textfile", str(file)]) == 0
    assert LINE in file.read_text()
    assert run(["--home", str(home), "eval", "publish"]) == 0
    assert LINE in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.req("E11")
def test_by_a_push(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken: list[tuple[str, str]] = []

    class Gateway(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            taken.append((self.path, body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *values: object) -> None:
            del values

    with HTTPServer(("127.0.0.1", 0), Gateway) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        address = f"127.0.0.1:{server.server_port}"
        assert run(["--home", str(home), "eval", "publish", "--pushgateway", address]) == 0
        server.shutdown()
    ((path, body),) = taken
    assert path == "/metrics/job/assay"
    assert LINE in body
    assert run(["--home", str(home), "eval", "publish", "--pushgateway", "127.0.0.1:9"]) == 1
    assert "did not take" in capsys.readouterr().err


def test_nothing_to_publish(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    SqlRunStore(tmp_path / "assay.db").close()
    assert run(["--home", str(tmp_path), "eval", "publish"]) == 2
    assert "no complete run" in capsys.readouterr().err
