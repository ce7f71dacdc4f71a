"""What does assay's own encoder compute, as a graph for onnxruntime?

One pass of a BERT gives two signals of a passage:

- dense: the first token's state, or on the short way the mean of all states, turned and at unit
  length;
- sparse: weights of vocabulary terms, ``log(1 + relu(max))``. Every token weighs itself by the
  product of its turned state with its own embedding. The tokens that weigh themselves most, and the
  first one, also weigh the terms of ``expansions``. The ``TERMS`` heaviest terms are kept.

One file serves two speeds: the short way has the first ``SHARED`` layers of the long one and then a
few of its own. The graph is built for the depth that is asked for. A query needs no sparse outputs,
since its terms have learned weights.

Matrices are stored as 8-bit numbers with a scale per output. Products with them are computed in
8 bits, or in floats, which is faster on processors without instructions for the former.
Each row runs alone, so there is no padding and no mask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.encode.onnx_graph import WHOLE, Graph
from assay.encode.tensors import Arrays
from assay.errors import FormatError

Products: TypeAlias = Literal["int8", "float"]

SHORT, LONG = 6, 12  # the layers of each way
WAYS = (SHORT, LONG)
SHARED = 3  # layers that both ways have
HEAD_SIZE = 32
POSITIONS = 48  # tokens that weigh other terms, beside the first
TERMS = 160  # kept of a passage
SPECIAL = 1000  # ids below stand for no word of a text
NOTHING = -1e4
DENSE, TERM_IDS, WEIGHTS = "dense", "terms", "weights"
ASKED = "asked"
SIZES = ".sizes"  # ends the name of what states are divided by before a product
_WORDS, _PLACES, _EXPANSIONS = "body.words.weight", "body.places.weight", "expansions"


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of an encoder, from its arrays."""

    vocabulary: int
    width: int
    places: int


def sizes(arrays: Arrays, source: str) -> Sizes:
    """The sizes of these arrays; an error if they are not those of an encoder."""
    try:
        vocabulary, width = arrays[_WORDS].shape
        places = len(arrays[_PLACES])
        asked = arrays[ASKED].shape == (vocabulary,)
    except (KeyError, ValueError) as error:
        raise FormatError(f"the weights {error} are missing", source=source) from error
    if width % HEAD_SIZE or not asked:
        raise FormatError("the weights do not fit together", source=source)
    return Sizes(vocabulary, width, places)


def layers(depth: int) -> list[str]:
    """What the names of the weights of each layer begin with."""
    own = range(depth - SHARED) if depth == SHORT else ()
    shared = range(SHARED if own else depth)
    return [*(f"body.layers.{at}." for at in shared), *(f"body.short.{at}." for at in own)]


def build(
    arrays: Arrays, depth: int, source: str, *, sparse: bool = True, products: Products = "int8"
) -> bytes:
    """The model for one row of token ids, special ones included, with this many layers.

    Its results are ``dense`` and, unless they are left out, ``terms`` (ids, heaviest first) and
    ``weights``, of which those that are 0 stand for no term.
    """
    if depth not in WAYS:
        raise FormatError(f"there is no way of {depth} layers", source=source)
    try:
        return Builder(arrays, products, sizes(arrays, source)).build(depth, sparse)
    except KeyError as error:
        raise FormatError(f"the weights {error} are missing", source=source) from error
    except (ValueError, IndexError) as error:
        raise FormatError(f"the weights do not fit together: {error}", source=source) from error


class Builder:
    """Collects the operations of one graph; what reads two texts shares its body (``adapter``)."""

    def __init__(self, arrays: Arrays, products: Products, shape: Sizes) -> None:
        self.graph = Graph()
        self._arrays = arrays
        self._products = products
        self._shape = shape
        self._stored: dict[str, str] = {}

    def build(self, depth: int, sparse: bool) -> bytes:
        """The graph of the encoder."""
        ids = self.ids("input_ids")
        words = self._rows(ids)
        state = self.body(ids, words, depth)
        head = f"heads.{WAYS.index(depth)}."
        self._dense(head, state, averaged=depth == SHORT)
        if sparse:
            self._terms(head, state, ids, words)
        return self.graph.build()

    def build_reader(self, depth: int, outputs: str) -> bytes:
        """The graph of a model that reads two texts as one row; ``outputs`` is what it names."""
        graph = self.graph
        ids = self.ids("input_ids")
        kinds = graph.op("Gather", self._plain("kinds"), self.ids("token_type_ids"))
        state = self.body(ids, graph.op("Add", self._rows(ids), kinds), depth)
        first = graph.op("Slice", state, graph.constant([0]), graph.constant([1]))
        graph.op("Identity", self._linear("score", first), to=outputs)
        graph.output(outputs, (1, len(self._arrays["score.bias"])))
        return graph.build()

    # Parts of a transformer

    def ids(self, name: str) -> str:
        """An input of one row."""
        graph = self.graph
        return graph.op("Reshape", graph.input_ids(name), graph.constant([-1]))

    def body(self, ids: str, words: str, depth: int) -> str:
        """The states of all tokens after the last layer."""
        graph = self.graph
        places = graph.op(
            "Slice", self._plain(_PLACES), graph.constant([0]), graph.op("Shape", ids)
        )
        state = self._norm("body.norm", graph.op("Add", words, places), 1e-12)
        for name in layers(depth):
            state = self._layer(name, state)
        return state

    def _plain(self, name: str) -> str:
        """A stored array of floats."""
        if name not in self._stored:
            self._stored[name] = self.graph.constant(self._arrays[name])
        return self._stored[name]

    def _linear(self, name: str, state: str, *, bias: bool = True) -> str:
        """A product with a weight matrix, plus its bias."""
        graph, weight = self.graph, self._arrays[f"{name}.weight"]
        sizes = self._arrays.get(f"{name}.weight{SIZES}")
        if sizes is not None:
            state = graph.op("Mul", state, graph.constant(1 / sizes))
        if weight.dtype != np.int8:
            product = graph.op("MatMul", state, graph.constant(weight.T))
        elif self._products == "float":
            floats = weight * self._scale(f"{name}.weight")[:, None]
            product = graph.op("MatMul", state, graph.constant(floats.T))
        else:
            scale = graph.constant(self._scale(f"{name}.weight"))
            product = self._whole_product(state, graph.constant(weight.T), scale)
        return graph.op("Add", product, self._plain(f"{name}.bias")) if bias else product

    def _scale(self, name: str) -> NDArray[np.float32]:
        scale: NDArray[np.float32] = self._arrays[f"{name}.scale"]
        return scale

    def _whole_product(self, state: str, whole: str, scale: str) -> str:
        """A product of states, quantised as they come, with a quantised matrix."""
        graph = self.graph
        made, size, zero = graph.several("DynamicQuantizeLinear", state, results=3)
        total = graph.floats(graph.op("MatMulInteger", made, whole, zero))
        return graph.op("Mul", total, graph.op("Mul", size, scale))

    def _norm(self, name: str, state: str, epsilon: float) -> str:
        weight, bias = self._plain(f"{name}.weight"), self._plain(f"{name}.bias")
        return self.graph.op("LayerNormalization", state, weight, bias, axis=-1, epsilon=epsilon)

    def _rows(self, ids: str) -> str:
        """The embeddings of tokens."""
        graph = self.graph
        found = graph.op("Gather", self._plain(_WORDS), ids)
        if self._arrays[_WORDS].dtype != np.int8:
            return found
        scale = graph.constant(self._scale(_WORDS)[:, None])
        return graph.op("Mul", graph.floats(found), graph.op("Gather", scale, ids))

    def _layer(self, name: str, state: str) -> str:
        """One post-norm transformer layer."""
        graph = self.graph
        mixed = self._linear(f"{name}out", self._attention(name, state))
        state = self._norm(f"{name}norm", graph.op("Add", state, mixed), 1e-12)
        wide = graph.op("Gelu", self._linear(f"{name}wide", state))
        narrow = self._linear(f"{name}narrow", wide)
        return self._norm(f"{name}norm2", graph.op("Add", state, narrow), 1e-12)

    def _attention(self, name: str, state: str) -> str:
        """Scaled dot products of every token with every other, per head."""
        graph, width = self.graph, self._shape.width
        joint = self._linear(f"{name}qkv", state)
        split = graph.constant([0, 3, width // HEAD_SIZE, HEAD_SIZE])
        joint = graph.op("Transpose", graph.op("Reshape", joint, split), perm=(1, 2, 0, 3))
        query, key, value = graph.several("Split", joint, results=3, axis=0, num_outputs=3)
        query = graph.op("Mul", query, graph.constant(HEAD_SIZE**-0.5))
        key = graph.op("Transpose", key, perm=(0, 1, 3, 2))
        shares = graph.op("Softmax", graph.op("MatMul", query, key), axis=-1)
        mixed = graph.op("Transpose", graph.op("MatMul", shares, value), perm=(0, 2, 1, 3))
        return graph.op("Reshape", mixed, graph.constant([-1, width]))

    # The two signals

    def _dense(self, head: str, state: str, *, averaged: bool) -> None:
        graph = self.graph
        if averaged:
            pooled = graph.op("ReduceMean", state, graph.constant([0]), keepdims=1)
        else:
            pooled = graph.op("Slice", state, graph.constant([0]), graph.constant([1]))
        turned = self._linear(f"{head}dense", pooled, bias=False)
        length = graph.op("ReduceL2", turned, graph.constant([1]), keepdims=1)
        graph.op("Div", turned, length, to=DENSE)
        graph.output(DENSE, (1, self._shape.width))

    def _terms(self, head: str, state: str, ids: str, words: str) -> None:
        graph = self.graph
        turned = graph.op("Gelu", self._linear(f"{head}turn", state))
        turned = self._norm(f"{head}norm", turned, 1e-5)
        bias = self._plain(f"{head}bias")
        own = self._own(turned, ids, words, bias)
        expansions = graph.constant(self._arrays[_EXPANSIONS].astype(np.int64).tolist())
        others = graph.op(
            "Add", self._others(turned, own, ids, expansions), graph.op("Gather", bias, expansions)
        )
        empty = graph.constant(np.full(self._shape.vocabulary, NOTHING, np.float32))
        full = graph.op("ScatterElements", empty, expansions, others, axis=0)
        full = graph.op("ScatterElements", full, ids, own, axis=0, reduction="max")
        kept = graph.constant([min(TERMS, self._shape.vocabulary)])
        top, terms = graph.several("TopK", full, kept, results=2, axis=0)
        weights = graph.op("Log", graph.op("Add", graph.op("Relu", top), graph.constant(1.0)))
        for found, name in ((terms, TERM_IDS), (weights, WEIGHTS)):
            graph.op("Unsqueeze", found, graph.constant([0]), to=name)
        graph.output(TERM_IDS, (1, "kept"), WHOLE)
        graph.output(WEIGHTS, (1, "kept"))

    def _own(self, turned: str, ids: str, words: str, bias: str) -> str:
        """How much each token weighs itself; special ones weigh nothing."""
        graph = self.graph
        own = graph.op("ReduceSum", graph.op("Mul", turned, words), graph.constant([1]), keepdims=0)
        own = graph.op("Add", own, graph.op("Gather", bias, ids))
        special = graph.op("Less", ids, graph.constant([SPECIAL]))
        return graph.op("Where", special, graph.constant(NOTHING), own)

    def _others(self, turned: str, own: str, ids: str, expansions: str) -> str:
        """How much the heaviest tokens, and the first, weigh the terms of ``expansions``."""
        graph, first = self.graph, self.graph.constant([0])
        certain = graph.constant(np.array([1e6], np.float32))
        forced = graph.op("ScatterElements", own, first, certain, axis=0)
        count = graph.op("Min", graph.op("Shape", ids), graph.constant([POSITIONS + 1]))
        best, chosen = graph.several("TopK", forced, count, results=2, axis=0)
        picked = graph.op("Gather", turned, chosen)
        scores = self._products_with_words(picked, expansions)
        real = graph.op("Greater", best, graph.constant(NOTHING / 2))
        real = graph.op("Unsqueeze", real, graph.constant([1]))
        scores = graph.op("Where", real, scores, graph.constant(NOTHING))
        return graph.op("ReduceMax", scores, first, keepdims=0)

    def _products_with_words(self, picked: str, expansions: str) -> str:
        graph, table = self.graph, self._arrays[_WORDS]
        which = self._arrays[_EXPANSIONS]
        if table.dtype != np.int8:
            return graph.op("MatMul", picked, graph.constant(table[which].T))
        decoder = graph.op("Gather", self._plain(_WORDS), expansions)
        decoder = graph.op("Transpose", decoder, perm=(1, 0))
        return self._whole_product(picked, decoder, graph.constant(self._scale(_WORDS)[which]))
