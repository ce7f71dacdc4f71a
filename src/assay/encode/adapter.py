"""How does the encoder become a model that reads two texts together?

A file of a megabyte or two holds what was learned beside the encoder (Hu et al. 2021, low-rank
adaptation): for every large matrix ``W`` two small ones, so that ``W + up · down`` reads two texts
as one; biases and norms, which replace the encoder's; what marks the tokens of the second text
(``kinds``); and a head, whose numbers come from the first token's state. The sum is made once, when
the model is opened, and quantised like the encoder's own matrices, so it costs no more to run.
"""

from __future__ import annotations

import numpy as np

from assay.encode import one_pass
from assay.encode.bert_graph import OUTPUT
from assay.encode.tensors import Arrays
from assay.errors import FormatError

_DOWN, _UP = ".down", ".up"


def merged(encoder: Arrays, learned: Arrays, source: str) -> Arrays:
    """The encoder's arrays with what was learned added to them."""
    arrays = dict(encoder)
    try:
        for name, array in learned.items():
            if name.endswith(_UP):
                _add(arrays, learned, name.removesuffix(_UP))
            elif not name.endswith((_DOWN, ".scale")):
                arrays[name] = array
    except KeyError as error:
        raise FormatError(f"the weights {error} are missing", source=source) from error
    except ValueError as error:
        raise FormatError(f"the weights do not fit the encoder: {error}", source=source) from error
    return arrays


def _add(arrays: Arrays, learned: Arrays, name: str) -> None:
    """Add the product of two small matrices to a large one, and quantise it again."""
    weight = f"{name}.weight"
    down, up = learned[f"{name}{_DOWN}"], learned[f"{name}{_UP}"]
    between = learned[f"{name}{_DOWN}.scale"] * learned[f"{name}{_UP}.scale"]
    whole = arrays[weight].astype(np.float32) * arrays[f"{weight}.scale"][:, None]
    whole += (up.astype(np.float32) * between) @ down.astype(np.float32)
    scale = np.maximum(np.abs(whole).max(axis=1), 1e-9) / 127
    arrays[weight] = np.rint(whole / scale[:, None]).astype(np.int8)
    arrays[f"{weight}.scale"] = scale.astype(np.float32)


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
