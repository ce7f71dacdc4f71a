"""How do trained weights become one small file, and a graph for onnxruntime at either speed?

    python -m training.export OUT.safetensors PIECE.npz [PIECE.npz ...]
    python -m training.export OUT.safetensors FIRST.safetensors OTHER.safetensors [...]

The first form joins the pieces of one training, the second takes the mean of finished files.

Matrices are stored as int8 with one scale per output, embeddings with one per row; the table of
embeddings serves as input and as decoder. The file holds no graph: ``graph`` builds one from the
arrays for the whole depth or for the inner exit, so both speeds share the file. ``float_graph``
does the same without quantising, to compare. A graph reads one row of token ids, special ones
included, and gives

- ``dense``: 384 numbers, at unit length;
- ``terms``: at most 160 vocabulary ids, heaviest first;
- ``weights``: their weights; those that are 0 are to be left out.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LAYERS, WIDTH, HEADS = 12, 384, 12
POSITIONS, TERMS, SPECIAL, NOTHING = 48, 160, 1000, -1e4
EXITS = (6, 12)
INNER_VECTOR = "heads.0.dense.weight"
OPERATORS, IR_VERSION = 20, 9

Arrays = dict[str, NDArray[Any]]


def gathered(paths: list[Path]) -> Arrays:
    """Quantised weights from the pieces in which they came."""
    arrays: Arrays = {}
    for path in paths:
        arrays |= dict(np.load(path))
    return arrays


def averaged(states: list[Arrays]) -> Arrays:
    """The mean of several trainings from the same start.

    The inner exit's turn to a vector is the first one's: others may have pooled in another way.
    """
    mean = {
        name: first if first.dtype == np.int32 else np.mean([one[name] for one in states], axis=0)
        for name, first in states[0].items()
    }
    return mean | {INNER_VECTOR: states[0][INNER_VECTOR]}


def rows_as_int8(matrix: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A matrix as whole numbers with one scale a row."""
    scale = np.maximum(np.abs(matrix).max(axis=1), 1e-9) / 127
    return np.rint(matrix / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def packed(state: Arrays) -> Arrays:
    """What ships: matrices as int8, the rest in half precision."""
    arrays: Arrays = {}
    for name, array in state.items():
        if array.ndim == 2 and "places" not in name:
            arrays[name], arrays[f"{name}.scale"] = rows_as_int8(array)
        elif array.dtype == np.int32:
            arrays[name] = array.astype(np.uint16)
        else:
            arrays[name] = array.astype(np.float16)
    return arrays


def unpacked(arrays: Arrays) -> Arrays:
    """The floats that packed arrays stand for."""
    state: Arrays = {}
    for name, array in arrays.items():
        if name.endswith(".scale"):
            continue
        if array.dtype == np.int8:
            state[name] = array.astype(np.float32) * arrays[f"{name}.scale"][:, None]
        else:
            state[name] = array.astype(np.int32 if array.dtype == np.uint16 else np.float32)
    return state


class _Builder:
    """Collects the nodes of a graph."""

    def __init__(self, arrays: Arrays, *, quantised: bool) -> None:
        from onnx import helper, numpy_helper

        self._helper, self._to_tensor = helper, numpy_helper.from_array
        self._arrays, self._quantised = arrays, quantised
        self._nodes: list[Any] = []
        self._stored: dict[str, Any] = {}
        self._count = 0

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """Add a node; the names of its results."""
        self._count += 1
        names = [f"v{self._count}.{at}" for at in range(outputs)]
        self._nodes.append(self._helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value: Any, kind: Any = np.float32, name: str = "") -> str:
        """Store an array once."""
        name = name or f"c{len(self._stored)}"
        if name not in self._stored:
            self._stored[name] = self._to_tensor(np.ascontiguousarray(value, kind), name)
        return name

    def plain(self, name: str) -> str:
        """A stored vector."""
        return self.constant(self._arrays[name], name=name)

    def linear(self, name: str, state: str, *, bias: bool = True) -> str:
        """A product with a weight matrix, plus its bias."""
        weight = self._arrays[f"{name}.weight"]
        if self._quantised:
            whole = self.constant(weight.T, np.int8, f"{name}.weight")
            scale = self.constant(self._arrays[f"{name}.weight.scale"])
            product = self.product(state, whole, scale)
        else:
            product = self.op("MatMul", state, self.constant(weight.T, name=f"{name}.weight"))
        return self.op("Add", product, self.plain(f"{name}.bias")) if bias else product

    def product(self, state: str, whole: str, scale: str) -> str:
        """A product of states, quantised as they come, with a quantised matrix."""
        made, size, zero = self.op("DynamicQuantizeLinear", state, outputs=3)
        total = self.op("Cast", self.op("MatMulInteger", made, whole, zero), to=1)
        return self.op("Mul", total, self.op("Mul", size, scale))

    def norm(self, name: str, state: str, epsilon: float) -> str:
        """Layer normalisation."""
        weight, bias = self.plain(f"{name}.weight"), self.plain(f"{name}.bias")
        return self.op("LayerNormalization", state, weight, bias, axis=-1, epsilon=epsilon)

    def rows(self, ids: str) -> str:
        """The embeddings of tokens."""
        name = "body.words.weight"
        table = self._arrays[name]
        if not self._quantised:
            return self.op("Gather", self.constant(table, name=name), ids)
        found = self.op("Cast", self.op("Gather", self.constant(table, np.int8, name), ids), to=1)
        scale = self.constant(self._arrays[f"{name}.scale"][:, None], name=f"{name}.scale")
        return self.op("Mul", found, self.op("Gather", scale, ids))

    def layer(self, at: int, state: str) -> str:
        """One transformer layer over the rows of one text."""
        name = f"body.layers.{at}."
        size = WIDTH // HEADS
        joint = self.linear(f"{name}qkv", state)
        joint = self.op("Reshape", joint, self.constant([0, 3, HEADS, size], np.int64, "split"))
        joint = self.op("Transpose", joint, perm=[1, 2, 0, 3])
        query, key, value = self.op("Split", joint, outputs=3, axis=0, num_outputs=3)
        query = self.op("Mul", query, self.constant(size**-0.5, name="root"))
        key = self.op("Transpose", key, perm=[0, 1, 3, 2])
        shares = self.op("Softmax", self.op("MatMul", query, key), axis=-1)
        mixed = self.op("Transpose", self.op("MatMul", shares, value), perm=[0, 2, 1, 3])
        mixed = self.op("Reshape", mixed, self.constant([-1, WIDTH], np.int64, "join"))
        state = self.op("Add", state, self.linear(f"{name}out", mixed))
        state = self.norm(f"{name}norm", state, 1e-12)
        wide = self.op("Gelu", self.linear(f"{name}wide", state))
        state = self.op("Add", state, self.linear(f"{name}narrow", wide))
        return self.norm(f"{name}norm2", state, 1e-12)

    def build(self, inputs: list[Any], outputs: list[Any]) -> bytes:
        """The model's bytes."""
        graph = self._helper.make_graph(
            self._nodes, "assay-bio", inputs, outputs, list(self._stored.values())
        )
        opset = [self._helper.make_opsetid("", OPERATORS)]
        model = self._helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)
        data: bytes = model.SerializeToString()
        return data


def graph(
    arrays: Arrays, depth: int = LAYERS, *, sparse: bool = True, positions: int = POSITIONS
) -> bytes:
    """The quantised model; a query needs no ``sparse`` outputs."""
    return _graph(_Builder(arrays, quantised=True), arrays, depth, sparse, positions)


def float_graph(
    state: Arrays, depth: int = LAYERS, *, sparse: bool = True, positions: int = POSITIONS
) -> bytes:
    """The same model without quantising."""
    return _graph(_Builder(state, quantised=False), state, depth, sparse, positions)


def _graph(make: _Builder, arrays: Arrays, depth: int, sparse: bool, positions: int) -> bytes:
    from onnx import TensorProto, helper

    ids = make.op("Reshape", "input_ids", make.constant([-1], np.int64, "flat"))
    length = make.op("Shape", ids)
    words = make.rows(ids)
    places = make.op(
        "Slice", make.plain("body.places.weight"), make.constant([0], np.int64), length
    )
    state = make.norm("body.norm", make.op("Add", words, places), 1e-12)
    for at in range(depth):
        state = make.layer(at, state)
    name = f"heads.{EXITS.index(depth)}."
    outputs = []
    if depth == LAYERS:
        none, one = make.constant([0], np.int64), make.constant([1], np.int64)
        pooled = make.op("Slice", state, none, one)
    else:
        pooled = make.op("ReduceMean", state, make.constant([0], np.int64), keepdims=1)
    turned = make.linear(f"{name}dense", pooled, bias=False)
    size = make.op("ReduceL2", turned, make.constant([1], np.int64), keepdims=1)
    outputs.append((make.op("Div", turned, size), TensorProto.FLOAT, [1, WIDTH], "dense"))
    if sparse:
        terms, weights = _terms(make, arrays, name, state, ids, words, positions)
        outputs.append((terms, TensorProto.INT64, [1, TERMS], "terms"))
        outputs.append((weights, TensorProto.FLOAT, [1, TERMS], "weights"))
    for found, _, _, label in outputs:
        make._nodes.append(helper.make_node("Identity", [found], [label]))
    return make.build(
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "length"])],
        [helper.make_tensor_value_info(label, kind, shape) for _, kind, shape, label in outputs],
    )


def _terms(  # noqa: PLR0917 - the states that one graph passes on
    make: _Builder, arrays: Arrays, name: str, state: str, ids: str, words: str, positions: int
) -> tuple[str, str]:
    """The heaviest terms: tokens weigh themselves, and the best of them weigh others."""
    turned = make.norm(f"{name}norm", make.op("Gelu", make.linear(f"{name}turn", state)), 1e-5)
    bias = make.plain(f"{name}bias")
    axis = make.constant([1], np.int64)
    own = make.op("ReduceSum", make.op("Mul", turned, words), axis, keepdims=0)
    own = make.op("Add", own, make.op("Gather", bias, ids))
    special = make.op("Less", ids, make.constant(SPECIAL, np.int64))
    own = make.op("Where", special, make.constant(NOTHING), own)
    # the first token, which stands for the whole text, always has a say
    whole = make.constant([0], np.int64)
    forced = make.op("ScatterElements", own, whole, make.constant([1e6]), axis=0)
    count = make.op("Min", make.op("Shape", ids), make.constant([positions + 1], np.int64))
    best, chosen = make.op("TopK", forced, count, outputs=2, axis=0)
    picked = make.op("Gather", turned, chosen)
    expansions = arrays["expansions"].astype(np.int64)
    table = arrays["body.words.weight"]
    if make._quantised:
        stored = make.constant(table, np.int8, "body.words.weight")
        which = make.constant(expansions, np.int64, "expansions")
        decoder = make.op("Transpose", make.op("Gather", stored, which), perm=[1, 0])
        scale = make.constant(arrays["body.words.weight.scale"][expansions])
        scores = make.product(picked, decoder, scale)
    else:
        scores = make.op("MatMul", picked, make.constant(table[expansions].T))
        which = make.constant(expansions, np.int64, "expansions")
    real = make.op("Greater", best, make.constant(NOTHING / 2))
    real = make.op("Unsqueeze", real, axis)
    scores = make.op("Where", real, scores, make.constant(NOTHING))
    scores = make.op("ReduceMax", scores, make.constant([0], np.int64), keepdims=0)
    scores = make.op("Add", scores, make.op("Gather", bias, which))
    empty = make.constant(np.full(len(table), NOTHING))
    full = make.op("ScatterElements", empty, which, scores, axis=0)
    full = make.op("ScatterElements", full, ids, own, axis=0, reduction="max")
    top, terms = make.op("TopK", full, make.constant([TERMS], np.int64), outputs=2, axis=0)
    weights = make.op("Log", make.op("Add", make.op("Relu", top), make.constant(1.0)))
    row = make.constant([0], np.int64)
    return make.op("Unsqueeze", terms, row), make.op("Unsqueeze", weights, row)


def save(path: Path, arrays: Arrays) -> None:
    """Write the shipped file."""
    from safetensors.numpy import save_file

    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path)


def load(path: Path) -> Arrays:
    """Read the shipped file."""
    from safetensors.numpy import load_file

    return dict(load_file(path))


def main(arguments: list[str]) -> None:
    """Put the pieces of quantised weights, or the mean of several files, into one file."""
    target, parts = Path(arguments[0]), [Path(each) for each in arguments[1:]]
    if parts[0].suffix == ".safetensors":
        arrays = packed(averaged([unpacked(load(part)) for part in parts]))
    else:
        arrays = gathered(parts)
    save(target, arrays)
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB, {len(arrays)} arrays")


if __name__ == "__main__":
    main(sys.argv[1:])
