"""Are the workflows that we hand out well-formed, and safe for pull requests of forks?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.cli.main import run
from assay.extras import DISTRIBUTION
from tests.warm import warm

CI = Path(__file__).resolve().parents[2] / "ci"
WHEELS = CI.parent / ".github" / "workflows" / "wheels.yml"
FILES = [*sorted(CI.glob("*.yml")), WHEELS]


def workflow(name: str) -> Any:
    return yaml.safe_load((CI / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("place", FILES, ids=lambda place: place.name)
def test_every_file_is_yaml(place: Path) -> None:
    assert isinstance(yaml.safe_load(place.read_text(encoding="utf-8")), dict)


@pytest.mark.req("E9")
def test_what_runs_the_code_of_a_fork_can_only_read() -> None:
    content = workflow("github-gate.yml")
    assert content["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in content[True]  # YAML reads the key "on" as true
    assert "secrets." not in (CI / "github-gate.yml").read_text(encoding="utf-8")


@pytest.mark.req("E9")
def test_what_may_comment_runs_nothing_of_the_fork() -> None:
    content = workflow("github-comment.yml")
    assert list(content[True]) == ["workflow_run"]
    steps = content["jobs"]["comment"]["steps"]
    assert not any("checkout" in step.get("uses", "") for step in steps)
    for step in steps:  # values of the event reach the shell as variables, never as its text
        assert "${{" not in step.get("run", "")


@pytest.mark.parametrize("place", FILES, ids=lambda place: place.name)
def test_the_commands_of_the_workflows_exist(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = place.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in re.findall(r"^\s*(?:- )?(assay [a-z].*)$", text, re.MULTILINE):
        words = line.split()[1:]
        command = [word for word in words[:2] if re.fullmatch(r"[a-z-]+", word)]
        assert run([*command, "--help"]) == 0, line
        shown = capsys.readouterr().out
        for option in re.findall(r"--[a-z-]+", line):
            assert option in shown, f"{line}: {option}"


def installed(text: str) -> set[str]:
    """The names that pip is asked for."""
    asked = re.findall(r"pip install (?:--\S+ (?::all: )?)*(\S+)", text)
    named = (re.sub(r'"\$\{wheel:-([a-z-]+)\}.*', r"\1", name) for name in asked)
    found = {name.strip("\"'$").partition("[")[0] for name in named}
    return {name for name in found if not name.startswith("wheelhouse/")}


@pytest.mark.parametrize("place", FILES, ids=lambda place: place.name)
def test_no_workflow_installs_the_package_of_a_stranger(place: Path) -> None:
    assert installed(place.read_text(encoding="utf-8")) <= {DISTRIBUTION}


def test_the_gates_install_us() -> None:
    for name in ("github-gate.yml", "gitlab-gate.yml"):
        assert installed((CI / name).read_text(encoding="utf-8")) == {DISTRIBUTION}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with this assay, and with a pip that has no network."""
    with warm(tmp_path_factory.mktemp("tools")) as assay:
        pip = assay.with_name("pip")
        pip.write_text('#!/bin/sh\necho "$@" >> pip.log\n')
        pip.chmod(0o755)
        yield assay.parent


def shell(
    script: str, folder: Path, tools: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a step as a runner would."""
    environment = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PYTHONPATH": str(CI.parent / "src"),
        "HOME": str(folder / "home"),
        "ASSAY_HOME": str(folder / ".assay"),
        "ASSAY_DENSE_MODEL": "none",
        "ASSAY_SPLADE_MODEL": "none",
        "ASSAY_COMPONENTS": "bm25",
        "ASSAY_RESAMPLES": "100",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        **variables,
    }
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with documents and a test set of its own."""
    rows = [{"_id": f"d{at}", "text": f"{word} helps."} for at, word in enumerate(WORDS)]
    (tmp_path / "corpus").mkdir()
    lines = "\n".join(json.dumps(row) for row in rows)
    (tmp_path / "corpus" / "documents.jsonl").write_text(lines + "\n")
    queries = "".join(
        f"- query_id: q{at}\n  query_text: {word}\n  relevant_docs:\n  - doc_id: d{at}:chunk_0\n"
        f"    grade: 2\n"
        for at, word in enumerate(WORDS)
    )
    (tmp_path / "golden.yaml").write_text(f"name: golden\nversion: v1\nqueries:\n{queries}")
    return tmp_path


WORDS = ("aspirin", "metformin", "warfarin", "insulin", "heparin", "digoxin")


@pytest.mark.slow
@pytest.mark.req("E9")
@pytest.mark.parametrize("event", ["github", "gitlab"])
def test_the_gate_runs_as_it_is_shipped(event: str, repository: Path, tools: Path) -> None:
    chosen = {"TEST_SET": "golden.yaml", "CORPUS": "corpus", "EXTRA": "[search]"}
    if event == "github":
        steps = {step["name"]: step.get("run", "") for step in github_steps()}
        before = steps["install"] + "\n" + steps["evaluate"]
        baseline, gate = before + "\n" + steps["this run is the next baseline"], steps["gate"]
    else:
        content = workflow("gitlab-gate.yml")
        prepared = content[".evaluate"]["before_script"]
        baseline = "\n".join([*prepared, *content["search-quality-baseline"]["script"]])
        before = "\n".join(prepared)
        gate = "\n".join(content["search-quality"]["script"])
    first = shell(baseline, repository, tools, **chosen)
    assert first.returncode == 0, first.stdout + first.stderr
    assert (repository / "baseline.json").is_file()
    wheel = Path("wheels") / "assay_search-0.1.0-py3-none-any.whl"
    (repository / wheel.parent).mkdir()
    (repository / wheel).touch()
    again = shell(f"{before}\n{gate}", repository, tools, **chosen)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "gate: passed" in again.stdout + again.stderr
    asked = (repository / "pip.log").read_text().splitlines()
    assert asked == [f"install {DISTRIBUTION}[search]", f"install {wheel}[search]"]
    (repository / "corpus" / "documents.jsonl").write_text('{"_id": "d9", "text": "nothing"}\n')
    worse = shell(f"rm -rf .assay\n{before}\n{gate}", repository, tools, **chosen)
    assert worse.returncode == 3, worse.stdout + worse.stderr
    assert (repository / "out" / "report.md").is_file()


def github_steps() -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = workflow("github-gate.yml")["jobs"]["gate"]["steps"]
    return [step for step in steps if "name" in step]


def test_every_action_of_the_workflows_has_a_version() -> None:
    for place in FILES:
        for action in re.findall(r"uses: (\S+)", place.read_text(encoding="utf-8")):
            assert re.search(r"@v\d", action), f"{place.name}: {action}"


def test_wheels_are_built_for_every_system_and_tried_alone() -> None:
    content = yaml.safe_load(WHEELS.read_text(encoding="utf-8"))
    assert content["permissions"] == {"contents": "read"}
    jobs = content["jobs"]
    built = jobs["compiled"]["strategy"]["matrix"]["runner"]
    tried = jobs["try-plain"]["strategy"]["matrix"]["runner"]
    for system in ("ubuntu", "macos"):
        assert any(name.startswith(system) for name in built)
    assert any(name.startswith("windows") for name in tried)
    assert "secrets." not in WHEELS.read_text(encoding="utf-8")


def test_what_tries_a_wheel_succeeds_here() -> None:
    done = subprocess.run(
        [sys.executable, str(CI / "try_wheel.py")],
        env={**os.environ, "PYTHONPATH": str(CI.parent / "src")},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
