"""Is a model found in the right place, and never used when it changed?"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from assay import limits
from assay.app.engine import model_shelf
from assay.encode.cards import ModelCard
from assay.encode.folders import DESCRIPTION, description
from assay.encode.shelf import PACKAGED, Shelf, checksum, faults, load, shelf, user_folder
from assay.errors import (
    CorruptModelError,
    LimitError,
    MissingFileError,
    MissingModelError,
    UnknownModelError,
)
from assay.settings import configure


def pinned(folder: Path, card: ModelCard) -> ModelCard:
    """Write a description with the checksums that the files have now."""
    names = ("model.safetensors", "tokenizer.json", "config.json")
    full = replace(card, files=tuple(replace(checksum(folder / n), name=n) for n in names))
    (folder / DESCRIPTION).write_text(description(full))
    return full


def test_the_workspace_comes_before_the_shared_folder(
    tmp_path: Path, tiny: dict[str, Path]
) -> None:
    here = Shelf(tmp_path / "home" / "models", tmp_path / "shared")
    with pytest.raises(MissingModelError, match="assay models pull naver/splade-v3"):
        here.require("naver/splade-v3")
    shutil.copytree(tiny["splade"], tmp_path / "shared" / "naver--splade-v3")
    assert here.require("naver/splade-v3").place == "shared"
    shutil.copytree(tiny["splade"], tmp_path / "home" / "models" / "naver--splade-v3")
    assert here.require("naver/splade-v3").place == "workspace"


def test_a_path_is_taken_as_it_is(
    tmp_path: Path, tiny: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Shelf().require(str(tiny["dense"]))
    assert (found.place, found.folder, found.card.role) == ("folder", tiny["dense"], "dense")
    monkeypatch.chdir(tiny["dense"].parent)
    assert Shelf().require("./dense").card.role == "dense"
    assert Shelf().require("dense").card.role == "dense"
    with pytest.raises(MissingFileError):
        Shelf().require(str(tmp_path / "absent"))
    with pytest.raises(UnknownModelError):
        Shelf().require("absent")


def test_a_repository_that_was_pulled_by_name_describes_itself(
    tmp_path: Path, tiny: dict[str, Path]
) -> None:
    shutil.copytree(tiny["dense"], tmp_path / "someone--some-model")
    found = Shelf(None, tmp_path).require("someone/some-model")
    assert (found.card.name, found.card.role) == ("someone/some-model", "dense")
    with pytest.raises(UnknownModelError):
        Shelf(None, tmp_path).require("someone/other")


def test_the_override_and_the_users_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert shelf(home, Path("/m")) == Shelf(home / "models", Path("/m"), PACKAGED)
    assert shelf(home).shared == user_folder(os.environ)
    assert user_folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/assay/models")
    assert user_folder({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache/assay/models"


def test_only_the_setting_names_the_shared_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_MODELS", str(tmp_path / "other"))
    assert model_shelf(configure()).shared == tmp_path / "other"
    assert model_shelf(configure({"models": "auto"})).shared == user_folder(os.environ)
    monkeypatch.setenv("ASSAY_MODELS", "auto")
    assert model_shelf(configure()).shared == user_folder(os.environ)
    plain = configure(environ={}, folder=tmp_path)
    assert model_shelf(plain) == shelf(plain.home)
    named = configure({"models": "~/own"}, environ={}, folder=tmp_path)
    assert model_shelf(named) == Shelf(plain.home / "models", Path.home() / "own", PACKAGED)


def test_a_machine_without_a_home_has_no_shared_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", staticmethod(no_home))
    assert user_folder({}) is None
    assert list(Shelf(Path("w"), None).places()) == [("workspace", Path("w"))]


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
@pytest.mark.parametrize("damage", ["flip", "cut", "grow", "remove"])
def test_a_changed_file_is_found_and_never_loaded(
    tmp_path: Path, tiny: dict[str, Path], name: str, damage: str
) -> None:
    folder = tmp_path / "naver--splade-v3"
    shutil.copytree(tiny["splade"], folder)
    here = Shelf(None, tmp_path)
    card = pinned(folder, here.require("naver/splade-v3").card)
    found = here.require("naver/splade-v3")
    assert found.card.files == card.files
    assert faults(folder, card.files) == []
    data = bytearray((folder / name).read_bytes())
    if damage == "flip":
        data[len(data) // 2] ^= 1
    elif damage == "cut":
        del data[-1:]
    elif damage == "grow":
        data += b"\0"
    (folder / name).write_bytes(data)
    if damage == "remove":
        (folder / name).unlink()
    assert len(faults(folder, card.files)) == 1
    wanted = MissingFileError if damage == "remove" else CorruptModelError
    with pytest.raises(wanted, match=name.replace(".", r"\.")):
        load(found, ("model.safetensors", "tokenizer.json", "config.json"))


def test_a_file_that_is_too_large_is_not_read(
    tiny: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_MODEL_FILE_BYTES", 100)
    with pytest.raises(LimitError):
        load(Shelf().require(str(tiny["dense"])), ("model.safetensors",))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"x")
    path.chmod(0)
    with pytest.raises(MissingFileError, match="secret"):
        checksum(path)
