"""Do the files for operators hold what this release shows, also where nothing can run them?"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from assay.app.prometheus import GAUGES, LABELS
from assay.cli.eval import app as eval_commands
from assay.http.metrics import Metrics
from assay.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[2]
OPS = ROOT / "ops"
NAME = re.compile(r"\bmedicalkg_[a-z_]+")
ENDINGS = re.compile(r"_(bucket|total|count|sum)$")


def shown_names() -> set[str]:
    """Every name that the service shows, without the endings of counters and histograms."""
    text = Metrics().text().decode()
    return {ENDINGS.sub("", name) for name in NAME.findall(text)} | set(GAUGES)


@pytest.mark.parametrize(
    "path", ["prometheus/alerts.yml", "prometheus/alerts_test.yml", "grafana/assay.json"]
)
def test_every_series_that_is_asked_for_is_shown(path: str) -> None:
    asked = {ENDINGS.sub("", name) for name in NAME.findall((OPS / path).read_text())}
    assert asked
    assert asked <= shown_names()


@pytest.mark.req("E11")
def test_the_alerts_of_the_contract_are_there() -> None:
    groups = yaml.safe_load((OPS / "prometheus" / "alerts.yml").read_text())["groups"]
    rules = {rule["alert"]: rule for group in groups for rule in group["rules"]}
    recall = rules["AssayRecallLow"]
    assert recall["expr"] == 'medicalkg_retrieval_recall_at_k{k="10"} < 0.75'
    assert recall["for"] == "15m"
    assert rules["AssayNdcgLow"]["expr"] == 'medicalkg_retrieval_ndcg_at_k{k="10"} < 0.70'
    assert rules["AssaySearchSlow"]["expr"].endswith("> 0.6")
    assert rules["AssayComponentErrors"]["expr"].strip().endswith("> 0.05")
    assert all(rule["annotations"]["summary"] for rule in rules.values())


def test_the_commands_of_the_alerts_exist() -> None:
    text = (OPS / "prometheus" / "alerts.yml").read_text()
    named = set(re.findall(r"assay eval ([a-z]+)", text))
    assert named
    known = {command.name for command in eval_commands.registered_commands}
    assert named <= known


def test_the_labels_of_the_alerts_are_shown() -> None:
    rules = (OPS / "prometheus" / "alerts.yml").read_text().partition("assay-service")[0]
    assert set(re.findall(r"\$labels\.(\w+)", rules)) <= set(LABELS)


@pytest.mark.req("E11")
@pytest.mark.parametrize(
    "command",
    [
        ["promtool", "test", "rules", "prometheus/alerts_test.yml"],
        ["promtool", "check", "rules", "prometheus/alerts.yml"],
        ["promtool", "check", "config", "prometheus/prometheus.yml"],
        ["promtool", "check", "config", "--syntax-only", "prometheus/compose.yml"],
        ["amtool", "check-config", "prometheus/alertmanager.yml"],
    ],
    ids=" ".join,
)
def test_the_tools_of_prometheus_agree(command: list[str]) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not here (Debian: prometheus, prometheus-alertmanager)")
    done = subprocess.run(command, cwd=OPS, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_dashboard_has_a_source_and_no_panel_twice() -> None:
    board = json.loads((OPS / "grafana" / "assay.json").read_text())
    identities = [panel["id"] for panel in board["panels"]]
    assert len(set(identities)) == len(identities)
    assert all(panel["datasource"]["uid"] == "${source}" for panel in board["panels"])
    places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in board["panels"]]
    assert len(set(places)) == len(places)


def instructions() -> list[str]:
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip() and line[0] != "#"]


def test_the_image_is_built_as_linters_ask() -> None:
    lines = instructions()
    stages = [line for line in lines if line.startswith("FROM ")]
    assert all(re.search(r":\d[\w.-]*", stage) for stage in stages)  # a version, never latest
    for line in lines:
        if " pip install" in line or "/pip install" in line:
            assert "--no-cache-dir" in line
        assert not re.match(r"(ADD|MAINTAINER)\b", line)
        assert not re.search(r"\b(sudo|curl|wget)\b", line)
    locked = next(line for line in lines if "all.lock" in line and line.startswith("RUN"))
    assert "--require-hashes" in locked
    final = lines[lines.index(stages[-1]) :]
    users = [line for line in final if line.startswith("USER ")]
    assert users
    assert users[-1] == "USER 10001:10001"
    assert final.index(users[-1]) < next(
        i for i, x in enumerate(final) if x.startswith("ENTRYPOINT")
    )
    for word in ("HEALTHCHECK", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT", "CMD"):
        assert any(line.startswith(word) for line in final), word
    assert all("[" in line for line in final if line.startswith(("CMD", "ENTRYPOINT", "VOLUME")))


def test_nothing_but_what_is_needed_goes_into_the_image() -> None:
    kept = (ROOT / ".dockerignore").read_text().splitlines()
    assert kept[0] == "*"
    copied = re.findall(
        r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE
    )
    for name in " ".join(copied).split():
        assert f"!{name}" in kept
        assert (ROOT / name).exists()


def test_containers_are_confined() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    for service in services.values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert not service["user"].startswith("0")
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    assert services["prepare"]["network_mode"] == "none"


def test_the_unit_is_confined_and_starts_a_command_that_exists() -> None:
    unit = (OPS / "systemd" / "assay.service").read_text()
    for line in ("NoNewPrivileges=true", "ProtectSystem=strict", "User=assay", "PrivateTmp=true"):
        assert line in unit
    assert re.search(r"^ExecStart=\S+/assay --home \S+ serve$", unit, re.MULTILINE)


def test_the_socket_listens_where_the_service_would() -> None:
    unit = (OPS / "systemd" / "assay.service").read_text()
    (host,), (port,) = (re.findall(rf"ASSAY_{name}=(\S+)", unit) for name in ("HOST", "PORT"))
    assert f"ListenStream={host}:{port}\n" in (OPS / "systemd" / "assay.socket").read_text()


def test_the_service_reads_the_settings_of_its_folder(tmp_path: Path) -> None:
    """Settings are looked for from the working folder upwards, and that is not the home."""
    unit = (OPS / "systemd" / "assay.service").read_text()
    (home,) = re.findall(r"^ExecStart=\S+ --home (\S+) serve$", unit, re.MULTILINE)
    (folder,) = re.findall(r"^WorkingDirectory=(\S+)$", unit, re.MULTILINE)
    assert folder == home
    page = (ROOT / "docs" / "pages" / "howto" / "systemd.md").read_text()
    assert f"`{folder}/assay.yaml`" in page
    assert f"cd {folder}\nrunuser" in page  # what root does by hand has the same settings
    place = tmp_path / folder.strip("/")
    place.mkdir(parents=True)
    (place / "assay.yaml").write_text("log_level: warning\n")
    done = subprocess.run(
        [sys.executable, "-m", "assay", "--home", str(place), "config", "show"],
        cwd=place, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert re.search(r"log_level\W+warning", done.stdout)


def test_every_setting_in_these_files_is_one() -> None:
    files = (ROOT / "Dockerfile", ROOT / "compose.yaml", OPS / "systemd" / "assay.service")
    named = {name for file in files for name in re.findall(r"\bASSAY_([A-Z_]+)", file.read_text())}
    assert named
    assert {name.lower() for name in named} <= set(SETTINGS)


def test_the_image_says_whether_it_is_well() -> None:
    line = next(line for line in instructions() if line.startswith("HEALTHCHECK"))
    command = json.loads(line[line.index("[") :])
    assert command[:2] == ["python", "-c"]  # the image has no curl
    compile(command[2], "healthcheck", "exec")
    assert "/healthz" in command[2]
    assert "'Host': 'localhost'" in command[2]  # whatever allowed_hosts says
    assert re.search(r"--timeout=\d+s", line)


def test_every_image_has_a_version_and_every_container_an_end() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    for name, service in services.items():
        built = service["image"] == services["prepare"]["image"]
        assert built or re.search(r":v?\d[\w.-]*$|@sha256:[0-9a-f]{64}$", service["image"]), name
    for ours in (services["prepare"], services["assay"]):
        assert ours["pids_limit"] <= 512
        assert ours["mem_limit"]
        assert any(place.startswith("/tmp:") for place in ours["tmpfs"])  # the root is read-only
    assert "build" in services["prepare"]
    assert int(ours["stop_grace_period"].removesuffix("s")) > shutdown_seconds()


def shutdown_seconds() -> float:
    return float(SETTINGS["shutdown_seconds"].default)


def test_the_unit_waits_for_a_graceful_end_and_reads_as_systemd_reads() -> None:
    lines = [
        line.strip()
        for line in (OPS / "systemd" / "assay.service").read_text().splitlines()
        if line.strip() and not line.startswith("#")
    ]
    sections = [line for line in lines if line.startswith("[")]
    assert sections == ["[Unit]", "[Service]", "[Install]"]
    assert all(line in sections or re.match(r"[A-Z]\w+=", line) for line in lines)
    values = dict(line.split("=", 1) for line in lines if line not in sections)
    assert float(values["TimeoutStopSec"]) > shutdown_seconds()
    assert values["Restart"] == "on-failure"
    assert values["CapabilityBoundingSet"] == ""
    if shutil.which("systemd-analyze") is not None:
        done = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(OPS / "systemd" / "assay.service")],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        wrong = [line for line in done.stderr.splitlines() if "Unknown" in line]
        assert not wrong
