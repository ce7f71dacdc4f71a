"""How does a BERT model in safetensors become a model for onnxruntime, without torch?

Devlin et al. 2019, post-norm transformer; SPLADE's head is Formal et al. 2021,
``log(1 + relu(logits))`` with the maximum over all tokens, special ones included. Each row runs
alone, so there is no padding and no mask. The graph does less work than the usual export:

- query, key and value are one product;
- the maximum over tokens is taken before bias, relu and logarithm, which are all monotonic;
- the vocabulary is split into pieces whose products stay in the CPU cache, with tokens as the last
  axis, so that the maximum runs along memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.encode.cards import Role
from assay.encode.onnx_graph import Graph
from assay.encode.tensors import Tensors
from assay.errors import FormatError

OUTPUT = "result"
_TERMS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class BertShape:
    """The sizes of a BERT, from its ``config.json``."""

    hidden: int
    layers: int
    heads: int
    epsilon: float
    positions: int


def bert_shape(config: dict[str, Any], source: str) -> BertShape:
    """The sizes of a model that can be built here; an error for other kinds."""
    wanted = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "position_embedding_type": "absolute",
    }
    for name, value in wanted.items():
        if config.get(name, value) != value:
            raise FormatError(
                f"{name} is {config[name]!r:.60}, and only {value!r} is built without torch",
                source=source,
                hint="install assay[gpu] to run other models",
            )
    names = (
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "max_position_embeddings",
    )
    sizes = [config.get(name) for name in names]
    if not all(type(size) is int and 0 < size <= 1 << 20 for size in sizes):
        raise FormatError(f"{', '.join(names)} must be whole numbers", source=source)
    hidden, layers, heads, positions = (int(size or 0) for size in sizes)
    epsilon = config.get("layer_norm_eps", 1e-12)
    if hidden % heads or not isinstance(epsilon, float):
        raise FormatError("hidden_size must be a multiple of num_attention_heads", source=source)
    return BertShape(hidden, layers, heads, epsilon, positions)


def build_bert(tensors: Tensors, shape: BertShape, role: Role, source: str) -> bytes:
    """A model that turns one row of tokens into hidden states, term weights or a score."""
    builder = _Builder(tensors, shape, source)
    try:
        hidden = builder.transformer()
        _HEADS[role](builder, hidden)
    except KeyError as error:
        raise FormatError(f"the weights {error} are missing", source=source) from error
    except ValueError as error:
        raise FormatError(f"the weights do not fit together: {error}", source=source) from error
    return builder.graph.build()


class _Builder:
    """Builds the graph from weights named as in the transformers library."""

    def __init__(self, tensors: Tensors, shape: BertShape, source: str) -> None:
        self.graph = Graph()
        self.shape = shape
        self._source = source
        self.tensors = {
            name.removeprefix("bert.").replace(".gamma", ".weight").replace(".beta", ".bias"): array
            for name, array in tensors.items()
        }

    def transformer(self) -> str:
        """Hidden states, one row per token."""
        state = self._embedding()
        for layer in range(self.shape.layers):
            state = self._layer(f"encoder.layer.{layer}.", state)
        return state

    def linear(self, name: str, state: str) -> str:
        """A product with a weight matrix, plus its bias."""
        graph = self.graph
        product = graph.op("MatMul", state, graph.constant(self.tensors[f"{name}.weight"].T))
        return graph.op("Add", product, graph.constant(self.tensors[f"{name}.bias"]))

    def norm(self, name: str, state: str) -> str:
        """Layer normalisation over the last axis."""
        scale = self.graph.constant(self.tensors[f"{name}.weight"])
        bias = self.graph.constant(self.tensors[f"{name}.bias"])
        epsilon = self.shape.epsilon
        return self.graph.op("LayerNormalization", state, scale, bias, axis=-1, epsilon=epsilon)

    def _embedding(self) -> str:
        graph = self.graph
        ids, types = graph.input_ids("input_ids"), graph.input_ids("token_type_ids")
        flat = graph.constant([-1])
        ids, types = graph.op("Reshape", ids, flat), graph.op("Reshape", types, flat)
        length = graph.op("Shape", ids)
        words = graph.op("Gather", self._table("word"), ids)
        kinds = graph.op("Gather", self._table("token_type"), types)
        places = graph.op("Slice", self._table("position"), graph.constant([0]), length)
        total = graph.op("Add", graph.op("Add", words, kinds), places)
        return self.norm("embeddings.LayerNorm", total)

    def _table(self, name: str) -> str:
        return self.graph.constant(self.tensors[f"embeddings.{name}_embeddings.weight"])

    def _layer(self, name: str, state: str) -> str:
        graph = self.graph
        mixed = self.linear(f"{name}attention.output.dense", self._attention(name, state))
        state = self.norm(f"{name}attention.output.LayerNorm", graph.op("Add", mixed, state))
        wide = graph.op("Gelu", self.linear(f"{name}intermediate.dense", state))
        narrow = self.linear(f"{name}output.dense", wide)
        return self.norm(f"{name}output.LayerNorm", graph.op("Add", narrow, state))

    def _attention(self, name: str, state: str) -> str:
        """Scaled dot products of every token with every other, per head."""
        graph, heads = self.graph, self.shape.heads
        size = self.shape.hidden // heads
        weight, bias = (
            np.concatenate([self.tensors[f"{name}attention.self.{part}.{kind}"] for part in _PARTS])
            for kind in ("weight", "bias")
        )
        joint = graph.op("MatMul", state, graph.constant(weight.T))
        joint = graph.op("Add", joint, graph.constant(bias))
        joint = graph.op("Reshape", joint, graph.constant([0, 3, heads, size]))
        joint = graph.op("Transpose", joint, perm=(1, 2, 0, 3))
        names = tuple(f"{name}{part}" for part in _PARTS)
        query, key, value = graph.ops("Split", joint, to=names, axis=0, num_outputs=3)
        query = graph.op("Mul", query, graph.constant(1 / math.sqrt(size)))
        key = graph.op("Transpose", key, perm=(0, 1, 3, 2))
        shares = graph.op("Softmax", graph.op("MatMul", query, key), axis=-1)
        mixed = graph.op("Transpose", graph.op("MatMul", shares, value), perm=(0, 2, 1, 3))
        return graph.op("Reshape", mixed, graph.constant([-1, self.shape.hidden]))


_PARTS = ("query", "key", "value")


def _states(builder: _Builder, hidden: str) -> None:
    graph = builder.graph
    graph.op("Unsqueeze", hidden, graph.constant([0]), to=OUTPUT)
    graph.output(OUTPUT, (1, "length", builder.shape.hidden))


def _term_weights(builder: _Builder, hidden: str) -> None:
    graph, tensors = builder.graph, builder.tensors
    name = "cls.predictions."
    state = graph.op("Gelu", builder.linear(f"{name}transform.dense", hidden))
    state = builder.norm(f"{name}transform.LayerNorm", state)
    columns = graph.op("Transpose", state, perm=(1, 0))
    tied = tensors["embeddings.word_embeddings.weight"]
    table = tensors.get(f"{name}decoder.weight", tied)
    bias = tensors.get(f"{name}bias", tensors.get(f"{name}decoder.bias"))
    if bias is None:
        raise KeyError(f"{name}bias")
    pieces = [
        graph.op(
            "ReduceMax",
            graph.op("MatMul", graph.constant(table[at : at + _TERMS_AT_ONCE]), columns),
            graph.constant([1]),
            keepdims=0,
        )
        for at in range(0, len(table), _TERMS_AT_ONCE)
    ]
    best = graph.op("Add", graph.op("Concat", *pieces, axis=0), graph.constant(bias))
    weights = graph.op("Log", graph.op("Add", graph.op("Relu", best), graph.constant(1.0)))
    graph.op("Unsqueeze", weights, graph.constant([0]), to=OUTPUT)
    graph.output(OUTPUT, (1, len(table)))


def _score(builder: _Builder, hidden: str) -> None:
    graph = builder.graph
    first = graph.op("Slice", hidden, graph.constant([0]), graph.constant([1]))
    pooled = graph.op("Tanh", builder.linear("pooler.dense", first))
    if len(builder.tensors["classifier.bias"]) != 1:
        raise ValueError("a reranker has one score, not several classes")
    graph.op("Identity", builder.linear("classifier", pooled), to=OUTPUT)
    graph.output(OUTPUT, (1, 1))


_HEADS: dict[Role, Callable[[_Builder, str], None]] = {
    "dense": _states,
    "splade": _term_weights,
    "reranker": _score,
}
