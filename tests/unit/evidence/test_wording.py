"""A question is put in the words that the passages use."""

from __future__ import annotations

import pytest

from assay.evidence.wording import in_words_of
from assay.model.answers import Passage
from assay.model.document import Chunk


def passages(text: str, title: str = "") -> list[Passage]:
    return [Passage(Chunk("a:chunk_0", "a", text, title))]


@pytest.mark.parametrize(
    ("question", "text", "asked"),
    [
        ("How much linseed was eaten?", "25 g of flaxseed", "How much flaxseed was eaten?"),
        ("How is MS treated?", "multiple sclerosis", "How is multiple sclerosis treated?"),
        ("How is chickenpox treated?", "Varicella is", "How is varicella treated?"),
        ("How much linseed was eaten?", "linseed, or flaxseed", "How much linseed was eaten?"),
        ("How much linseed was eaten?", "25 g of bread", "How much linseed was eaten?"),
    ],
)
def test_a_word_that_no_passage_has_gives_way(question: str, text: str, asked: str) -> None:
    assert in_words_of(passages(text), question) == asked
