"""Does a snippet show the words for which a text was found?"""

from __future__ import annotations

import pytest

from assay.search.snippet import snippet, stems

LONG = " ".join(["filler words that say nothing"] * 40)


def marked(text: str, query: str, width: int = 80) -> list[str]:
    part = snippet(text, stems(query), width)
    return [part.text[start:end] for start, end in part.marks]


def test_words_are_marked_by_their_stems() -> None:
    assert marked("Infections of the kidneys", "kidney infection") == ["Infections", "kidneys"]


def test_the_stretch_with_most_words_is_shown() -> None:
    text = f"kidney {LONG} the kidney infection was severe {LONG}"
    part = snippet(text, stems("kidney infection"), 80)
    assert "kidney infection was severe" in part.text
    assert part.text.startswith("…")
    assert part.text.endswith("…")
    assert len(part.text) <= 82


@pytest.mark.parametrize("text", ["", "x", LONG, "y" * 5_000, "💊 " * 400, "\n\t a \n"])
@pytest.mark.parametrize("query", ["kidney", "", "the of", "y" * 60])
def test_any_text_has_a_snippet(text: str, query: str) -> None:
    part = snippet(text, stems(query), 80)
    assert len(part.text) <= 82
    assert "\n" not in part.text
    assert all(0 <= start < end <= len(part.text) for start, end in part.marks)


def test_a_short_text_is_shown_whole() -> None:
    assert snippet("a short text", stems("kidney")).text == "a short text"
