"""How does a model in safetensors become a model for onnxruntime, without torch?

BERT (Devlin et al. 2019) is a post-norm transformer. RoBERTa and DistilBERT have its layers under
other names (``families.py``); MPNet (Song et al. 2020) adds a bias to attention that depends on how
far apart two tokens are; ModernBERT has layers of its own (``modern_bert.py``). SPLADE's head is
Formal et al. 2021, ``log(1 + relu(logits))`` with the maximum over all tokens, special ones
included. Each row runs alone, so there is no padding and no mask. The graph does less work than the
usual export:

- query, key and value are one product;
- the maximum over tokens is taken before bias, relu and logarithm, which are all monotonic;
- the vocabulary is split into pieces whose products stay in the CPU cache, with tokens as the last
  axis, so that the maximum runs along memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from assay.encode.cards import Role
from assay.encode.families import ACTIVATIONS, Shape, bert_names
from assay.encode.onnx_graph import Graph
from assay.encode.tensors import Tensors
from assay.errors import FormatError

OUTPUT = "result"
_TERMS_AT_ONCE = 1000
_FARTHEST = 128  # tokens apart; beyond, the bias of MPNet stays the same
_BIAS = "encoder.relative_attention_bias.weight"


def build_model(tensors: Tensors, shape: Shape, role: Role, source: str) -> bytes:
    """A model that turns one row of tokens into hidden states, term weights or a score."""
    from assay.encode.modern_bert import ModernBuilder

    builder = (ModernBuilder if shape.family.modern else Builder)(tensors, shape, source)
    try:
        hidden = builder.transformer()
        _HEADS[role](builder, hidden)
    except KeyError as error:
        raise FormatError(f"the weights {error} are missing", source=source) from error
    except ValueError as error:
        raise FormatError(f"the weights do not fit together: {error}", source=source) from error
    return builder.graph.build()


class Builder:
    """Builds the graph from weights named as in the transformers library."""

    def __init__(self, tensors: Tensors, shape: Shape, source: str) -> None:
        self.graph = Graph()
        self.shape = shape
        self._source = source
        self.tensors = bert_names(tensors, shape.family)

    def transformer(self) -> str:
        """Hidden states, one row per token."""
        ids = self._ids("input_ids")
        length = self.graph.op("Shape", ids)
        state = self._embedding(ids, length)
        bias = self._relative(length) if _BIAS in self.tensors else ""
        for layer in range(self.shape.layers):
            state = self._layer(f"encoder.layer.{layer}.", state, bias)
        return state

    def linear(self, name: str, state: str) -> str:
        """A product with a weight matrix, plus its bias; only ModernBERT may have none."""
        graph = self.graph
        product = graph.op("MatMul", state, graph.constant(self.tensors[f"{name}.weight"].T))
        if self.shape.family.modern and f"{name}.bias" not in self.tensors:
            return product
        return graph.op("Add", product, graph.constant(self.tensors[f"{name}.bias"]))

    def norm(self, name: str, state: str) -> str:
        """Layer normalisation over the last axis."""
        weight = self.tensors[f"{name}.weight"]
        if self.shape.family.modern:
            bias = self.tensors.get(f"{name}.bias", np.zeros_like(weight))
        else:
            bias = self.tensors[f"{name}.bias"]
        given = (state, self.graph.constant(weight), self.graph.constant(bias))
        return self.graph.op("LayerNormalization", *given, axis=-1, epsilon=self.shape.epsilon)

    def activated(self, state: str, name: str = "") -> str:
        """The activation of feed-forward layers, or the one of that name."""
        kind, options = ACTIVATIONS[name or self.shape.activation]
        return self.graph.op(kind, state, **options)

    def table(self, name: str) -> str:
        """A table of embeddings."""
        return self.graph.constant(self.tensors[f"embeddings.{name}_embeddings.weight"])

    def split(self, joint: str) -> list[str]:
        """Query, key and value by head, from rows that hold all three."""
        graph, heads = self.graph, self.shape.heads
        size = self.shape.hidden // heads
        joint = graph.op("Reshape", joint, graph.constant([0, 3, heads, size]))
        joint = graph.op("Transpose", joint, perm=(1, 2, 0, 3))
        return graph.several("Split", joint, results=3, axis=0, num_outputs=3)

    def mix(self, query: str, key: str, value: str, bias: str = "") -> str:
        """The values of all tokens, by their shares in each; ``bias`` is added before."""
        graph = self.graph
        key = graph.op("Transpose", key, perm=(0, 1, 3, 2))
        products = graph.op("MatMul", query, key)
        if bias:
            products = graph.op("Add", products, bias)
        shares = graph.op("Softmax", products, axis=-1)
        mixed = graph.op("Transpose", graph.op("MatMul", shares, value), perm=(0, 2, 1, 3))
        return graph.op("Reshape", mixed, graph.constant([-1, self.shape.hidden]))

    def distances(self, length: str) -> str:
        """How far each token (column) stands behind each other one (row)."""
        graph = self.graph
        every = graph.constant(list(range(self.shape.positions)))
        places = graph.op("Slice", every, graph.constant([0]), length)
        across = graph.op("Unsqueeze", places, graph.constant([0]))
        down = graph.op("Unsqueeze", places, graph.constant([1]))
        return graph.op("Sub", across, down)

    def _ids(self, name: str) -> str:
        return self.graph.op("Reshape", self.graph.input_ids(name), self.graph.constant([-1]))

    def _embedding(self, ids: str, length: str) -> str:
        graph, family = self.graph, self.shape.family
        total = graph.op("Gather", self.table("word"), ids)
        if family.typed:
            kinds = graph.op("Gather", self.table("token_type"), self._ids("token_type_ids"))
            total = graph.op("Add", total, kinds)
        elif "embeddings.token_type_embeddings.weight" in self.tensors:  # one kind for all
            only = self.tensors["embeddings.token_type_embeddings.weight"][0]
            total = graph.op("Add", total, graph.constant(only))
        table = self.tensors["embeddings.position_embeddings.weight"][self.shape.skipped :]
        if len(table) < self.shape.positions:
            raise ValueError(f"there are {len(table)} positions, not {self.shape.positions}")
        places = graph.op("Slice", graph.constant(table), graph.constant([0]), length)
        return self.norm("embeddings.LayerNorm", graph.op("Add", total, places))

    def _layer(self, name: str, state: str, bias: str) -> str:
        graph = self.graph
        mixed = self.linear(f"{name}attention.output.dense", self._attention(name, state, bias))
        state = self.norm(f"{name}attention.output.LayerNorm", graph.op("Add", mixed, state))
        wide = self.activated(self.linear(f"{name}intermediate.dense", state))
        narrow = self.linear(f"{name}output.dense", wide)
        return self.norm(f"{name}output.LayerNorm", graph.op("Add", narrow, state))

    def _attention(self, name: str, state: str, bias: str) -> str:
        """Scaled dot products of every token with every other, per head."""
        graph, size = self.graph, self.shape.hidden // self.shape.heads
        weight, offset = (
            np.concatenate([self.tensors[f"{name}attention.self.{part}.{kind}"] for part in _PARTS])
            for kind in ("weight", "bias")
        )
        joint = graph.op("MatMul", state, graph.constant(weight.T))
        query, key, value = self.split(graph.op("Add", joint, graph.constant(offset)))
        query = graph.op("Mul", query, graph.constant(1 / math.sqrt(size)))
        return self.mix(query, key, value, bias)

    def _relative(self, length: str) -> str:
        """The bias of MPNet for every pair of tokens, per head."""
        graph, most = self.graph, self.shape.positions - 1
        table = self.tensors[_BIAS]
        apart = np.arange(-most, most + 1)
        by_distance = graph.constant(table[_buckets(apart, len(table))])
        places = graph.op("Add", self.distances(length), graph.constant([most]))
        return graph.op("Transpose", graph.op("Gather", by_distance, places), perm=(2, 0, 1))


_PARTS = ("query", "key", "value")


def _buckets(apart: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Raffel et al. 2020: half of the buckets per direction, exact near by, logarithmic beyond."""
    half = count // 2
    exact = half // 2
    far = np.abs(apart)
    ratio = np.log(np.maximum(far, 1).astype(np.float32) / np.float32(exact))
    grown = ratio / np.float32(math.log(_FARTHEST / exact)) * np.float32(half - exact)
    large = np.minimum(exact + grown.astype(np.int64), half - 1)
    found: NDArray[np.int64] = (apart > 0) * half + np.where(far < exact, far, large)
    return found


def _states(builder: Builder, hidden: str) -> None:
    graph = builder.graph
    graph.op("Unsqueeze", hidden, graph.constant([0]), to=OUTPUT)
    graph.output(OUTPUT, (1, "length", builder.shape.hidden))


def _transformed(builder: Builder, hidden: str) -> str:
    """What the heads of masked tokens, and those of ModernBERT's rerankers, begin with."""
    name, shape = "cls.predictions.transform.", builder.shape
    activation = shape.head_activation if shape.family.modern else shape.activation
    state = builder.activated(builder.linear(f"{name}dense", hidden), activation)
    return builder.norm(f"{name}LayerNorm", state)


def _term_weights(builder: Builder, hidden: str) -> None:
    graph, tensors = builder.graph, builder.tensors
    name = "cls.predictions."
    columns = graph.op("Transpose", _transformed(builder, hidden), perm=(1, 0))
    tied = tensors["embeddings.word_embeddings.weight"]
    table = tensors.get(f"{name}decoder.weight", tied)
    bias = tensors.get(f"{name}bias", tensors.get(f"{name}decoder.bias"))
    if bias is None and builder.shape.family.modern:
        bias = np.zeros(len(table), np.float32)
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


def _score(builder: Builder, hidden: str) -> None:
    graph, shape = builder.graph, builder.shape
    if shape.first_is_read:
        read = graph.op("Slice", hidden, graph.constant([0]), graph.constant([1]))
    else:
        read = graph.op("ReduceMean", hidden, graph.constant([0]), keepdims=1)
    if shape.family.modern:
        pooled = _transformed(builder, read)
    else:
        pooled = graph.op(shape.family.pooled, builder.linear("pooler.dense", read))
    if len(builder.tensors["classifier.weight"]) != 1:
        raise ValueError("a reranker has one score, not several classes")
    graph.op("Identity", builder.linear("classifier", pooled), to=OUTPUT)
    graph.output(OUTPUT, (1, 1))


_HEADS: dict[Role, Callable[[Builder, str], None]] = {
    "dense": _states,
    "splade": _term_weights,
    "reranker": _score,
}
