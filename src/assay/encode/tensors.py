"""Which arrays does a safetensors file hold?

The format is eight bytes with the length of a JSON header, the header (name, type, shape and
offsets of every array) and the bytes of the arrays. Nothing in it can run code.
"""

from __future__ import annotations

import json
import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay import limits
from assay.errors import FormatError, LimitError

Tensors: TypeAlias = dict[str, NDArray[np.float32]]
Arrays: TypeAlias = dict[str, NDArray[Any]]

_FLOATS: dict[str, str] = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_TYPES: dict[str, str] = {**_FLOATS, "I8": "<i1", "U16": "<u2"}


def read_tensors(data: bytes, source: str) -> Tensors:
    """Every array of floating-point numbers by its name, as 32-bit floats."""
    return _read(data, source, _FLOATS)


def read_arrays(data: bytes, source: str) -> Arrays:
    """The same with arrays of whole numbers, which keep their type."""
    return _read(data, source, _TYPES)


def _read(data: bytes, source: str, types: dict[str, str]) -> Arrays:
    header, start = _header(data, source)
    found = {}
    for name, entry in header.items():
        if name != "__metadata__" and isinstance(entry, dict) and _kind(entry) in types:
            found[name] = _tensor(data, start, name, entry, source)
    return found


def _kind(entry: dict[str, Any]) -> str:
    kind = entry.get("dtype")
    return kind if isinstance(kind, str) else ""


def _header(data: bytes, source: str) -> tuple[dict[str, Any], int]:
    length = int.from_bytes(data[:8], "little")
    if length > limits.MAX_TENSOR_HEADER_BYTES:
        raise LimitError(f"{source}: a header of {length} bytes is too long")
    try:
        header = json.loads(data[8 : 8 + length])
    except (ValueError, RecursionError) as error:
        raise FormatError("this is not a safetensors file", source=source) from error
    if not isinstance(header, dict) or len(data) < 8 + length:
        raise FormatError("this is not a safetensors file", source=source)
    return header, 8 + length


def _tensor(data: bytes, start: int, name: str, entry: dict[str, Any], source: str) -> NDArray[Any]:
    kind = np.dtype(_TYPES[entry["dtype"]])
    shape, place = _sizes(entry.get("shape")), _sizes(entry.get("data_offsets"))
    if shape is None or place is None or len(place) != 2:
        raise FormatError(f"{name!r:.80} has no shape or no offsets", source=source)
    begin, end = (start + offset for offset in place)
    count = math.prod(shape)
    if not start <= begin <= end <= len(data) or end - begin != count * kind.itemsize:
        raise FormatError(f"{name!r:.80} lies outside of the file", source=source)
    array = np.frombuffer(data, kind, count, begin).reshape(shape)
    if entry["dtype"] == "BF16":  # the upper half of a 32-bit float
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32, copy=False) if entry["dtype"] in _FLOATS else array


def _sizes(value: object) -> list[int] | None:
    """The value, if it is a list of non-negative integers."""
    right = isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)
    return value if isinstance(value, list) and right else None
