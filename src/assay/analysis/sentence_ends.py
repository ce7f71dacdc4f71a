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
_LONGEST = 80
"""Characters before the end of a sentence in which an abbreviation is looked for."""


def split_sentences(line: str) -> Iterator[str]:
    """The sentences of a line; a full stop after an abbreviation ends none."""
    held: list[str] = []
    end = ""
    for part in _END.split(line):
        held.append(part)
        end = f"{end} {part}"[-_LONGEST:]
        if not _ABBREVIATION.search(end):
            yield " ".join(held)
            held, end = [], ""
    if held:
        yield " ".join(held)
