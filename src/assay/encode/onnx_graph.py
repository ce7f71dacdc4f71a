"""How is a model serialised for onnxruntime without the package onnx?

An ONNX model is one protocol buffer. The few messages and fields that a transformer needs are
written here by hand; the numbers are the field numbers of ``onnx.proto``.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Attribute: TypeAlias = int | float | str | tuple[int, ...]

FLOAT, WHOLE = 1, 7
_TENSOR_TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.int8): 3, np.dtype(np.int64): WHOLE}
_IR_VERSION, _OPERATORS = 9, 20
_DELIMITED, _FIXED32 = 2, 5


class Graph:
    """Collects constants and operations; ``build`` turns them into the bytes of a model."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []
        self._count = 0

    def input_ids(self, name: str) -> str:
        """Declare an input of whole numbers: one row of any length."""
        self._inputs.append(_value(name, WHOLE, (1, "length")))
        return name

    def output(self, name: str, shape: tuple[int | str, ...], kind: int = FLOAT) -> None:
        """Declare a result."""
        self._outputs.append(_value(name, kind, shape))

    def constant(self, array: NDArray[Any] | float | list[int]) -> str:
        """Store an array: lists as 64-bit whole numbers, 8-bit numbers as they are, else floats."""
        kind: type[np.generic] = np.int64 if isinstance(array, list) else np.float32
        if isinstance(array, np.ndarray) and array.dtype == np.int8:
            kind = np.int8
        name = self._name()
        self._constants.append(_tensor(name, np.ascontiguousarray(array, kind)))
        return name

    def op(self, kind: str, *inputs: str, to: str = "", **attributes: Attribute) -> str:
        """Add an operation with one result and return the result's name."""
        return self.ops(kind, *inputs, to=(to or self._name(),), **attributes)[0]

    def ops(
        self, kind: str, *inputs: str, to: tuple[str, ...], **attributes: Attribute
    ) -> tuple[str, ...]:
        """Add an operation with several results, which take the given names."""
        self._add(kind, inputs, to, attributes)
        return to

    def floats(self, value: str) -> str:
        """Whole numbers as floating-point numbers."""
        name = self._name()
        self._add("Cast", (value,), (name,), {"to": FLOAT})
        return name

    def several(self, kind: str, *inputs: str, results: int, **attributes: Attribute) -> list[str]:
        """Add an operation with several results and return their names."""
        to = tuple(self._name() for _ in range(results))
        return list(self.ops(kind, *inputs, to=to, **attributes))

    def _add(
        self,
        kind: str,
        inputs: tuple[str, ...],
        results: tuple[str, ...],
        attributes: Mapping[str, Attribute],
    ) -> None:
        self._nodes.append(
            _text(1, inputs)
            + _text(2, results)
            + _text(4, (kind,))
            + b"".join(_message(5, _attribute(*item)) for item in attributes.items())
        )

    def build(self) -> bytes:
        """The model."""
        graph = b"".join(
            [
                *(_message(1, node) for node in self._nodes),
                _text(2, ("assay",)),
                *(_message(5, constant) for constant in self._constants),
                *(_message(11, given) for given in self._inputs),
                *(_message(12, wanted) for wanted in self._outputs),
            ]
        )
        operators = _text(1, ("",)) + _number(2, _OPERATORS)
        return _number(1, _IR_VERSION) + _message(7, graph) + _message(8, operators)

    def _name(self) -> str:
        self._count += 1
        return f"v{self._count}"


def _varint(number: int) -> bytes:
    rest, out = number & (1 << 64) - 1, bytearray()
    while rest > 127:
        out.append(rest & 127 | 128)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _message(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | _DELIMITED) + _varint(len(body)) + body


def _text(field: int, values: tuple[str, ...]) -> bytes:
    return b"".join(_message(field, value.encode()) for value in values)


def _tensor(name: str, array: NDArray[Any]) -> bytes:
    shape = b"".join(_number(1, size) for size in array.shape)
    kind = _number(2, _TENSOR_TYPES[array.dtype])
    return shape + kind + _text(8, (name,)) + _message(9, array.tobytes())


def _attribute(name: str, value: Attribute) -> bytes:
    start = _text(1, (name,))
    if isinstance(value, float):
        return start + _varint(2 << 3 | _FIXED32) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, str):
        return start + _text(4, (value,)) + _number(20, 3)
    if isinstance(value, int):
        return start + _number(3, value) + _number(20, 2)
    return start + b"".join(_number(8, item) for item in value) + _number(20, 7)


def _value(name: str, kind: int, shape: tuple[int | str, ...]) -> bytes:
    sizes = b"".join(
        _message(1, _number(1, size) if isinstance(size, int) else _text(2, (size,)))
        for size in shape
    )
    return _text(1, (name,)) + _message(2, _message(1, _number(1, kind) + _message(2, sizes)))
