"""BERT once more, in plain numpy and double precision: what the built graph must agree with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Weights = dict[str, Array]

_erf = np.vectorize(math.erf, otypes=[np.float64])


def weights(tensors: dict[str, NDArray[np.float32]]) -> Weights:
    """Names of the transformers library, old spellings included, in double precision."""
    return {
        name.removeprefix("bert.")
        .replace("LayerNorm.gamma", "LayerNorm.weight")
        .replace("LayerNorm.beta", "LayerNorm.bias"): array.astype(np.float64)
        for name, array in tensors.items()
    }


def gelu(x: Array) -> Array:
    return np.asarray(0.5 * x * (1 + _erf(x / math.sqrt(2))))


def linear(w: Weights, name: str, x: Array) -> Array:
    return np.asarray(x @ w[f"{name}.weight"].T + w[f"{name}.bias"])


def norm(w: Weights, name: str, x: Array) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    return np.asarray(centred / spread * w[f"{name}.weight"] + w[f"{name}.bias"])


def attention(w: Weights, name: str, x: Array, heads: int) -> Array:
    count, hidden = x.shape
    size = hidden // heads
    query, key, value = (
        linear(w, f"{name}.{part}", x).reshape(count, heads, size)
        for part in ("query", "key", "value")
    )
    out = np.zeros((count, heads, size))
    for head in range(heads):
        logits = query[:, head] @ key[:, head].T / math.sqrt(size)
        shares = np.exp(logits - logits.max(1, keepdims=True))
        out[:, head] = shares / shares.sum(1, keepdims=True) @ value[:, head]
    return out.reshape(count, hidden)


def hidden_states(w: Weights, config: dict[str, Any], ids: list[int], types: list[int]) -> Array:
    x = (
        w["embeddings.word_embeddings.weight"][ids]
        + w["embeddings.token_type_embeddings.weight"][types]
        + w["embeddings.position_embeddings.weight"][: len(ids)]
    )
    x = norm(w, "embeddings.LayerNorm", x)
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}."
        mixed = attention(w, f"{name}attention.self", x, config["num_attention_heads"])
        mixed = linear(w, f"{name}attention.output.dense", mixed)
        x = norm(w, f"{name}attention.output.LayerNorm", mixed + x)
        wide = gelu(linear(w, f"{name}intermediate.dense", x))
        x = norm(w, f"{name}output.LayerNorm", linear(w, f"{name}output.dense", wide) + x)
    return x


def splade(w: Weights, states: Array) -> Array:
    """log(1 + relu(logits)), maximum over all tokens."""
    x = gelu(linear(w, "cls.predictions.transform.dense", states))
    x = norm(w, "cls.predictions.transform.LayerNorm", x)
    logits = x @ w["embeddings.word_embeddings.weight"].T + w["cls.predictions.bias"]
    return np.asarray(np.log1p(np.maximum(logits, 0)).max(0))


def score(w: Weights, states: Array) -> float:
    pooled = np.tanh(linear(w, "pooler.dense", states[:1]))
    return float(linear(w, "classifier", pooled)[0, 0])
