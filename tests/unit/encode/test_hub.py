"""Does a pull from the model hub take safe files only, and remember what they were?"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from assay.cli.main import run
from assay.encode.encoders import open_dense, open_sparse
from assay.encode.folders import DESCRIPTION
from assay.encode.pull import Pulled, pull, pull_repository
from assay.encode.shelf import Shelf, faults
from assay.errors import CorruptModelError, MissingDependencyError, PullError, UsageError


class EntryNotFoundError(Exception):
    """The name that the hub's library gives to an absent file."""


class LocalEntryNotFoundError(EntryNotFoundError):
    """The name that it gives to a failed connection."""


@pytest.fixture
def asked(tiny: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """A hub whose repositories are the small models; the files that were asked for."""
    calls: list[tuple[str, str]] = []
    folders = {
        "naver/splade-v3": tiny["splade"],
        "BAAI/bge-small-en-v1.5": tiny["dense"],
        "someone/model": tiny["dense"],
    }

    def download(repository: str, name: str, revision: str) -> str:
        calls.append((repository, name))
        if repository == "offline/model":
            raise LocalEntryNotFoundError("no connection")
        path = folders[repository] / name
        if not path.is_file():
            raise EntryNotFoundError(name)
        assert revision == "main"
        return str(path)

    fake = ModuleType("huggingface_hub")
    fake.hf_hub_download = download  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", fake)
    return calls


def test_a_card_of_the_hub_is_pulled_pinned_and_run(
    asked: list[tuple[str, str]], tmp_path: Path
) -> None:
    (done,) = pull(["naver/splade-v3"], tmp_path)
    assert (done.outcome, done.folder.name) == ("pulled", "naver--splade-v3")
    found = Shelf(None, tmp_path).require("naver/splade-v3")
    assert {file.name for file in found.card.files} == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    }
    assert faults(found.folder, found.card.files) == []
    assert not any(name.endswith((".bin", ".pt", ".pkl", ".py")) for _, name in asked)


def test_what_was_pulled_once_needs_no_hub(asked: list[tuple[str, str]], tmp_path: Path) -> None:
    pull(["naver/splade-v3"], tmp_path)
    asked.clear()
    assert pull(["naver/splade-v3"], tmp_path)[0].outcome == "present"
    assert asked == []


def test_a_file_that_changed_since_the_first_pull_is_refused(
    asked: list[tuple[str, str]], tmp_path: Path
) -> None:
    pull(["naver/splade-v3"], tmp_path)
    weights = tmp_path / "naver--splade-v3" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\0")
    with pytest.raises(CorruptModelError):
        open_sparse("naver/splade-v3", Shelf(None, tmp_path))
    assert pull(["naver/splade-v3"], tmp_path)[0].outcome == "pulled"


@pytest.mark.parametrize("damage", ["{", '{"files": 7}', '{"sha256": "0"}'])
def test_a_damaged_description_hides_no_other_model_and_is_pulled_again(
    asked: list[tuple[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    damage: str,
) -> None:
    monkeypatch.setenv("ASSAY_MODELS", str(tmp_path))
    ways: dict[str, Callable[[], Pulled]] = {
        "naver/splade-v3": lambda: pull(["naver/splade-v3"], tmp_path)[0],
        "someone/model": lambda: pull_repository("someone/model", tmp_path),
    }
    for name, again in ways.items():
        described = again().folder / DESCRIPTION
        before = described.read_text()
        described.write_text(damage)
        assert run(["models", "list"]) == 0
        assert run(["models", "check", name]) == 1
        assert str(described) in capsys.readouterr().out
        assert again().outcome == "pulled"
        assert described.read_text() == before
        assert again().outcome == "present"


def test_any_repository_can_be_pulled_by_name(asked: list[tuple[str, str]], tmp_path: Path) -> None:
    done = pull_repository("someone/model", tmp_path)
    assert (done.name, done.folder.name) == ("someone/model", "someone--model")
    assert pull_repository("someone/model", tmp_path).outcome == "present"
    encoder = open_dense("someone/model", Shelf(None, tmp_path))
    assert encoder.encode(["aspirin"], "query").shape == (1, 16)
    assert encoder.model_id.startswith("someone/model:64:")


@pytest.mark.parametrize("name", ["model", "../x", "a/b/c", "a/..", "a--b/c", "", "a/" + "b" * 200])
def test_names_that_are_no_repository_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="repository"):
        pull_repository(name, tmp_path)


def test_a_failed_connection_leaves_nothing(asked: list[tuple[str, str]], tmp_path: Path) -> None:
    with pytest.raises(PullError, match="LocalEntryNotFoundError"):
        pull_repository("offline/model", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_repository_without_safe_weights_is_refused(
    asked: list[tuple[str, str]],
    tiny: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(tiny["dense"], folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    monkeypatch.setitem(tiny, "dense", folder)
    fake = ModuleType("huggingface_hub")

    def download(_: str, name: str, revision: str) -> str:
        if not (folder / name).is_file():
            raise EntryNotFoundError(name)
        return str(folder / name)

    fake.hf_hub_download = download  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", fake)
    with pytest.raises(PullError, match=r"model\.safetensors"):
        pull_repository("someone/model", tmp_path / "models")


def test_without_the_hubs_library_there_is_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingDependencyError, match="huggingface_hub"):
        pull(["naver/splade-v3"], tmp_path)
