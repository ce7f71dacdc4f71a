"""Does a parquet file that ends the library which reads it end a service, too?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx2 as httpx
import pytest

from assay.app.keys import create_key
from assay.app.layout import Layout
from assay.ingest.parquet import rows_of_parquet
from tests.unit.http.process import SETTINGS, ServiceProcess, wait_until_ready

pytestmark = pytest.mark.slow

pytest.importorskip("polars")
FILE = Path(__file__).with_name("ends_its_reader.parquet")
"""One number in it says that a column has more values than memory could ever hold."""


def test_a_key_that_may_only_read_does_not_end_the_service(home: Path) -> None:
    key = create_key(Layout(home), "reader", ["read"]).key
    headers = {"authorization": f"Bearer {key}", "content-type": "text/csv"}
    with ServiceProcess(home) as service:
        wait_until_ready(service)
        with httpx.Client(base_url=service.address, timeout=60) as client:
            path = "/v1/testsets/validate"
            answer = client.post(path, content=FILE.read_bytes(), headers=headers)
            assert answer.status_code == 200
            assert "not parquet" in answer.text
            assert client.get("/healthz").status_code == 200
        assert service.process.poll() is None


def test_it_is_refused_by_name(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "assay", "--home", str(tmp_path / "home"), "ingest", str(FILE)]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **SETTINGS}, check=False
    )
    assert done.returncode == 2, done
    assert "ends_its_reader.parquet: not parquet: it ends the program that reads it" in done.stderr


def test_values_arrive_as_json_has_them(tmp_path: Path) -> None:
    import datetime

    import polars

    moment = datetime.datetime(2024, 3, 15, 16, 0, tzinfo=datetime.UTC)
    rows = {
        "id": [1, 2], "text": ["a\nb \u2028", None], "score": [0.5, float("nan")],
        "at": [moment, None], "nested": [{"on": moment.date(), "n": 3}, None], "raw": [b"x", b""],
    }  # fmt: skip
    polars.DataFrame(rows).write_parquet(tmp_path / "some.parquet")
    first, second = rows_of_parquet(tmp_path / "some.parquet")
    assert first == {
        "id": 1, "text": "a\nb \u2028", "score": 0.5, "at": moment.isoformat(),
        "nested": {"on": "2024-03-15", "n": 3}, "raw": None,
    }  # fmt: skip
    assert second == {**dict.fromkeys(rows), "id": 2}
