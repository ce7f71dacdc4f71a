"""Does every training command say how it is used, without torch?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from training import usage

COMMANDS = sorted(
    path.stem for path in usage.HERE.glob("*.py") if "__main__" in path.read_text("utf-8")
)
ROOT = usage.HERE.parent


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_the_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        usage.answer(["python", "-m", f"training.{name}", "--help"])
    assert ended.value.code == 0
    assert f"python -m training.{name} " in capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_missing_arguments_are_reported(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        usage.answer(["python", "-m", f"training.{name}", "seed=1"])
    assert ended.value.code == 2
    assert "needs at least" in capsys.readouterr().err


def test_a_command_that_needs_torch_explains_itself_without_it() -> None:
    found = run("training.train", "--help")
    assert found.returncode == 0, found.stderr
    assert "python -m training.train FOLDER KEEP OUT" in found.stdout


@pytest.mark.parametrize(
    "line", ["python -m training.export out.safetensors piece.npz", "pytest tests/training"]
)
def test_a_whole_command_line_goes_on(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    usage.answer(line.split())
    assert capsys.readouterr() == ("", "")


def test_every_command_is_in_the_readme() -> None:
    readme = Path(ROOT / "training" / "README.md").read_text("utf-8")
    assert [name for name in COMMANDS if f"training.{name} " not in readme] == []
