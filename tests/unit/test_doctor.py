"""Does the doctor see what is wrong, and say what to do?"""

import json
from pathlib import Path

import pytest

from assay.cli.main import run
from assay.config import Configuration, configure
from assay.doctor import Finding, State, examine
from assay.workspace import Workspace
from tests.unit.store.test_corpus import document


def configured(home: Path, **flags: object) -> Configuration:
    return configure({"home": str(home), "dense_model": "none", "splade_model": "none", **flags})


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


def test_an_empty_place_is_fit_and_told_what_comes_next(tmp_path: Path) -> None:
    found = by_name(examine(configured(tmp_path / "home")))
    assert found["store"].state is State.NOTE
    assert found["store"].hint == "assay ingest PATH"
    assert found["model dense"].says == "switched off"
    assert "index" not in found
    assert not (tmp_path / "home").exists()


def test_an_index_behind_the_store_and_a_damaged_one(tmp_path: Path) -> None:
    config = configured(tmp_path)
    with Workspace(config) as workspace:
        workspace.ingest([document("d1", "a text about kidneys")])
        workspace.update_index()
        assert by_name(examine(config))["index"].state is State.OK
        workspace.ingest([document("d2", "a text about hearts")])
        found = by_name(examine(config))["index"]
        assert (found.state, found.hint) == (State.NOTE, "assay index update")
        workspace.update_index()
    part = next(path for path in sorted((tmp_path / "index").rglob("*.npy")))
    part.write_bytes(part.read_bytes()[:-1] + b"\0\0")
    found = by_name(examine(config))["index"]
    assert (found.state, found.hint) == (State.FAULT, "assay index rebuild")


def test_a_model_that_is_not_here(tmp_path: Path) -> None:
    found = by_name(examine(configured(tmp_path, dense_model=str(tmp_path / "no-model"))))
    assert found["model dense"].state is State.FAULT


def test_the_command_tells_by_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DENSE_MODEL", "none")
    monkeypatch.setenv("ASSAY_SPLADE_MODEL", "none")
    assert run(["--home", str(tmp_path), "doctor"]) == 0
    assert "no workspace" in capsys.readouterr().out
    (tmp_path / "assay.db").write_text("this is no database, and it is long enough to see that")
    assert run(["--home", str(tmp_path), "doctor", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["fit"] is False
    assert [f["name"] for f in answer["findings"] if f["state"] == "fault"] == ["store", "index"]
