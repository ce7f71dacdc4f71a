"""Does ``assay config`` show what holds, and where it comes from?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from assay import limits
from assay.cli.main import run
from assay.settings import SETTINGS, configure

if TYPE_CHECKING:
    from pathlib import Path

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, and no setting from the outside."""
    monkeypatch.chdir(tmp_path)
    for setting in SETTINGS.values():
        monkeypatch.delenv(setting.env, raising=False)
    return tmp_path


def test_show_lists_every_setting(capsys: Captured) -> None:
    assert run(["config", "show"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(SETTINGS)


def test_show_origin(folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "assay.yaml").write_text("\nalpha: 0.01\n", encoding="utf-8")
    monkeypatch.setenv("ASSAY_SEED", "7")
    assert run(["--color", "never", "config", "show", "--origin"]) == 0
    rows = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines()}
    assert rows["alpha"][1:] == ["0.01", "file", f"{folder / 'assay.yaml'}:2"]
    assert rows["seed"][1:] == ["7", "env", "ASSAY_SEED"]
    assert rows["color"][1:] == ["never", "flag", "--color"]
    assert rows["margin"][1:] == ["0.01", "default"]


def test_show_json(folder: Path, capsys: Captured) -> None:
    assert run(["--home", "work", "config", "show", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert list(shown["settings"]) == list(SETTINGS)
    assert shown["settings"]["home"] == {"value": str(folder / "work"), "origin": "flag --home"}
    assert shown["settings"]["seed"] == {"value": 42, "origin": "default"}
    assert shown["config_hash"] == configure().config_hash()


def test_a_misspelled_variable_is_noted(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_RESAMPELS", "5")
    assert run(["config", "show", "--json"]) == 0
    out, err = capsys.readouterr()
    json.loads(out)
    assert err == "note: ASSAY_RESAMPELS sets nothing; did you mean ASSAY_RESAMPLES?\n"


def test_limits(capsys: Captured) -> None:
    assert run(["config", "limits"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [row.name for row in limits.TABLE]
    assert lines[0].split()[1:3] == ["1", "MiB"]
    shown = {line.split()[0]: line for line in lines}
    assert "10,000,000 " in shown["MAX_RESAMPLES"]
    assert "512 B " in shown["MAX_ID_BYTES"]
    assert "64 GiB " in shown["MAX_DECOMPRESSED_BYTES"]


def test_limits_json(capsys: Captured) -> None:
    assert run(["config", "limits", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["limits"]
    assert [(row["name"], row["value"], row["help"]) for row in rows] == [
        (row.name, row.default, row.help) for row in limits.TABLE
    ]


def test_hash(capsys: Captured) -> None:
    expected = configure().config_hash()
    assert run(["config", "hash"]) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert run(["config", "hash", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"config_hash": expected}


@pytest.mark.parametrize("verb", ["show", "hash"])
def test_a_bad_file_is_refused(folder: Path, capsys: Captured, verb: str) -> None:
    (folder / "assay.yaml").write_text("seed: 1\nsede: 2\n", encoding="utf-8")
    assert run(["config", verb]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(
        f"error: {folder / 'assay.yaml'}:2: 'sede' is not a setting\nhint: did you"
    )


def test_limits_do_not_need_a_sound_file(folder: Path, capsys: Captured) -> None:
    (folder / "assay.yaml").write_text("sede: 2\n", encoding="utf-8")
    assert run(["config", "limits"]) == 0
    assert capsys.readouterr().err == ""


def test_trusting_a_file_shows_what_it_may_do(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "user"))
    (folder / "assay.yaml").write_text("server: https://me:pw@search.example\n", encoding="utf-8")
    assert run(["config", "show"]) == 2
    assert "hint: if you trust whoever wrote it" in capsys.readouterr().err
    assert run(["config", "trust"]) == 0
    shown = capsys.readouterr().out
    assert "https://me:***@search.example" in shown
    assert "says where queries, documents and keys are sent" in shown
    assert run(["config", "show"]) == 0
    assert run(["config", "trust", "--forget"]) == 0
    capsys.readouterr()
    assert run(["config", "show", "--json"]) == 2
    capsys.readouterr()
    assert run(["--config", "assay.yaml", "config", "show"]) == 0
    capsys.readouterr()
    (folder / "assay.yaml").unlink()
    assert run(["config", "trust"]) == 2
    assert "no assay.yaml" in capsys.readouterr().err
