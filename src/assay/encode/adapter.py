"""How does the encoder become a model that reads two texts together?

A file of a megabyte or two holds what was learned beside the encoder (Hu et al. 2021, low-rank
adaptation): for every large matrix ``W`` two small ones, so that ``W + up · down`` reads two texts
as one; biases and norms, which replace the encoder's; what marks the tokens of the second text
(``kinds``); and a head, whose numbers come from the first token's state. The sum is made once, when
the model is opened, and quantised, so it costs no more to run than the encoder.

States are quantised with one scale for all channels, of which a few are far larger than the rest.
So before a product every channel is divided by its expected size, and the column of the matrix
multiplied by it (Xiao et al. 2023, SmoothQuant). The size follows from the norm before: channels
have mean ``bias`` and deviation ``weight``, and what is linear in them can be computed. That nearly
halves the error of scores (design note 021).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.encode import one_pass
from assay.encode.bert_graph import OUTPUT
from assay.encode.tensors import Arrays
from assay.errors import FormatError

Floats: TypeAlias = NDArray[np.float32]
_DOWN, _UP = ".down", ".up"
_ADAPTED = ("qkv", "out", "wide", "narrow")
_FAR = 3.0  # deviations from the mean that a channel is expected to reach
_LEAST = 0.17  # how far below 0 the activation goes


def merged(encoder: Arrays, learned: Arrays, source: str) -> Arrays:
    """The encoder's arrays with what was learned added to them."""
    plain = {
        name: array for name, array in learned.items() if not name.endswith((_DOWN, _UP, ".scale"))
    }
    arrays = encoder | plain
    try:
        before = "body.norm"
        for layer in one_pass.layers(one_pass.LONG):
            whole = {part: _sum(encoder, learned, f"{layer}{part}") for part in _ADAPTED}
            sizes = channel_sizes(arrays, layer, before, whole["wide"])
            for part, matrix in whole.items():
                _put(arrays, f"{layer}{part}.weight", matrix, sizes.get(part))
            before = f"{layer}norm2"
    except KeyError as error:
        raise FormatError(f"the weights {error} are missing", source=source) from error
    except ValueError as error:
        raise FormatError(f"the weights do not fit the encoder: {error}", source=source) from error
    return arrays


def _sum(encoder: Arrays, learned: Arrays, name: str) -> Floats:
    """A large matrix with the product of two small ones added."""
    weight = f"{name}.weight"
    down, up = learned[f"{name}{_DOWN}"], learned[f"{name}{_UP}"]
    between = learned[f"{name}{_DOWN}.scale"] * learned[f"{name}{_UP}.scale"]
    whole: Floats = encoder[weight].astype(np.float32) * encoder[f"{weight}.scale"][:, None]
    whole += (up.astype(np.float32) * between) @ down.astype(np.float32)
    return whole


def channel_sizes(arrays: Arrays, layer: str, before: str, wide: Floats) -> dict[str, Floats]:
    """How large each channel is expected to be that goes into a product."""
    first, second = _norm(arrays, before), _norm(arrays, f"{layer}norm")
    mean = wide @ second[1] + arrays[f"{layer}wide.bias"]
    reach = np.sqrt(((wide * second[0]) ** 2).sum(axis=1))
    return {
        "qkv": _FAR * np.abs(first[0]) + np.abs(first[1]),
        "wide": _FAR * np.abs(second[0]) + np.abs(second[1]),
        "narrow": np.maximum(mean + _FAR * reach, _LEAST),
    }


def _norm(arrays: Arrays, name: str) -> tuple[Floats, Floats]:
    """Deviations and means of what a norm gives."""
    return arrays[f"{name}.weight"].astype(np.float32), arrays[f"{name}.bias"].astype(np.float32)


def _put(arrays: Arrays, name: str, matrix: Floats, sizes: Floats | None) -> None:
    """Store a matrix in 8 bits, for states that are divided by ``sizes`` first."""
    if sizes is not None:
        sizes = np.maximum(sizes, 1e-4).astype(np.float32)
        matrix = matrix * sizes
        arrays[f"{name}{one_pass.SIZES}"] = sizes
    scale = np.maximum(np.abs(matrix).max(axis=1), 1e-9) / 127
    arrays[name] = np.rint(matrix / scale[:, None]).astype(np.int8)
    arrays[f"{name}.scale"] = scale.astype(np.float32)


def build_reader(arrays: Arrays, outputs: int, source: str) -> bytes:
    """The model for one row of two texts; it gives ``outputs`` numbers."""
    try:
        found = arrays["score.bias"].shape
        if found != (outputs,):
            raise ValueError(f"the head gives {found}, not {outputs}")
        shape = one_pass.sizes(arrays, source)
        return one_pass.Builder(arrays, "int8", shape).build_reader(one_pass.LONG, OUTPUT)
    except KeyError as error:
        raise FormatError(f"the weights {error} are missing", source=source) from error
    except (ValueError, IndexError) as error:
        raise FormatError(f"the weights do not fit together: {error}", source=source) from error
