"""Is a safetensors file read as it was written, and a broken one refused?"""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.encode.tensors import read_tensors
from assay.errors import AssayError, FormatError, LimitError
from tests.unit.encode.tiny import safetensors

NUMBERS = np.array([[1.5, -2.0, 0.25]], np.float32)


def with_header(header: Any, body: bytes = b"\0" * 16) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def test_three_precisions_become_one() -> None:
    half = NUMBERS.astype(np.float16)
    brain = (NUMBERS.view(np.uint32) >> 16).astype(np.uint16)
    data = safetensors(
        {"full": NUMBERS, "half": half, "brain": brain, "ids": np.arange(3)}, {"brain": "BF16"}
    )
    found = read_tensors(data, "file")
    assert sorted(found) == ["brain", "full", "half"]
    for array in found.values():
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, NUMBERS)


def entry(**change: Any) -> dict[str, Any]:
    return {"a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16], **change}}


@pytest.mark.parametrize(
    "header",
    [
        entry(data_offsets=[0, 20]),
        entry(data_offsets=[4, 20]),
        entry(data_offsets=[16, 0]),
        entry(data_offsets=[-16, 0]),
        entry(data_offsets=[0]),
        entry(data_offsets=None),
        entry(shape=[2, 3]),
        entry(shape=[-2, -2]),
        entry(shape=[True, 4]),
        entry(shape=[1 << 62, 1 << 62]),
        entry(shape="2,2"),
        [],
    ],
)
def test_lies_are_refused(header: Any) -> None:
    with pytest.raises(FormatError, match="file"):
        read_tensors(with_header(header), "file")


def test_a_huge_header_is_refused_before_it_is_read() -> None:
    with pytest.raises(LimitError):
        read_tensors((1 << 62).to_bytes(8, "little") + b"{}", "file")


@given(st.binary(max_size=200))
def test_rubbish_is_refused_or_empty(data: bytes) -> None:
    with contextlib.suppress(AssayError):
        assert read_tensors(data, "file") == {}


@given(st.integers(0, 300), st.integers(0, 255))
def test_a_changed_byte_never_escapes(at: int, value: int) -> None:
    data = bytearray(safetensors({"full": NUMBERS}))
    data[at % len(data)] = value
    with contextlib.suppress(AssayError):
        assert all(
            isinstance(one, np.ndarray) for one in read_tensors(bytes(data), "file").values()
        )
