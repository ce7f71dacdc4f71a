"""What is done to a vector after pooling?

Models of sentence-transformers may end in dense layers, layer norms and normalisation, in any
order. A card lists them as steps: ``dense:FOLDER``, ``norm:FOLDER`` and ``unit``, where the folder
holds the weights, and ``first:N``, which keeps the first N numbers (``truncate_dim``). What a step
computes is read from its files; anything unknown is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.encode.model_json import json_object
from assay.encode.tensors import Tensors, read_tensors
from assay.errors import FormatError
from assay.stats.distributions import normal_cdf

Row: TypeAlias = NDArray[np.float32]
Head: TypeAlias = Callable[[Row], Row]

UNIT, FIRST = "unit", "first"
WEIGHTS, CONFIG = "model.safetensors", "config.json"
_EPSILON = 1e-5  # of torch.nn.LayerNorm


def _tanh(x: Row) -> Row:
    return np.tanh(x)


def _relu(x: Row) -> Row:
    return np.maximum(x, np.float32(0))


def _sigmoid(x: Row) -> Row:
    found: Row = (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)
    return found


def _gelu(x: Row) -> Row:
    wide = x.astype(np.float64)
    below = np.array([normal_cdf(value) for value in wide.ravel().tolist()]).reshape(wide.shape)
    found: Row = (wide * below).astype(np.float32)
    return found


def _same(x: Row) -> Row:
    return x


ACTIVATIONS: dict[str, Head] = {
    "Identity": _same,
    "Tanh": _tanh,
    "ReLU": _relu,
    "GELU": _gelu,
    "Sigmoid": _sigmoid,
}
"""By the last part of the name that a dense layer states."""


def files_of(heads: tuple[str, ...]) -> tuple[str, ...]:
    """The files that the steps are read from."""
    return tuple(
        f"{folder}/{name}"
        for kind, _, folder in (head.partition(":") for head in heads)
        if folder and kind != FIRST
        for name in ((CONFIG, WEIGHTS) if kind == "dense" else (WEIGHTS,))
    )


def read_heads(heads: tuple[str, ...], contents: Mapping[str, bytes]) -> tuple[Head, ...]:
    """The steps in order, from the contents of their files."""
    found: list[Head] = []
    for head in heads:
        kind, _, folder = head.partition(":")
        if kind == UNIT:
            found.append(_unit)
            continue
        if kind == FIRST:
            found.append(_first(int(folder)))
            continue
        source = f"{folder}/{WEIGHTS}"
        tensors = read_tensors(contents[source], source)
        if kind == "dense":
            found.append(_dense(tensors, contents[f"{folder}/{CONFIG}"], folder))
        else:
            found.append(_norm(tensors, source))
    return tuple(found)


def activation_of(config: Mapping[str, object], source: str) -> Head:
    """The activation that a dense layer states; without one, that of the library."""
    name = str(config.get("activation_function", "torch.nn.modules.activation.Tanh"))
    found = ACTIVATIONS.get(name.rpartition(".")[2]) if name.startswith("torch.nn.") else None
    if found is None:
        raise FormatError(
            f"the activation {name!r:.80} is not supported",
            source=source,
            hint=f"known: {', '.join(ACTIVATIONS)}",
        )
    return found


def _dense(tensors: Tensors, config: bytes, folder: str) -> Head:
    source = f"{folder}/{CONFIG}"
    activation = activation_of(json_object(config, source), source)
    weight = tensors.get("linear.weight")
    if weight is None or weight.ndim != 2:
        raise FormatError("linear.weight is missing", source=f"{folder}/{WEIGHTS}")
    bias = tensors.get("linear.bias", np.zeros(len(weight), np.float32))
    _fit(weight.shape[0], bias, f"{folder}/{WEIGHTS}")

    def step(x: Row) -> Row:
        if x.shape != (weight.shape[1],):
            raise FormatError(f"it takes {weight.shape[1]} numbers, not {x.size}", source=source)
        return activation(weight @ x + bias)

    return step


def _norm(tensors: Tensors, source: str) -> Head:
    weight, bias = tensors.get("norm.weight"), tensors.get("norm.bias")
    if weight is None or bias is None:
        raise FormatError("norm.weight or norm.bias is missing", source=source)
    _fit(len(weight), bias, source)

    def step(x: Row) -> Row:
        if x.shape != weight.shape:
            raise FormatError(f"it takes {len(weight)} numbers, not {x.size}", source=source)
        centred = x - x.mean()
        found: Row = centred / np.sqrt((centred**2).mean() + _EPSILON) * weight + bias
        return found

    return step


def _fit(size: int, bias: NDArray[np.float32], source: str) -> None:
    if bias.shape != (size,):
        raise FormatError("the weights do not fit together", source=source)


def _first(count: int) -> Head:
    return lambda x: x[:count]


def _unit(x: Row) -> Row:
    length = np.float32(np.linalg.norm(x))
    found: Row = x / length if length else x
    return found
