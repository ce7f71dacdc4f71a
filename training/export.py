"""How do trained weights become one small file, and a graph for onnxruntime at either speed?

    python -m training.export OUT.safetensors PIECE.npz [PIECE.npz ...]
    python -m training.export OUT.safetensors FIRST.safetensors OTHER.safetensors [...]

The first form joins the pieces of one training, the second takes the mean of finished files.

Matrices are stored as int8 with one scale per output, embeddings with one per row; the table of
embeddings serves as input and as decoder. The file holds no graph: the product builds one from the
arrays for the whole depth or for the inner exit (``assay.encode.one_pass``), so both speeds share
the file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.encode import one_pass
from assay.encode.tensors import Arrays, read_arrays

LAYERS = one_pass.LONG
SPECIAL = one_pass.SPECIAL
# near the identity, where eight bits a row are coarse, and small
EXACT = ("body.places.", "heads.")


def gathered(paths: list[Path]) -> Arrays:
    """Quantised weights from the pieces in which they came."""
    arrays: Arrays = {}
    for path in paths:
        arrays |= dict(np.load(path))
    return arrays


def averaged(states: list[Arrays]) -> Arrays:
    """The mean of several trainings from the same start."""
    return {
        name: first if first.dtype == np.int32 else np.mean([one[name] for one in states], axis=0)
        for name, first in states[0].items()
    }


def rows_as_int8(matrix: NDArray[Any]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """A matrix as whole numbers with one scale a row."""
    scale = np.maximum(np.abs(matrix).max(axis=1), 1e-9) / 127
    return np.rint(matrix / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def packed(state: Arrays) -> Arrays:
    """What ships: large matrices as int8, the rest in half precision."""
    arrays: Arrays = {}
    for name, array in state.items():
        if array.ndim == 2 and not name.startswith(EXACT):
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


def graph(arrays: Arrays, depth: int = LAYERS, *, sparse: bool = True) -> bytes:
    """The model as the product runs it; a query needs no ``sparse`` outputs."""
    return one_pass.build(arrays, depth, "the export", sparse=sparse)


def float_graph(state: Arrays, depth: int = LAYERS, *, sparse: bool = True) -> bytes:
    """The same of arrays that were never quantised, to compare."""
    return one_pass.build(state, depth, "the export", sparse=sparse)


def save(path: Path, arrays: Arrays) -> None:
    """Write the shipped file."""
    from safetensors.numpy import save_file

    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path)


def load(path: Path) -> Arrays:
    """Read the shipped file."""
    return read_arrays(path.read_bytes(), str(path))


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
