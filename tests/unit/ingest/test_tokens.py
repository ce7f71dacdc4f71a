"""Are tokens counted as promised, and sentences found?"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.ingest import tokens


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        (" \n\t\u2028", 0),
        ("one two", 2),
        ("5-HT2A", 3),
        ("p < 0.05.", 6),
        ("naïve café", 2),
        ("头痛三天", 4),
        ("发热 fever", 3),
        ("x" * 65, 3),
        ("snake_case", 1),
        ("🙂!", 2),
    ],
)
def test_counts(text: str, number: int) -> None:
    assert tokens.count(text) == number


@given(st.text(max_size=200))
def test_starts_and_count_agree_and_cover(text: str) -> None:
    at = tokens.starts(text, 0, len(text))
    assert len(at) == tokens.count(text)
    assert at == sorted(set(at))
    assert all(not text[position].isspace() for position in at)
    if text.strip():
        assert at[0] == len(text) - len(text.lstrip())


def sentences(text: str) -> list[str]:
    at = tokens.starts(text, 0, len(text))
    cuts = [0, *(at[index] for index in tokens.sentence_starts(text, at, len(text))), len(text)]
    return [text[start:end].strip() for start, end in pairwise(cuts)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One here. Two there! Three?", ["One here.", "Two there!", "Three?"]),
        ("Smith et al. Found it.", ["Smith et al. Found it."]),
        ("See Fig. 3 now. Then go.", ["See Fig. 3 now.", "Then go."]),
        ("Dose was 0.5 mg. (See below.) Next.", ["Dose was 0.5 mg.", "(See below.)", "Next."]),
        ("Seen by J. Doe. He left.", ["Seen by J. Doe.", "He left."]),
        ("e.g. this. and that", ["e.g. this. and that"]),
        ("line one\nline two\n\n3. Three", ["line one", "line two", "3. Three"]),
        ("发热三天。头痛。", ["发热三天。", "头痛。"]),
        ("In 2012. The end.", ["In 2012.", "The end."]),
    ],
)
def test_sentences(text: str, found: list[str]) -> None:
    assert sentences(text) == found


def test_lines() -> None:
    text = "a b\nc | d\n\n e"
    at = tokens.starts(text, 0, len(text))
    assert [text[at[index]] for index in tokens.line_starts(text, at)] == ["c", "e"]
