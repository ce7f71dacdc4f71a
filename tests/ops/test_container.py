"""Does what compose.yaml starts come up ready, watched by Prometheus with a key of its own?

There is no Docker where tests run, so that its parts are run by hand: the script that prepares the
volumes, the service behind a key, and Prometheus and its alert manager with the shipped files.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import yaml

from assay.settings import SETTINGS as SETTINGS_TABLE
from assay.settings import configure
from tests.ops.test_scrape import free_port, wait_for
from tests.unit.http.process import SETTINGS, ServiceProcess
from tests.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
PREPARE = ROOT / "ops" / "container" / "prepare"
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]


def prepare(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the script as the container does."""
    tool = folder / "bin" / "assay"
    tool.parent.mkdir(exist_ok=True)
    tool.write_text(
        f'#!/bin/sh\necho "$TMPDIR" > "{folder}/tmpdir"\nexec "{sys.executable}" -m assay "$@"\n'
    )
    tool.chmod(0o755)
    (folder / "scrape").mkdir(exist_ok=True)
    environment = {
        "PATH": f"{tool.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(folder),
        "ASSAY_HOME": str(folder / "data"),
        "CORPUS": str(folder / "corpus"),
        "SCRAPE": str(folder / "scrape"),
        **SETTINGS,
    }
    return subprocess.run(
        [str(PREPARE)], env=environment, cwd=folder, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The volumes after the first start, with a corpus of one document."""
    folder = tmp_path_factory.mktemp("volumes")
    (folder / "corpus").mkdir()
    (folder / "corpus" / "notes.jsonl").write_text('{"_id": "d1", "text": "Aspirin helps."}\n')
    done = prepare(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_script_is_a_script_of_sh() -> None:
    assert os.access(PREPARE, os.X_OK)
    subprocess.run(["sh", "-n", str(PREPARE)], check=True)


def test_keys_are_made_once_and_kept_from_others(prepared: Path) -> None:
    admin, reader = prepared / "data" / "admin.key", prepared / "scrape" / "prometheus.key"
    before = admin.read_text(), reader.read_text()
    assert all(re.fullmatch(r"assay_\S+\n", text) for text in before)
    assert stat.S_IMODE(admin.stat().st_mode) == 0o400
    assert stat.S_IMODE(reader.stat().st_mode) == 0o444  # Prometheus is another user
    (prepared / "corpus" / "more.jsonl").write_text('{"_id": "d2", "text": "Insulin helps."}\n')
    again = prepare(prepared)
    assert again.returncode == 0, again.stderr
    assert (admin.read_text(), reader.read_text()) == before


def test_the_service_is_ready_and_its_figures_need_the_key(prepared: Path) -> None:
    with ServiceProcess(prepared / "data") as service:
        wait_until_ready(service)
        assert service.client.get("/metrics").status_code == 401
        key = (prepared / "scrape" / "prometheus.key").read_text().strip()
        headers = {"Authorization": f"Bearer {key}"}
        shown = service.client.get("/metrics", headers=headers)
        assert shown.status_code == 200
        assert "medicalkg_" in shown.text
        found = service.client.get("/v1/search?q=aspirin", headers=headers).json()
        assert found["results"][0]["doc_id"] == "d1"
        refused = service.client.post("/v1/documents/delete", headers=headers, json={"doc_ids": []})
        assert refused.status_code == 403
        port = str(service.client.base_url.port)
        dockerfile = (ROOT / "Dockerfile").read_text()
        for test in (COMPOSE["assay"]["healthcheck"]["test"], _healthcheck(dockerfile)):
            code = test[-1].replace(str(configure(environ={}, folder=Path("/")).port), port)
            assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
            away = code.replace(port, str(free_port()))
            gone = subprocess.run([sys.executable, "-c", away], capture_output=True, check=False)
            assert gone.returncode != 0


def test_the_command_of_the_image_wants_a_key_first(tmp_path: Path) -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    found = re.search(r"ENTRYPOINT (\[.*\])\nCMD (\[.*\])", dockerfile)
    assert found is not None
    command = [*json.loads(found[1]), *json.loads(found[2])]
    assert command[0] == "assay"
    said = dict(re.findall(r"(ASSAY_[A-Z_]+)=(\S+?)(?: \\)?$", dockerfile, re.MULTILINE))
    environment = {**os.environ, **said, "ASSAY_HOME": str(tmp_path), "ASSAY_MODELS": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", *command], env={**environment, "PYTHONPATH": str(ROOT / "src")},
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "assay keys create" in done.stderr


ALWAYS = """
  - name: test
    rules:
      - alert: Always
        expr: vector(1)
        labels: {severity: page}
"""


def told(port: int) -> str:
    """The alerts that an alert manager knows."""
    try:
        address = f"http://127.0.0.1:{port}/api/v2/alerts"
        with urllib.request.urlopen(address, timeout=5) as answer:
            return str(answer.read())
    except OSError:
        return ""


def wait_until_ready(service: ServiceProcess) -> None:
    for _ in range(60):
        if service.client.get("/readyz").status_code == 200:  # it waits itself
            return
    raise AssertionError(service.client.get("/readyz").text)


def test_a_file_that_cannot_be_read_does_not_keep_the_service_down(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "good.jsonl").write_text('{"_id": "d1", "text": "Aspirin helps."}\n')
    (tmp_path / "corpus" / "bad.jsonl").write_text('{"_id": "d2", "text"\n')
    done = prepare(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "bad.jsonl" in done.stdout + done.stderr
    assert "demo" not in done.stderr


@pytest.mark.slow
def test_without_documents_those_of_the_demo_are_served(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / ".gitkeep").touch()
    done = prepare(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "those of the demo are served" in done.stderr
    with ServiceProcess(tmp_path / "data") as service:
        wait_until_ready(service)


def test_archives_are_unpacked_beside_the_workspace(prepared: Path) -> None:
    """In the container, /tmp is a small one in memory."""
    place = Path((prepared / "tmpdir").read_text().strip())
    assert place == prepared / "data" / "tmp"
    assert not place.exists(), "it is cleared afterwards"


def test_image_and_compose_agree_with_the_product() -> None:
    text = (ROOT / "Dockerfile").read_text()
    settings = configure(environ={}, folder=Path("/"))
    last = text.rpartition("FROM")[2]
    said = dict(re.findall(r"([A-Z_]+)=(\S+?)(?: \\)?$", last, re.MULTILINE))
    assert said["ASSAY_PORT"] == str(settings.port)
    assert f"EXPOSE {settings.port}" in last
    assert {row.env for row in SETTINGS_TABLE.values()} >= {
        name for name in said if name.startswith("ASSAY_")
    }
    user = re.search(r"^USER (\S+)$", last, re.MULTILINE)
    assert user is not None
    for name in ("prepare", "assay"):
        assert COMPOSE[name]["user"] == user[1]
        assert f"data:{said['ASSAY_HOME']}" in COMPOSE[name]["volumes"]
    assert f"scrape:{said['SCRAPE']}" in COMPOSE["prepare"]["volumes"]
    assert COMPOSE["prepare"]["volumes"][-1].endswith(f":{said['CORPUS']}:ro")
    assert COMPOSE["assay"]["ports"] == [f"127.0.0.1:{settings.port}:{settings.port}"]
    known = {row.env for row in SETTINGS_TABLE.values()}
    assert set(COMPOSE["assay"]["environment"]) <= known
    configure(environ=COMPOSE["assay"]["environment"], folder=Path("/"))
    for test in (COMPOSE["assay"]["healthcheck"]["test"], [*_healthcheck(last)]):
        code = test[-1]
        compile(code, "healthcheck", "exec")
        assert f"http://127.0.0.1:{settings.port}/" in code


def _healthcheck(text: str) -> list[str]:
    found = re.search(r"HEALTHCHECK .*?CMD (\[.*?\])\n", text, re.DOTALL)
    assert found is not None
    command: list[str] = json.loads(found[1])
    return command


def test_what_the_image_copies_is_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    wanted = re.findall(
        r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE
    )
    for name in " ".join(wanted).split():
        assert f"!{name}" in ignored
        assert (ROOT / name).exists(), name


def test_compose_joins_the_parts() -> None:
    assert COMPOSE["prepare"]["entrypoint"] == ["prepare"]
    assert COMPOSE["assay"]["depends_on"] == {
        "prepare": {"condition": "service_completed_successfully"}
    }
    assert "/readyz" in COMPOSE["assay"]["healthcheck"]["test"][-1]
    assert COMPOSE["prometheus"]["depends_on"] == {"assay": {"condition": "service_healthy"}}
    assert not any("profiles" in service for service in COMPOSE.values())
    config = yaml.safe_load((ROOT / "ops" / "prometheus" / "compose.yml").read_text())
    scrape = config["scrape_configs"][0]
    key = Path(scrape["authorization"]["credentials_file"])
    assert f"scrape:{key.parent}:ro" in COMPOSE["prometheus"]["volumes"]
    host = scrape["static_configs"][0]["targets"][0].partition(":")[0]
    assert host in COMPOSE
    assert host in COMPOSE["assay"]["environment"]["ASSAY_ALLOWED_HOSTS"].split()
    manager = config["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"][0]
    assert manager.partition(":")[0] in COMPOSE
    assert "--config.file=/etc/prometheus/compose.yml" in COMPOSE["prometheus"]["command"]


def test_the_image_has_the_models_and_places_for_documents() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert "assay models pull" in text
    assert "COPY --from=build /opt/models /opt/models" in text
    assert "ASSAY_MODELS=/opt/models" in text.partition("FROM")[2].rpartition("FROM")[2]
    for name in ("/corpus", "/scrape"):
        assert re.search(rf"install --directory --owner=assay .*{name}", text)


@pytest.mark.slow
@pytest.mark.req("E11")
def test_prometheus_reads_with_its_key_and_tells_the_alert_manager(
    prepared: Path, tmp_path: Path
) -> None:
    manager = shutil.which("alertmanager") or shutil.which("prometheus-alertmanager")
    if shutil.which("prometheus") is None or manager is None:
        pytest.skip("prometheus is not here (Debian: prometheus, prometheus-alertmanager)")
    port, other = free_port(), free_port()
    shutil.copytree(ROOT / "ops" / "prometheus", tmp_path / "prometheus")
    config = tmp_path / "prometheus" / "compose.yml"
    with (tmp_path / "prometheus" / "alerts.yml").open("a") as rules:
        rules.write(ALWAYS)
    with ServiceProcess(prepared / "data") as service:
        key = prepared / "scrape" / "prometheus.key"
        text = config.read_text().replace("15s", "1s")
        text = text.replace("/etc/assay/prometheus.key", str(key))
        text = text.replace("assay:8321", f"127.0.0.1:{service.port}")
        config.write_text(text.replace("alertmanager:9093", f"127.0.0.1:{other}"))
        watching = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--web.listen-address=127.0.0.1:{port}",
             f"--storage.tsdb.path={tmp_path / 'tsdb'}", "--log.level=error"],
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        telling = subprocess.Popen(
            [manager, f"--config.file={tmp_path / 'prometheus' / 'alertmanager.yml'}",
             f"--storage.path={tmp_path / 'alerts'}", f"--web.listen-address=127.0.0.1:{other}",
             "--cluster.listen-address="],
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            assert wait_for(port, "up{job='assay'} == 1")  # a first try may come too early
            eventually(lambda: "Always" in told(other))
        finally:
            for process in (watching, telling):
                process.terminate()
                process.wait(20)
