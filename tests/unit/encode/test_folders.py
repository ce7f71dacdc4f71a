"""Is any folder with a model understood, and any other refused?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.encode.cards import ModelFile
from assay.encode.catalog import CARDS
from assay.encode.folders import DESCRIPTION, card_of_folder, description, pinned_files
from assay.errors import AssayError, FormatError, MissingFileError
from tests.unit.encode.tiny import write_model

DESCRIBED: dict[str, Any] = {
    "role": "dense",
    "runtime": "onnx",
    "weights": "model.onnx",
    "dimension": 8,
    "pooling": "cls",
}


def describe(folder: Path, **change: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / DESCRIPTION).write_text(json.dumps({**DESCRIBED, **change}))
    return folder


@pytest.mark.parametrize(
    ("role", "dimension", "pooling"),
    [("dense", 16, "mean"), ("splade", 12, "max"), ("reranker", 1, "none")],
)
def test_the_layout_of_transformers_tells_the_role(
    tiny: dict[str, Path], role: str, dimension: int, pooling: str
) -> None:
    card = card_of_folder(tiny[role])
    assert (card.role, card.dimension, card.pooling) == (role, dimension, pooling)
    assert (card.runtime, card.weights) == ("bert", "model.safetensors")
    assert (card.name, card.longest) == (role, 64)


def test_the_layout_of_sentence_transformers_tells_pooling_and_prompts(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", "dense")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False})
    )
    prompts = {"prompts": {"query": "find: ", "document": "text: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    card = card_of_folder(folder)
    assert (card.pooling, card.query_prefix, card.passage_prefix) == ("cls", "find: ", "text: ")


def test_pooling_that_is_not_supported_is_named(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", "dense")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_attention": true}')
    with pytest.raises(FormatError, match="pooling_mode_attention"):
        card_of_folder(folder)


def test_onnx_weights_come_first(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", "dense")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(b"")
    assert card_of_folder(folder).weights == "onnx/model.onnx"
    assert card_of_folder(folder).runtime == "onnx"


def test_other_architectures_are_left_to_torch(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", "dense", model_type="deberta-v2")
    assert card_of_folder(folder).runtime == "torch"


def test_a_description_says_it_all(tmp_path: Path) -> None:
    card = card_of_folder(describe(tmp_path / "mine", query_prefix="q: ", max_tokens=99))
    assert (card.name, card.role, card.query_prefix) == ("mine", "dense", "q: ")
    assert card.max_tokens == 99


@pytest.mark.parametrize("name", list(CARDS))
def test_every_card_can_be_described_and_read_back(tmp_path: Path, name: str) -> None:
    (tmp_path / DESCRIPTION).write_text(description(CARDS[name]))
    found = card_of_folder(tmp_path)
    assert found.identity(found.files, 256) == CARDS[name].identity(CARDS[name].files, 256)
    assert pinned_files(tmp_path) == CARDS[name].files


@pytest.mark.parametrize(
    "change",
    [
        {"role": "chat"},
        {"pooling": "sum"},
        {"runtime": "pickle"},
        {"dimension": 0},
        {"dimension": True},
        {"dimension": "8"},
        {"weights": "../../secret"},
        {"weights": "/etc/passwd"},
        {"weights": ""},
        {"weights": "a\\b"},
        {"requires_gpu": 1},
        {"colour": "red"},
        {"files": "all"},
        {"files": [{"name": "../x", "size": 1, "sha256": "0" * 64}]},
        {"files": [{"name": "x", "size": 1, "sha256": "0"}]},
        {"files": [{"name": "x"}]},
        {"files": [{"name": 1, "size": 1, "sha256": "0" * 64}]},
    ],
)
def test_a_wrong_description_is_refused_by_field(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=f"{DESCRIPTION}.*{next(iter(change))}"):
        card_of_folder(describe(tmp_path / "mine", **change))


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '"x"', "[" * 10_000, "\ufeff{}", '{"role": "dense"}']
)
def test_a_description_that_is_no_json_object_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / DESCRIPTION).write_text(text)
    with pytest.raises(FormatError, match=DESCRIPTION):
        card_of_folder(tmp_path)


def test_an_empty_folder_and_none_at_all(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"assay-model\.json"):
        card_of_folder(tmp_path)
    with pytest.raises(MissingFileError):
        card_of_folder(tmp_path / "absent")


@pytest.mark.parametrize("change", [{"architectures": ["GPT2LMHeadModelX"]}, {"vocab_size": None}])
def test_a_model_without_a_role_or_size_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(AssayError, match=r"config\.json"):
        card_of_folder(write_model(tmp_path / "model", "splade", **change))


def test_no_description_pins_nothing(tmp_path: Path) -> None:
    assert pinned_files(tmp_path) == ()
    files = (ModelFile("a", 1, "0" * 64),)
    describe(tmp_path, files=[{"name": "a", "size": 1, "sha256": "0" * 64}])
    assert pinned_files(tmp_path) == files
