"""Which sentences does a passage have, and under which heading is each?

Lines are kept apart, so a row of a table is a sentence. A short line without a full stop is a
heading: it is no answer itself but says what the sentences below it are about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assay.model.document import Chunk

_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9(])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|vs|cf|approx|Dr|Fig|Tab|No|al|ca|resp)\.)$")
_HEADING_CHARS = 60
_ENDED = (".", "!", "?", ":", ";", "%")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence; ``context`` is its title and heading."""

    text: str
    context: str


def sentences(chunk: Chunk) -> list[Sentence]:
    """The sentences of a chunk; its whole text if there are none."""
    found: list[Sentence] = []
    context = chunk.title
    for line in filter(None, map(str.strip, chunk.text.splitlines())):
        if _is_heading(line):
            context = f"{chunk.title} {line}"
        else:
            found += [Sentence(text, context) for text in _split(line)]
    return found or [Sentence(" ".join(chunk.text.split()), chunk.title)]


def _is_heading(line: str) -> bool:
    _, _, rest = line.partition(" ")  # "5.1 Hyperkalemia" is one; "5 of 12 fell" is not
    short = len(line) < _HEADING_CHARS and not line.endswith(_ENDED) and "|" not in line
    return short and not any(char.isdigit() for char in rest)


def _split(line: str) -> Iterator[str]:
    held = ""
    for part in _END.split(line):
        held = f"{held} {part}" if held else part
        if not _ABBREVIATION.search(held):
            yield held
            held = ""
    if held:
        yield held
