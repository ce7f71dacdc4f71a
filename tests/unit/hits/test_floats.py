"""Are numbers read eight digits at a time the same to the last bit as ``float`` reads them?"""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.hits.fields import Text, cut
from assay.hits.floats import read_plain


def read(tokens: list[str]) -> list[float | None]:
    """What is read; None where it is left to ``float``."""
    text = Text("".join(f"query-identifier-1 {token}\n" for token in tokens).encode())
    lines = cut(text, 2)
    assert lines is not None
    values, plain = read_plain(text, lines.column(1))
    return [
        value if ok else None for value, ok in zip(values.tolist(), plain.tolist(), strict=True)
    ]


def halfway(number: float, digits: int) -> str:
    """The middle between a double and the next one, cut after some digits."""
    middle = (Fraction(number) + Fraction(float(np.nextafter(number, np.inf)))) / 2
    whole = str(middle.numerator * 10**digits // middle.denominator).rjust(digits + 1, "0")
    return f"{whole[:-digits]}.{whole[-digits:]}"


plain_tokens = st.one_of(
    st.floats(0, 1e6).map(repr),
    st.floats(0, 1e3, width=32).map(repr),
    st.tuples(st.floats(0, 1e12), st.integers(0, 15)).map(lambda pair: f"{pair[0]:.{pair[1]}f}"),
    st.tuples(st.integers(0, 10**16), st.integers(0, 10**20)).map(lambda p: f"{p[0]}.{p[1]}"),
    st.tuples(st.integers(0, 22), st.integers(0, 10**18)).map(lambda p: f"0.{'0' * p[0]}{p[1]}"),
    st.tuples(st.floats(1e-3, 1e3), st.integers(10, 24)).map(lambda pair: halfway(*pair)),
    st.integers(0, 10**20).map(str),
    st.integers(0, 10**20).map(lambda n: f".{n}"),
    st.integers(0, 10**17).map(lambda n: f"{n}."),
)
signed = st.tuples(st.sampled_from(["", "-", "+"]), plain_tokens).map("".join)
odd = st.text("0123456789.-+eE_naif", min_size=1, max_size=30)


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(st.lists(st.one_of(signed, signed, odd), min_size=1, max_size=20))
def test_what_is_read_is_what_float_reads(tokens: list[str]) -> None:
    for token, value in zip(tokens, read(tokens), strict=True):
        if value is not None:
            assert struct.pack("d", value) == struct.pack("d", float(token)), token


@pytest.mark.parametrize(
    "token",
    [
        "0",
        "5",
        "12.5",
        "-0.0",
        "+5",
        ".5",
        "5.",
        "53.364100",
        "0.8123456789012345",
        "-2.5",
        "007.50",
    ],
)
def test_usual_numbers_are_not_left_to_float(token: str) -> None:
    assert read([token]) == [float(token)]
    assert read([token, "1.0"]) == [float(token), 1.0]


@pytest.mark.parametrize(
    "token",
    [
        *(
            ".",
            "-",
            "+",
            "-.",
            "+.",
            "..",
            "1.2.3",
            "--1",
            "+-1",
            "1-",
            "1.-5",
            "1e5",
            "nan",
            "inf",
        ),
        *("1_0", "0x1", "1,5", "１", "1.５", "a", ":", "/", "1.:", "9" * 19, "0." + "9" * 19),
    ],
)
def test_everything_else_is(token: str) -> None:
    assert read([token]) == [None]
    assert read(["1.0", token, "2.0"]) == [1.0, None, 2.0]


def test_most_numbers_of_a_run_are_read_at_once() -> None:
    rng = np.random.default_rng(1)
    tokens = [repr(float(value)) for value in rng.gamma(3, 4, 20_000)]
    values = read(tokens)
    assert sum(value is None for value in values) < 20
    assert all(value in (None, float(token)) for token, value in zip(tokens, values, strict=True))
