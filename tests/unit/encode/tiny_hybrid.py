"""An encoder of both signals that fits on one screen, made from a seed; and what it computes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.encode import one_pass
from assay.encode.catalog import CARDS
from assay.encode.tensors import Arrays
from tests.unit.encode.tiny import safetensors

CLS, SEP, FIRST = 101, 102, one_pass.SPECIAL
TEXT_WORDS = (
    *("aspirin", "heart", "attack", "risk", "of", "the", "a", "lowers", "second", "dose"),
    *("statin", "liver", "fever", "pain", "trial", "insulin", "glucose", "asthma", "child"),
    "cough",
)
VOCABULARY, WIDTH, LAYERS, PLACES = FIRST + 400, 64, 12, 64
WEIGHTS = CARDS["assay-bio"].weights

Floats = dict[str, NDArray[Any]]


def floats(seed: int = 3) -> Floats:
    """Random weights under the names that training gives them."""
    random = np.random.default_rng(seed)

    def normal(*shape: int, size: float = 0.1) -> NDArray[np.float32]:
        return random.normal(0, size, shape).astype(np.float32)

    found: Floats = {
        "asked": np.abs(normal(VOCABULARY, size=2)),
        "expansions": np.arange(FIRST, FIRST + 300, dtype=np.int32),
        "body.words.weight": normal(VOCABULARY, WIDTH, size=0.5),
        "body.places.weight": normal(PLACES, WIDTH),
    }
    ways = [f"body.layers.{at}." for at in range(LAYERS)]
    ways += [f"body.short.{at}." for at in range(one_pass.SHORT - one_pass.SHARED)]
    for layer in ways:
        for part, (rows, columns) in {
            "qkv": (3 * WIDTH, WIDTH),
            "out": (WIDTH, WIDTH),
            "wide": (4 * WIDTH, WIDTH),
            "narrow": (WIDTH, 4 * WIDTH),
        }.items():
            found[f"{layer}{part}.weight"] = normal(rows, columns)
            found[f"{layer}{part}.bias"] = normal(rows)
    for head in ("heads.0.", "heads.1."):
        found[f"{head}dense.weight"] = normal(WIDTH, WIDTH, size=0.3)
        found[f"{head}turn.weight"] = normal(WIDTH, WIDTH, size=0.3)
        found[f"{head}turn.bias"] = normal(WIDTH)
        found[f"{head}bias"] = normal(VOCABULARY) - 0.5
    norms = ["body.norm", "heads.0.norm", "heads.1.norm"]
    norms += [f"{layer}{name}" for layer in ways for name in ("norm", "norm2")]
    for name in norms:
        found[f"{name}.weight"], found[f"{name}.bias"] = 1 + normal(WIDTH), normal(WIDTH)
    return found


def packed(state: Floats) -> Arrays:
    """What ships: large matrices as 8-bit numbers with a scale a row, the rest in half."""
    arrays: Arrays = {}
    for name, array in state.items():
        if array.ndim == 2 and not name.startswith(("body.places.", "heads.")):
            scale = np.abs(array).max(axis=1) / 127
            arrays[name] = np.rint(array / scale[:, None]).astype(np.int8)
            arrays[f"{name}.scale"] = scale.astype(np.float32)
        else:
            arrays[name] = array.astype(np.uint16 if array.dtype == np.int32 else np.float16)
    return arrays


def unpacked(arrays: Arrays) -> Floats:
    """The floats that packed arrays stand for."""
    return {
        name: array * arrays[f"{name}.scale"][:, None]
        if array.dtype == np.int8
        else array.astype(np.int32 if array.dtype == np.uint16 else np.float32)
        for name, array in arrays.items()
        if not name.endswith(".scale")
    }


def tokenizer() -> str:
    """A tokenizer of whole words, whose ids begin where those of BERT's words do."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    words = {f"[unused{at}]": at for at in range(FIRST)}
    words = {name: at for name, at in words.items() if at not in (0, 100, CLS, SEP)}
    words |= {"[PAD]": 0, "[UNK]": 100, "[CLS]": CLS, "[SEP]": SEP}
    words |= {word: FIRST + at for at, word in enumerate(TEXT_WORDS)}
    made = Tokenizer(models.WordLevel(words, "[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)],
    )  # fmt: skip
    return str(made.to_str())


def write_hybrid(folder: Path, *, layers: int = LAYERS, seed: int = 3) -> Path:
    """A folder with the files of an encoder and a description of it."""
    folder.mkdir(parents=True)
    kinds = {np.dtype(np.int8): "I8", np.dtype(np.uint16): "U16"}
    arrays = packed(floats(seed))
    named = {name: kinds[array.dtype] for name, array in arrays.items() if array.dtype in kinds}
    (folder / WEIGHTS).write_bytes(safetensors(arrays, named))
    (folder / "tokenizer.json").write_text(tokenizer())
    about = {
        "role": "hybrid", "runtime": "one_pass", "weights": WEIGHTS, "dimension": WIDTH,
        "vocabulary": VOCABULARY, "layers": layers, "max_tokens": 32,
    }  # fmt: skip
    (folder / "assay-model.json").write_text(json.dumps(about))
    return folder


@dataclass(frozen=True)
class Computed:
    """Both signals, as numpy computes them from the formulas of the model."""

    dense: NDArray[np.float64]
    weights: NDArray[np.float64]


def computed(state: Floats, ids: list[int], depth: int) -> Computed:
    """The vector of a text and the weight of every term, token by token."""
    words = state["body.words.weight"].astype(np.float64)
    hidden = states(state, words[ids], depth)
    head = f"heads.{(6, 12).index(depth)}."
    dense = state[f"{head}dense.weight"] @ (hidden.mean(axis=0) if depth == 6 else hidden[0])
    turned = _norm(state, f"{head}norm", _gelu(_linear(state, f"{head}turn", hidden)), 1e-5)
    bias = state[f"{head}bias"]
    best = np.full(len(words), -np.inf)
    own = {
        at: turned[at] @ words[one] + bias[one]
        for at, one in enumerate(ids)
        if one >= one_pass.SPECIAL
    }
    for at, weight in own.items():
        best[ids[at]] = max(best[ids[at]], weight)
    speaking = [0, *sorted(own, key=lambda at: -own[at])[: one_pass.POSITIONS]]
    for term in state["expansions"]:
        best[term] = max(best[term], max(turned[at] @ words[term] for at in speaking) + bias[term])
    return Computed(dense / np.linalg.norm(dense), np.log1p(np.maximum(best, 0)))


def states(state: Floats, words: NDArray[np.float64], depth: int = LAYERS) -> NDArray[np.float64]:
    """The states of all tokens after the last layer."""
    places = state["body.places.weight"][: len(words)]
    hidden = _norm(state, "body.norm", words + places, 1e-12)
    for at in range(depth):
        short = depth == 6 and at >= 3
        name = f"body.short.{at - 3}." if short else f"body.layers.{at}."
        hidden = _layer(state, name, hidden)
    return hidden


def _layer(state: Floats, name: str, hidden: NDArray[np.float64]) -> NDArray[np.float64]:
    size = one_pass.HEAD_SIZE
    joint = _linear(state, f"{name}qkv", hidden)
    query, key, value = np.split(joint, 3, axis=1)
    mixed = np.zeros_like(hidden)
    for at in range(0, hidden.shape[1], size):
        part = slice(at, at + size)
        scores = query[:, part] @ key[:, part].T / np.sqrt(size)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        mixed[:, part] = shares / shares.sum(axis=1, keepdims=True) @ value[:, part]
    hidden = _norm(state, f"{name}norm", hidden + _linear(state, f"{name}out", mixed), 1e-12)
    wide = _gelu(_linear(state, f"{name}wide", hidden))
    return _norm(state, f"{name}norm2", hidden + _linear(state, f"{name}narrow", wide), 1e-12)


def _linear(state: Floats, name: str, hidden: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = hidden @ state[f"{name}.weight"].T + state[f"{name}.bias"]
    return found


def _norm(
    state: Floats, name: str, hidden: NDArray[np.float64], epsilon: float
) -> NDArray[np.float64]:
    middle = hidden - hidden.mean(axis=1, keepdims=True)
    size = np.sqrt((middle**2).mean(axis=1, keepdims=True) + epsilon)
    found: NDArray[np.float64] = middle / size * state[f"{name}.weight"] + state[f"{name}.bias"]
    return found


def _gelu(values: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = values * (1 + np.vectorize(erf)(values / np.sqrt(2))) / 2
    return found
