"""Which part of a text shows best why it was found?

The stretch with the most different words of the query, compared as BM25 does; of several the
first. ``Snippet.marks`` are the places of those words within it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.analysis.words import analyse, tokens

WIDTH = 220
SCANNED = 50_000  # characters; chunks are far shorter


@dataclass(frozen=True, slots=True)
class Snippet:
    """A part of a text on one line; ``marks`` are ``[start, end)`` within it."""

    text: str
    marks: tuple[tuple[int, int], ...]


def stems(text: str) -> set[str]:
    """The words of a text as BM25 compares them, names also as one word; stop words are none."""
    words = analyse(text)
    return {*words.terms, *words.forms}


def wanted_stems(query: str, synonyms: Iterable[str]) -> set[str]:
    """What is marked in results: the words of the query and those that synonyms added."""
    return stems(" ".join((query, *synonyms)))


def snippet(text: str, wanted: set[str], width: int = WIDTH) -> Snippet:
    """The best stretch of about ``width`` characters, cut at words."""
    line = " ".join(text[:SCANNED].split())
    found = _places(line, wanted)
    start, end = _window(line, found, width)
    before, after = ("…" if start else ""), ("…" if end < len(line) else "")
    shift = len(before) - start
    marks = tuple((a + shift, b + shift) for a, b, _ in found if a >= start and b <= end)
    return Snippet(f"{before}{line[start:end]}{after}", marks)


def whole(text: str, wanted: set[str]) -> Snippet:
    """The text as it is, lines and all, up to what is scanned."""
    shown = text[:SCANNED]
    return Snippet(shown, tuple((start, end) for start, end, _ in _places(shown, wanted)))


def _window(line: str, found: list[tuple[int, int, str]], width: int) -> tuple[int, int]:
    """Where the best stretch begins and ends."""
    if len(line) <= width:
        return 0, len(line)
    best, start = -1, 0
    for at, (first, _, _) in enumerate(found):
        inside = {base for a, b, base in found[at:] if b <= first + width}
        if len(inside) > best:
            best, start = len(inside), first
    start = max(0, start - width // 6)
    start = 0 if start == 0 else line.find(" ", start) + 1
    end = min(len(line), start + width)
    if end < len(line):
        end = max(line.rfind(" ", start, end), start + 1)
    return start, end


def _places(line: str, wanted: set[str]) -> list[tuple[int, int, str]]:
    """Where the words stand, each place once: a name as a whole rather than in parts."""
    every = sorted(
        (token.start, -token.end, term)
        for token in tokens(line)
        for term in token.terms
        if term in wanted
    )
    places: list[tuple[int, int, str]] = []
    for start, end, term in every:
        if not places or start >= places[-1][1]:
            places.append((start, -end, term))
    return places
