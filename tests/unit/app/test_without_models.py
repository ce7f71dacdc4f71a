"""Does everything work by words where no model is on the machine, and does it say so?"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from assay.app import doctor
from assay.app.engine import usual_options
from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.encode import shelf as shelves
from assay.encode.catalog import CARDS, DEFAULT_ENCODERS
from assay.encode.folders import card_of_folder
from assay.errors import MissingModelError
from assay.settings import Settings, configure
from tests.unit.encode.tiny_hybrid import write_hybrid

SAID = "by words alone"
SET = """name: small
version: "1.0"
queries:
  - query_id: q1
    query_text: aspirin
    query_type: exact_term
    relevant_docs:
      - doc_id: a
        grade: 3
"""


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clean home: no workspace, no folder of models, nothing that ships; two documents."""
    home = tmp_path / "user"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith("ASSAY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ASSAY_HOME", str(home / ".assay"))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setattr(shelves, "PACKAGED", tmp_path / "nothing")
    monkeypatch.chdir(home)
    documents = home / "documents"
    documents.mkdir()
    (documents / "a.txt").write_text("Aspirin lowers the risk of a second heart attack.")
    (documents / "b.txt").write_text("Metformin lowers glucose in type 2 diabetes.")
    return home


@pytest.fixture
def small_defaults(bare: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default model is a small one, which is not on the machine yet."""
    (name,) = set(DEFAULT_ENCODERS)
    card = card_of_folder(write_hybrid(bare / "made"))
    monkeypatch.setitem(CARDS, name, replace(card, name=name))
    return bare


def pull(bare: Path) -> None:
    """Put the small model where the default one is looked for."""
    place = bare / "cache" / "assay" / "models" / CARDS[DEFAULT_ENCODERS[0]].folder
    place.parent.mkdir(parents=True)
    (bare / "made").rename(place)


def settings_of(bare: Path) -> Settings:
    return configure({"home": bare / ".assay"}, environ={}, folder=bare)


def test_the_commands_of_the_tutorial_work_at_once(
    bare: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ingest", "documents"]) == 0
    assert SAID in capsys.readouterr().err
    assert run(["search", "aspirin", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [hit["doc_id"] for hit in found["results"]] == ["a"]
    assert not found["degraded"]
    assert any(SAID in line and "assay models pull" in line for line in found["warnings"])
    assert run(["search", "aspirin"]) == 0
    assert capsys.readouterr().err.count(SAID) == 1
    (bare / "set.yaml").write_text(SET)
    assert run(["eval", "run", "--testset", "set.yaml"]) == 0
    assert capsys.readouterr().err.count(SAID) == 1
    run(["answer", "Does aspirin lower the risk?"])
    assert SAID in capsys.readouterr().err
    assert run(["index", "info"]) == 0
    assert run(["doctor"]) == 0


def test_the_doctor_and_the_index_say_what_is_lacking(bare: Path) -> None:
    with Workspace(settings_of(bare)) as workspace:
        workspace.ingest(bare / "documents")
        assert set(workspace.index_card()["lacking_models"]) == {"dense", "splade"}
        found = {one.name: one for one in doctor.examine(workspace.settings)}
    assert found["model dense"].state is doctor.State.NOTE
    assert "assay models pull" in found["model dense"].hint


def test_a_component_that_is_asked_for_by_name_is_missed_by_name(bare: Path) -> None:
    with Workspace(settings_of(bare)) as workspace:
        workspace.ingest(bare / "documents")
        response = workspace.search("aspirin", components=("bm25", "dense"))
        assert response.component_errors == ("dense_unavailable",)
        assert workspace.searcher.defaults.components == ("bm25",)
        assert usual_options(workspace).components == ("bm25",)
        workspace.search("glucose")
        assert workspace.search("glucose").cached


def test_a_model_that_somebody_chose_must_be_there(bare: Path) -> None:
    chosen = configure(
        {"home": bare / ".assay", "dense_model": "bge-small-en-v1.5"}, environ={}, folder=bare
    )
    with Workspace(chosen) as workspace, pytest.raises(MissingModelError):
        workspace.ingest(bare / "documents")


def test_an_index_of_models_is_not_taken_apart_where_they_are_missing(
    small_defaults: Path,
) -> None:
    bare = small_defaults
    pull(bare)
    with Workspace(settings_of(bare)) as workspace:
        workspace.ingest(bare / "documents")
        made = workspace.index_card()["models"]
        assert set(made) == {"dense", "splade"}
    (bare / "cache").rename(bare / "gone")
    with Workspace(settings_of(bare)) as workspace:
        for action in ("update", "rebuild", "reencode"):
            (bare / "documents" / f"{action}.txt").write_text(f"a text for {action}")
            workspace.ingest(bare / "documents", index=False)
            with pytest.raises(MissingModelError):
                workspace.write_index(action)
        assert workspace.index_card()["models"] == made
        assert workspace.search("aspirin").degraded


def test_models_that_come_later_are_used_from_the_next_update(small_defaults: Path) -> None:
    bare = small_defaults
    with Workspace(settings_of(bare)) as workspace:
        workspace.ingest(bare / "documents")
        assert workspace.search("aspirin").components_used == ("bm25",)
    pull(bare)
    found = {one.name: one for one in doctor.examine(settings_of(bare))}
    assert found["model dense"].hint == "assay index update"
    with Workspace(settings_of(bare)) as workspace:
        workspace.update_index()
        response = workspace.search("aspirin")
        assert set(response.components_used) == {"bm25", "splade", "dense"}
        assert not any(SAID in line for line in response.warnings)
