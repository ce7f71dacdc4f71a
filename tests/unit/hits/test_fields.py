"""Columns of regular text, their hashes, and the order that digits tell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.hits.decimals import read_decimals, steps_down
from assay.hits.fields import Field, Text, cut, hash_field, hash_texts

words = st.text(st.sampled_from("aZ09é字-:"), min_size=1, max_size=30)


@given(st.lists(st.tuples(words, words, words), min_size=1, max_size=20))
def test_regular_text_is_cut_into_its_columns(rows: list[tuple[str, str, str]]) -> None:
    text = Text("".join(" ".join(row) + "\n" for row in rows).encode())
    lines = cut(text, 3)
    assert lines is not None
    found = [lines.column(at).bytes(text) for at in range(3)]
    assert [tuple(item.decode() for item in row) for row in zip(*found, strict=True)] == rows


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"a b\n",
        b"a  b c\n",
        b" a b c\n",
        b"a b c \n",
        b"a b c\n\n",
        b"a b c\r\n",
        b"a b\nc d e f\n",
        b"a b c\nd",
        b"# b c\n",
        b"a b c\n# b c\n",
        b"a b\x01 c\n",
        b"a\x0bb c\n",
    ],
)
def test_what_is_not_regular_is_left_to_others(content: bytes) -> None:
    assert cut(Text(content), 3) is None


def test_tabs_part_columns_too() -> None:
    text = Text(b"a\tb c\n")
    lines = cut(text, 3)
    assert lines is not None
    assert lines.column(1).bytes(text) == [b"b"]


@given(st.lists(words, min_size=1, max_size=30))
def test_a_hash_depends_on_its_text_alone(texts: list[str]) -> None:
    together = hash_texts(texts)
    assert together.tolist() == [hash_texts([text])[0] for text in texts]
    assert len(set(together.tolist())) == len(set(texts))
    line = Text(" ".join(texts).encode() + b"\n")
    fields = cut(line, len(texts))
    assert fields is not None
    assert [hash_field(line, fields.column(at))[0] for at in range(len(texts))] == together.tolist()


def column(numbers: list[str]) -> tuple[Text, Field]:
    text = Text("".join(f"query-identifier {number}\n" for number in numbers).encode())
    lines = cut(text, 2)
    assert lines is not None
    return text, lines.column(1)


@given(
    st.lists(
        st.one_of(
            st.integers(0, 10**9).map(lambda n: f"{n // 1000}.{n % 1000:03d}"),
            st.floats(allow_nan=False, allow_infinity=False).map(repr),
            st.sampled_from(["0.000", "1", "-1.5", "00.100", "1.", ".5", "1e3", "9.99"]),
        ),
        min_size=2,
        max_size=30,
    )
)
def test_what_digits_tell_is_what_floats_tell(numbers: list[str]) -> None:
    text, field = column(numbers)
    values = read_decimals(text, field)
    assert values is not None
    assert values.tolist() == [float(number) for number in numbers]
    steps = steps_down(text, field)
    if steps is not None:
        above, below = steps
        assert above.tolist() == (values[1:] > values[:-1]).tolist()
        assert below.tolist() == (values[1:] < values[:-1]).tolist()


def test_digits_are_enough_for_the_usual_run() -> None:
    assert steps_down(*column(["53.364100", "45.990500", "45.990500", "7.100000"])) is not None
    assert steps_down(*column(["0.99", "0.98"])) is not None
    for other in (["1.5", "1.25"], ["-1.5", "-2.5"], ["01.5", "1.5"], ["12345678901.123456"] * 2):
        assert steps_down(*column(other)) is None


@pytest.mark.parametrize("bad", ["nan", "inf", "1_0", "1,5", "0x10", "x"])
def test_what_is_no_number_is_refused(bad: str) -> None:
    assert read_decimals(*column(["1.0", bad])) is None
