"""Where does a sentence end?"""

from __future__ import annotations

import re
from collections.abc import Iterator

_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘]?(?:[A-Z0-9(]|[a-z]{1,2}[A-Z0-9-]))")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|cf|approx|Drs?|Mrs?|Ms|Prof|St|Figs?|Tab|Eq|Nos?|al|ca|resp|incl|max|min"
    r"|spp?|subsp|Ph\.D|(?:[A-Za-z]\.\s?)+[A-Za-z]|[A-Z])\."
    r"|\b(?:Table|Figure|Section|Part|Appendix)\s+\w{1,4}\.)$"
)


def split_sentences(line: str) -> Iterator[str]:
    """The sentences of a line; a full stop after an abbreviation ends none."""
    held = ""
    for part in _END.split(line):
        held = f"{held} {part}" if held else part
        if not _ABBREVIATION.search(held):
            yield held
            held = ""
    if held:
        yield held
