"""Does the graph built by hand compute what BERT computes?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.encode.bert_graph import build_model
from assay.encode.cards import Role
from assay.encode.families import shape_of
from assay.encode.runtime import ModelSession, start
from assay.encode.shelf import Shelf, load
from assay.encode.tensors import read_tensors
from assay.encode.tokens import TokenRow
from assay.errors import FormatError
from tests.unit.encode import numpy_bert
from tests.unit.encode.tiny import CONFIG, tensors

IDS, TYPES = [2, 5, 9, 7, 3, 6, 3], [0, 0, 0, 0, 0, 1, 1]


def run(role: Role, arrays: dict[str, Any] | None = None) -> Any:
    model = build_model(arrays or tensors(), shape_of(CONFIG, "config.json"), role, "made")
    row = TokenRow(np.array(IDS, np.int64), np.array(TYPES, np.int64))
    return ModelSession(model, "made").run(row)


def test_hidden_states_agree_with_numpy() -> None:
    wanted = numpy_bert.hidden_states(numpy_bert.weights(tensors()), CONFIG, IDS, TYPES)
    np.testing.assert_allclose(run("dense"), wanted, atol=2e-5)


def test_term_weights_agree_with_numpy() -> None:
    weights = numpy_bert.weights(tensors())
    wanted = numpy_bert.splade(weights, numpy_bert.hidden_states(weights, CONFIG, IDS, TYPES))
    assert (wanted > 0).any()
    np.testing.assert_allclose(run("splade"), wanted, atol=2e-5)


def test_the_score_agrees_with_numpy() -> None:
    weights = numpy_bert.weights(tensors())
    wanted = numpy_bert.score(weights, numpy_bert.hidden_states(weights, CONFIG, IDS, TYPES))
    assert run("reranker").item() == pytest.approx(wanted, abs=2e-5)


def test_old_names_and_prefixes_mean_the_same() -> None:
    old = {
        f"bert.{name}".replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): array
        for name, array in tensors().items()
    }
    np.testing.assert_array_equal(run("splade", old), run("splade"))


def test_a_decoder_of_its_own_is_used() -> None:
    own = tensors()
    own["cls.predictions.decoder.weight"] = own["embeddings.word_embeddings.weight"] * 2
    assert not np.array_equal(run("splade", own), run("splade"))


@pytest.mark.parametrize("name", ["pooler.dense.bias", "encoder.layer.1.output.dense.weight"])
def test_missing_weights_are_named(name: str) -> None:
    rest = {key: array for key, array in tensors().items() if key != name}
    with pytest.raises(FormatError, match=name):
        run("reranker", rest)


def test_a_classifier_with_several_classes_is_no_reranker() -> None:
    wrong = tensors()
    wrong["classifier.weight"] = np.zeros((3, 16), np.float32)
    wrong["classifier.bias"] = np.zeros(3, np.float32)
    with pytest.raises(FormatError, match="one score"):
        run("reranker", wrong)


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": "deberta-v2"},
        {"hidden_act": "swish"},
        {"position_embedding_type": "relative_key"},
        {"hidden_size": "16"},
        {"num_hidden_layers": 0},
        {"num_attention_heads": 3},
        {"hidden_size": 1 << 40},
        {"layer_norm_eps": None},
    ],
)
def test_what_cannot_be_built_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=r"config\.json"):
        shape_of({**CONFIG, **change}, "config.json")


@pytest.mark.slow
def test_the_real_splade_agrees_with_numpy(real_shelf: Shelf) -> None:
    """The graph runs in single precision; the oracle in double."""
    found = real_shelf.require("splade-tiny")
    loaded = load(found, ("model.safetensors", "config.json"))
    config = json.loads(loaded.contents["config.json"])
    weights = numpy_bert.weights(read_tensors(loaded.contents["model.safetensors"], "model"))
    running = start(found, "splade")
    row = running.tokenizer.text("Metformin in adults with type 2 diabetes: a randomised trial.")
    states = numpy_bert.hidden_states(weights, config, row.ids.tolist(), row.types.tolist())
    np.testing.assert_allclose(
        running.session.run(row), numpy_bert.splade(weights, states), atol=2e-5
    )


def test_text_longer_than_the_positions_is_cut(tiny: dict[str, Path]) -> None:
    running = start(Shelf().require(str(tiny["dense"])), "dense")
    assert running.tokenizer.max_tokens == 64
    assert running.session.run(running.tokenizer.text("aspirin " * 500)).shape == (64, 16)
