"""Is a turned bit seen, and is nothing else?"""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.store.seals import seal, sealed, unsealed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.dictionaries(st.text().filter(lambda name: name != "$crc"), JSON), st.booleans())
def test_what_is_sealed_is_read_again(content: dict[str, object], ascii_only: bool) -> None:
    text = json.dumps(content, ensure_ascii=ascii_only)
    assert unsealed(sealed(text)) == content
    assert unsealed(text) == content  # written before there were seals


@given(st.data())
def test_no_turned_bit_is_read_as_something_else(data: st.DataObject) -> None:
    content = {"ids": ["d1", "d2"], "scores": [0.5, 0.25], "latency_ms": 3}
    raw = bytearray(sealed(json.dumps(content)).encode())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] ^= 1 << data.draw(st.integers(0, 7))
    try:
        read = unsealed(raw.decode())
    except ValueError:
        return
    assert read == content or set(read) != set(content)  # the mark itself was hit


def test_values_are_told_apart() -> None:
    different: list[list[object]] = [
        ["a", "b"],
        ["ab"],
        ["ab", ""],
        ["ab", None],
        [],
        [None],
        [1],
        ["1 "],
        [1.0],
    ]
    assert len({seal(values) for values in different}) == len(different)


@pytest.mark.parametrize("text", ["", "{", "null", '["$crc"]', '{"a":1,"$crc":7}'])
def test_what_was_never_written(text: str) -> None:
    with pytest.raises((ValueError, AttributeError, TypeError)):
        unsealed(text)
