"""Does an index stay with its models until it is moved, and is it searched meanwhile?"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.app import doctor
from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.encode.catalog import CARDS
from assay.encode.folders import card_of_folder
from assay.encode.hybrid import Hybrid
from assay.model.document import Chunk, Document
from assay.model.vectors import BothVectors
from assay.settings import SETTINGS as SETTINGS_TABLE
from assay.settings import Settings, configure
from tests.unit.encode.tiny import write_model
from tests.unit.encode.tiny_hybrid import WEIGHTS, write_hybrid

TEXTS = {
    "d1": "aspirin lowers the risk of a second heart attack",
    "d2": "insulin lowers glucose",
    "d3": "fever and cough of a child",
}
OLD = {"dense": "old-dense", "splade": "old-splade"}
NEW = {"dense": "new", "splade": "new"}
ALL = ("bm25", "splade", "dense")

Open = Callable[..., Workspace]


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two models of one signal each, and one of both."""
    root = tmp_path / "models"
    made = {
        "old-dense": write_model(root / "old-dense", "dense"),
        "old-splade": write_model(root / "old-splade", "splade"),
        "new": write_hybrid(root / "new"),
        "new-fast": write_hybrid(root / "new-fast", layers=6),
    }
    for name, folder in made.items():
        monkeypatch.setitem(CARDS, name, card_of_folder(folder))
    return root


@pytest.fixture
def opened(tmp_path: Path, shelf: Path) -> Iterator[Open]:
    """Open the workspace; ``usual`` are the models of a version, ``chosen`` those of the user."""
    spaces: list[Workspace] = []

    def open_space(usual: dict[str, str], **chosen: str) -> Workspace:
        spaces.append(Workspace(_settings(tmp_path, shelf, usual, **chosen)))
        return spaces[-1]

    yield open_space
    for space in spaces:
        space.close()


def _settings(tmp_path: Path, shelf: Path, usual: dict[str, str], **chosen: str) -> Settings:
    plain = configure({"home": tmp_path / "home", "models": shelf}, environ={}, folder=tmp_path)
    origins = {**plain.origins, **dict.fromkeys(chosen, "flag")}
    models: dict[str, Any] = {f"{role}_model": name for role, name in usual.items()} | chosen
    return replace(plain, **models, origins=origins)


def filled(space: Workspace) -> Workspace:
    space.store.put(
        [(Document(name, text), (Chunk(f"{name}:0", name, text),)) for name, text in TEXTS.items()]
    )
    space.update_index()
    return space


def names(space: Workspace) -> dict[str, str]:
    return {role: one.split(":")[0] for role, one in space.index_card()["models"].items()}


def test_one_pass_serves_both_components(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    passages: list[str] = []
    usual = Hybrid.encode_both

    def counted(self: Hybrid, texts: list[str]) -> list[BothVectors]:
        passages.extend(texts)
        return usual(self, texts)

    monkeypatch.setattr(Hybrid, "encode_both", counted)
    space = filled(opened(NEW))
    assert sorted(passages) == sorted(TEXTS.values())
    assert names(space) == NEW
    found = space.search("aspirin heart", depth=3)
    assert found.components_used == ALL
    assert not found.degraded
    assert [path.name.split("-")[0] for path in space.layout.vectors.glob("*.db")] == ["new"]
    dense, sparse = space.encoders()
    assert getattr(dense, "whole", None) is getattr(sparse, "whole", "")


def test_both_signals_of_an_index_are_those_of_the_model(opened: Open) -> None:
    space = filled(opened(NEW))
    dense, sparse = space.encoders()
    assert dense is not None
    assert sparse is not None
    wanted = dense.encode([*TEXTS.values()], "passage") @ dense.encode(["glucose"], "query")[0]
    hits = space.components(space.generation())["dense"].search("glucose", 3)
    scores = {hit.chunk_id: hit.score for hit in hits}
    assert [scores[f"{name}:0"] for name in TEXTS] == pytest.approx(wanted.tolist(), abs=1e-6)
    (asked,) = sparse.encode(["glucose"], "query")
    weights = dict(zip(asked.terms.tolist(), asked.weights.tolist(), strict=True))
    for hit in space.components(space.generation())["splade"].search("glucose", 3):
        (passage,) = sparse.encode([TEXTS[hit.chunk_id.partition(":")[0]]], "passage")
        both = zip(passage.terms.tolist(), passage.weights.tolist(), strict=True)
        total = sum(weights.get(term, 0.0) * weight for term, weight in both)
        assert hit.score == pytest.approx(total, rel=1e-5)


def test_one_signal_of_a_model_for_both(opened: Open) -> None:
    space = filled(opened(NEW, splade_model="old-splade"))
    assert names(space) == {"dense": "new", "splade": "old-splade"}
    assert space.search("aspirin").components_used == ALL


def test_a_new_default_leaves_an_index_as_it_is(opened: Open) -> None:
    filled(opened(OLD))
    space = opened(NEW)
    assert space.search("aspirin").components_used == ALL
    assert space.snapshot().dense_model == "old-dense"
    card = space.index_card()
    assert card["newer_models"] == NEW
    # what is added is encoded by the models of the index
    text = "asthma of a child"
    space.store.put([(Document("d4", text), (Chunk("d4:0", "d4", text),))])
    for action in ("update", "compact", "rebuild"):
        space.write_index(action)
        assert names(space) == OLD
    found = space.search("asthma")
    assert found.components_used == ALL
    assert found.results[0].chunk.doc_id == "d4"


def test_reencode_moves_the_index_to_the_default(opened: Open) -> None:
    before = filled(opened(OLD))
    assert before.search("aspirin").components_used == ALL
    space = opened(NEW)
    written = space.write_index("reencode")
    assert written.rows == len(TEXTS)
    assert names(space) == NEW
    assert "newer_models" not in space.index_card()
    for one in (space, before):  # a process that had it open follows without being told
        found = one.search("aspirin", depth=5)
        assert (found.components_used, found.degraded) == (ALL, False)
        assert found.generation == str(written.generation)


def test_the_old_index_is_searched_until_the_new_one_is_whole(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = str(filled(opened(OLD)).index_card()["generation"])
    space, reader = opened(NEW), opened(NEW)
    seen: list[tuple[tuple[str, ...], str]] = []
    usual = Hybrid.encode_both

    def watched(self: Hybrid, texts: list[str]) -> list[BothVectors]:
        found = reader.search("aspirin", depth=4 + len(seen))
        seen.append((found.components_used, found.generation))
        return usual(self, texts)

    monkeypatch.setattr(Hybrid, "encode_both", watched)
    space.write_index("reencode")
    assert seen == [(ALL, before)]
    assert reader.search("aspirin", depth=9).generation != before


def test_an_interrupted_move_goes_on_where_it_stopped(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(opened(OLD))
    space = opened(NEW)
    monkeypatch.setattr("assay.encode.corpus._batches", lambda keys: [[key] for key in keys])
    encoded: list[str] = []
    usual = Hybrid.encode_both

    def failing(self: Hybrid, texts: list[str]) -> list[BothVectors]:
        if len(encoded) == 2:
            raise KeyboardInterrupt
        encoded.extend(texts)
        return usual(self, texts)

    monkeypatch.setattr(Hybrid, "encode_both", failing)
    with pytest.raises(KeyboardInterrupt):
        space.write_index("reencode")
    assert names(space) == OLD
    assert space.search("aspirin").components_used == ALL
    encoded.clear()
    steps: list[tuple[str, int, int]] = []
    space.write_index("reencode", lambda *step: steps.append(step))
    assert len(encoded) == 1
    assert names(space) == NEW
    assert ("encode", 2, 3) in steps
    assert ("encode", 3, 3) in steps


def test_a_model_that_was_chosen_wins_over_the_index(opened: Open) -> None:
    filled(opened(OLD))
    space = opened(NEW, dense_model="new-fast")
    found = space.search("aspirin")
    assert found.components_used == ("bm25", "splade")
    assert any("old-dense" in text for text in found.warnings)
    space.write_index("update")
    assert names(space) == {"dense": "new-fast", "splade": "old-splade"}
    assert space.search("aspirin").components_used == ALL


def test_an_index_without_a_signal_gets_it_at_the_next_update(opened: Open) -> None:
    filled(opened(OLD, dense_model=None))
    space = opened(NEW)
    assert names(space) == {"splade": "old-splade"}
    space.write_index("update")
    assert names(space) == {"dense": "new", "splade": "old-splade"}


def test_a_missing_model_costs_its_components_alone(opened: Open, shelf: Path) -> None:
    filled(opened(NEW))
    (shelf / "new" / WEIGHTS).unlink()
    found = opened(NEW).search("aspirin")
    assert found.components_used == ("bm25",)
    assert found.results[0].chunk.doc_id == "d1"
    assert sum(WEIGHTS in text for text in found.warnings) == 2
    shutil.rmtree(shelf / "old-dense")
    assert opened(OLD).search("aspirin").components_used == ("bm25",)


def test_doctor_says_how_to_move(opened: Open, tmp_path: Path, shelf: Path) -> None:
    filled(opened(OLD)).close()
    states = {
        one.name: one for one in doctor.examine(_settings(tmp_path, shelf, NEW))
        if one.name.startswith("model ")
    }  # fmt: skip
    assert {one.state for one in states.values()} == {doctor.State.NOTE}
    assert "old-dense" in states["model dense"].says
    assert states["model dense"].hint == "assay index reencode moves to it"


def test_the_command(
    opened: Open, tmp_path: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    filled(opened(OLD)).close()
    monkeypatch.chdir(tmp_path)
    for name in ("ASSAY_DENSE_MODEL", "ASSAY_SPLADE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (("dense_model", "new"), ("splade_model", "new")):
        row = SETTINGS_TABLE[name]
        monkeypatch.setitem(SETTINGS_TABLE, name, replace(row, default=value))
    monkeypatch.setenv("ASSAY_MODELS", str(shelf))
    common = ["--home", str(tmp_path / "home")]
    assert run([*common, "index", "update"]) == 0
    assert "assay index reencode moves the index to it" in capsys.readouterr().err
    assert run([*common, "index", "reencode"]) == 0
    assert "newer" not in capsys.readouterr().err
    assert run([*common, "index", "info", "--json"]) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    assert {one.split(":")[0] for one in models.values()} == {"new"}
