"""Is what a folder of sentence-transformers declares done, and anything else refused by name?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.encode.encoders import open_dense, open_reranker, open_sparse
from assay.encode.folders import card_of_folder, description
from assay.encode.runtime import start
from assay.encode.shelf import Shelf
from assay.errors import FormatError
from tests.unit.encode.shapes import SIZE, declare, dense_head, write_shape
from tests.unit.encode.tiny import safetensors

TEXT = "the risk of a heart attack"
TANH = "torch.nn.modules.activation.Tanh"
MEAN = ("Pooling", "1_Pooling", {"pooling_mode_mean_tokens": True})
SIX = {"in_features": SIZE, "out_features": 6, "bias": True, "activation_function": TANH}
DENSE = ("Dense", "2_Dense", SIX)
UNIT: tuple[str, str, dict[str, Any]] = ("Normalize", "3_Normalize", {})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An MPNet as published ones are: its head was made for masked tokens, and means nothing."""
    return write_shape(tmp_path / "model", "mpnet", "dense", architectures=["MPNetForMaskedLM"])


def states(folder: Path) -> NDArray[np.float32]:
    """The states of all tokens, before pooling."""
    running = start(Shelf().require(str(folder)), "dense")
    found: NDArray[np.float32] = running.session.run(running.tokenizer.text(TEXT))
    return found


def vector(folder: Path) -> NDArray[np.float32]:
    found: NDArray[np.float32] = open_dense(str(folder), Shelf()).encode([TEXT], "passage")[0]
    return found


def unit(values: NDArray[Any]) -> NDArray[Any]:
    found: NDArray[Any] = values / np.linalg.norm(values)
    return found


def test_the_modules_decide_the_role_and_not_the_architecture(folder: Path) -> None:
    declare(folder, MEAN)
    card = card_of_folder(folder)
    assert (card.role, card.pooling, card.dimension) == ("dense", "mean", SIZE)
    np.testing.assert_allclose(vector(folder), unit(states(folder).mean(0)), atol=1e-6)


@pytest.mark.parametrize(
    ("flags", "wanted"),
    [
        ({"pooling_mode_cls_token": True}, lambda x: x[0]),
        ({"pooling_mode_max_tokens": True}, lambda x: x.max(0)),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, lambda x: x.sum(0) / np.sqrt(len(x))),
        ({"pooling_mode_lasttoken": True}, lambda x: x[-1]),
        (
            {"pooling_mode_weightedmean_tokens": True},
            lambda x: np.average(x, axis=0, weights=np.arange(1, len(x) + 1)),
        ),
        (
            {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True},
            lambda x: np.concatenate([x[0], x.mean(0)]),
        ),
        ({"pooling_mode": ["max", "cls"]}, lambda x: np.concatenate([x.max(0), x[0]])),
        ({"pooling_mode": "lasttoken"}, lambda x: x[-1]),
        ({"pooling_mode_cls_token": False}, lambda x: x.mean(0)),
    ],
)
def test_every_way_of_pooling(folder: Path, flags: dict[str, Any], wanted: Any) -> None:
    declare(folder, ("Pooling", "1_Pooling", flags))
    np.testing.assert_allclose(vector(folder), unit(wanted(states(folder))), atol=1e-6)


def test_dense_layers_are_computed_and_change_the_size(folder: Path) -> None:
    weight, bias = dense_head(folder / "2_Dense", (6, SIZE))
    declare(folder, MEAN, DENSE, UNIT)
    assert open_dense(str(folder), Shelf()).dimension == 6
    wanted = np.tanh(weight @ states(folder).mean(0) + bias)
    np.testing.assert_allclose(vector(folder), unit(wanted), atol=1e-5)


def test_a_norm_and_a_layer_without_bias(folder: Path) -> None:
    weight, _ = dense_head(folder / "3_Dense", (5, SIZE), bias=False)
    random = np.random.default_rng(4)
    scale, shift = random.normal(size=(2, SIZE)).astype(np.float32)
    (folder / "2_LayerNorm").mkdir()
    (folder / "2_LayerNorm" / "model.safetensors").write_bytes(
        safetensors({"norm.weight": scale, "norm.bias": shift})
    )
    values = {**SIX, "out_features": 5, "activation_function": "torch.nn.modules.linear.Identity"}
    declare(
        folder,
        MEAN,
        ("Normalize", "9_Normalize", {}),
        ("LayerNorm", "2_LayerNorm", {"dimension": SIZE}),
        ("Dropout", "8_Dropout", {"dropout": 0.1}),
        ("Dense", "3_Dense", values),
    )
    x = unit(states(folder).mean(0))
    x = (x - x.mean()) / np.sqrt(x.var() + 1e-5) * scale + shift
    np.testing.assert_allclose(vector(folder), unit(weight @ x), atol=1e-5)


def test_another_head_is_another_model(folder: Path) -> None:
    declare(folder, MEAN, DENSE)
    dense_head(folder / "2_Dense", (6, SIZE), seed=1)
    one = open_dense(str(folder), Shelf()).model_id
    dense_head(folder / "2_Dense", (6, SIZE), seed=2)
    assert open_dense(str(folder), Shelf()).model_id != one


def test_what_was_found_can_be_written_down_and_read(folder: Path) -> None:
    dense_head(folder / "2_Dense", (6, SIZE))
    declare(folder, ("Pooling", "1_Pooling", {"pooling_mode": ["cls", "max"]}), UNIT, DENSE)
    values = {"max_seq_length": 9, "do_lower_case": True}
    (folder / "sentence_bert_config.json").write_text(json.dumps(values))
    card = card_of_folder(folder)
    (folder / "assay-model.json").write_text(description(card))
    assert card_of_folder(folder) == card
    assert (card.pooling, card.heads) == ("cls+max", ("unit", "dense:2_Dense"))


def test_the_stated_number_of_tokens_is_read(folder: Path) -> None:
    declare(folder, MEAN)
    assert card_of_folder(folder).max_tokens == card_of_folder(folder).longest
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 12}')
    assert card_of_folder(folder).max_tokens == 12
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 7}')
    assert card_of_folder(folder).max_tokens == 7
    short, long = "aspirin " * 5, "aspirin " * 30
    rows = open_dense(str(folder), Shelf()).encode([short, long], "passage")
    np.testing.assert_array_equal(rows[0], rows[1])


def test_small_letters_where_the_model_reads_them(folder: Path) -> None:
    declare(folder, MEAN)
    plain = open_dense(str(folder), Shelf()).encode(["heart", "Heart"], "passage")
    assert not np.array_equal(plain[0], plain[1])
    (folder / "sentence_bert_config.json").write_text('{"do_lower_case": true}')
    small = open_dense(str(folder), Shelf()).encode(["heart", "Heart"], "passage")
    np.testing.assert_array_equal(small[0], small[1])


@pytest.mark.parametrize(
    ("about", "wanted"),
    [
        ({"prompts": {"query": "q ", "document": "d "}}, ("q ", "d ")),
        ({"prompts": {"corpus": "c "}}, ("", "c ")),
        ({"prompts": {"x": "x "}, "default_prompt_name": "x"}, ("x ", "x ")),
        ({"prompts": {"query": "", "x": "x "}, "default_prompt_name": "x"}, ("", "x ")),
        ({"prompts": {"query": None, "document": None}}, ("", "")),
        ({"prompts": []}, ("", "")),
    ],
)
def test_prompts(folder: Path, about: dict[str, Any], wanted: tuple[str, str]) -> None:
    declare(folder, MEAN, **about)
    card = card_of_folder(folder)
    assert (card.query_prefix, card.passage_prefix) == wanted


def refused(folder: Path, *modules: Any, **about: Any) -> str:
    declare(folder, *modules, **about)
    with pytest.raises(FormatError) as caught:
        open_dense(str(folder), Shelf())
    return str(caught.value)


@pytest.mark.parametrize(
    "kind", ["CNN", "LSTM", "WeightedLayerPooling", "Router", "Asym", "StaticEmbedding", "BoW"]
)
def test_a_module_that_is_not_known_is_refused_by_name(folder: Path, kind: str) -> None:
    assert kind in refused(folder, MEAN, (kind, "2_Own", {}))
    assert kind in refused(folder, (kind, "1_Own", {}))


def test_code_of_the_model_and_paths_outside_are_refused(folder: Path) -> None:
    declare(folder, MEAN)
    listed = json.loads((folder / "modules.json").read_text())
    for change in ({"type": "custom_st.Head"}, {"path": "../../etc"}, {"path": "/etc"}):
        changed = [listed[0], {**listed[1], **change}]
        (folder / "modules.json").write_text(json.dumps(changed))
        with pytest.raises(FormatError, match=r"modules\.json"):
            open_dense(str(folder), Shelf())


@pytest.mark.parametrize("text", ["{}", "[]", "[1]", '[{"type": 1, "path": ""}]', "no", "[" * 9999])
def test_modules_that_are_no_list_are_refused(folder: Path, text: str) -> None:
    (folder / "modules.json").write_text(text)
    with pytest.raises(FormatError, match=r"modules\.json"):
        card_of_folder(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"activation_function": "torch.nn.modules.activation.Mish"},
        {"activation_function": "os.system"},
        {"module_input_name": "token_embeddings"},
        {"out_features": "6"},
    ],
)
def test_a_dense_layer_that_is_not_understood_is_refused(
    folder: Path, change: dict[str, Any]
) -> None:
    dense_head(folder / "2_Dense", (6, SIZE))
    assert "2_Dense" in refused(folder, MEAN, ("Dense", "2_Dense", {**SIX, **change}))


def test_weights_that_do_not_fit_or_are_pickled_are_refused(folder: Path) -> None:
    assert "model.safetensors is missing" in refused(folder, MEAN, DENSE)
    dense_head(folder / "2_Dense", (6, SIZE + 1))
    declare(folder, MEAN, DENSE)
    encoder = open_dense(str(folder), Shelf())
    with pytest.raises(FormatError, match="2_Dense"):
        encoder.encode([TEXT], "passage")


def test_lengths_of_vectors_must_not_matter(folder: Path) -> None:
    assert "dot" in refused(folder, MEAN, similarity_fn_name="dot")
    assert "manhattan" in refused(folder, MEAN, UNIT, similarity_fn_name="manhattan")
    declare(folder, MEAN, UNIT, similarity_fn_name="dot")
    assert open_dense(str(folder), Shelf()).dimension == SIZE


def test_vectors_are_cut_where_the_folder_says_so(folder: Path) -> None:
    declare(folder, MEAN, UNIT, truncate_dim=3)
    card = card_of_folder(folder)
    assert (card.dimension, card.heads) == (3, ("first:3",))
    np.testing.assert_allclose(vector(folder), unit(states(folder).mean(0)[:3]), atol=1e-6)
    (folder / "assay-model.json").write_text(description(card))
    assert card_of_folder(folder).heads == card.heads
    assert len(vector(folder)) == 3


def test_a_cut_beyond_the_vector_changes_nothing_and_a_strange_one_is_refused(
    folder: Path,
) -> None:
    declare(folder, MEAN, truncate_dim=100)
    assert len(vector(folder)) == SIZE
    declare(folder, MEAN, truncate_dim=None)
    assert len(vector(folder)) == SIZE
    for strange in (0, -3, "many", 2.5, True):
        assert "truncate_dim" in refused(folder, MEAN, truncate_dim=strange)
    assert "dot" in refused(folder, MEAN, UNIT, truncate_dim=3, similarity_fn_name="dot")


def test_pooling_without_the_prompt_is_refused_where_there_is_one(folder: Path) -> None:
    module = ("Pooling", "1_Pooling", {"pooling_mode": "mean", "include_prompt": False})
    assert "prompt" in refused(folder, module, prompts={"query": "q: "})
    declare(folder, module, prompts={"query": ""})
    assert open_dense(str(folder), Shelf()).dimension == SIZE


def test_another_output_of_the_transformer_is_refused(folder: Path) -> None:
    values = {"modality_config": {"text": {"method_output_name": "pooler_output"}}}
    (folder / "sentence_bert_config.json").write_text(json.dumps(values))
    assert "pooler_output" in refused(folder, MEAN)


def test_a_transformer_in_a_folder_of_its_own_and_an_adapter_are_refused(folder: Path) -> None:
    declare(folder, MEAN)
    listed = json.loads((folder / "modules.json").read_text())
    listed[0]["path"] = "0_Transformer"
    (folder / "modules.json").write_text(json.dumps(listed))
    with pytest.raises(FormatError, match="0_Transformer"):
        card_of_folder(folder)
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(FormatError, match="adapter"):
        card_of_folder(folder)


def test_pickled_weights_come_with_the_command_that_saves_them_anew(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(FormatError) as caught:
        card_of_folder(folder)
    assert "save it anew" in (caught.value.hint or "")


def test_a_splade_of_ones_own(tmp_path: Path) -> None:
    folder = write_shape(tmp_path / "model", "distilbert", "splade")
    plain = open_sparse(str(folder), Shelf()).encode([TEXT], "passage")[0]
    settings = {"pooling_strategy": "max", "activation_function": "relu"}
    declare(folder, ("SpladePooling", "1_SpladePooling", settings))
    found = open_sparse(str(folder), Shelf()).encode([TEXT], "passage")[0]
    np.testing.assert_array_equal(found.weights, plain.weights)
    for change in ({"pooling_strategy": "sum"}, {"activation_function": "log1p_relu"}):
        declare(folder, ("SpladePooling", "1_SpladePooling", {**settings, **change}))
        with pytest.raises(FormatError, match=next(iter(change))):
            open_sparse(str(folder), Shelf())


def test_a_cross_encoder_of_ones_own(tmp_path: Path) -> None:
    folder = write_shape(tmp_path / "model", "roberta", "reranker")
    wanted = open_reranker(str(folder), Shelf()).score("aspirin", [TEXT])
    declare(folder, activation_fn="torch.nn.modules.activation.Sigmoid")
    np.testing.assert_array_equal(
        open_reranker(str(folder), Shelf()).score("aspirin", [TEXT]), wanted
    )
    declare(folder, activation_fn="torch.nn.modules.activation.Softmax")
    with pytest.raises(FormatError, match="Softmax"):
        open_reranker(str(folder), Shelf())


def test_a_transformer_alone_is_no_encoder(folder: Path) -> None:
    declare(folder)
    with pytest.raises(FormatError, match="pooling"):
        open_dense(str(folder), Shelf())
