"""Are the workflows that we hand out well-formed, and safe for pull requests of forks?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.cli.main import run

CI = Path(__file__).resolve().parents[2] / "ci"
FILES = sorted(CI.glob("*.yml"))


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
