"""Do numbers agree with their nouns and verbs?"""

from __future__ import annotations

import pytest

from assay.plural import counted, plural, share_of


@pytest.mark.parametrize(
    ("count", "noun", "verb", "said"),
    [
        (0, "query", "", "0 queries"),
        (1, "query", "", "1 query"),
        (2, "query", "", "2 queries"),
        (12_345, "chunk", "", "12,345 chunks"),
        (1, "query", "is", "1 query is"),
        (2, "query", "is", "2 queries are"),
        (1, "passage", "waits", "1 passage waits"),
        (3, "passage", "waits", "3 passages wait"),
        (2, "query", "has", "2 queries have"),
    ],
)
def test_counted(count: int, noun: str, verb: str, said: str) -> None:
    assert counted(count, noun, verb) == said


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [(1, 3, "1 of 3 queries was"), (2, 3, "2 of 3 queries were"), (1, 1, "1 of 1 query was")],
)
def test_share_of(part: int, whole: int, said: str) -> None:
    assert share_of(part, whole, "query", "was") == said


@pytest.mark.parametrize(
    ("noun", "many"),
    [("run", "runs"), ("day", "days"), ("loss", "losses"), ("held-out query", "held-out queries")],
)
def test_plural(noun: str, many: str) -> None:
    assert plural(noun) == many
