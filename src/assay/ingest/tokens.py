"""How long is a text in tokens, and where may it be split?

A token is a run of up to 32 letters, digits and underscores, one character of a script written
without spaces (Chinese, Japanese, Thai and the like), or one other character that is not blank.
Counting them needs no model; a BERT tokenizer produces about 1.3 times as many. A word is a run
without blanks, and may be several tokens: ``5-HT2A`` is three.

``VERSION`` changes whenever any text would be counted or split differently.
"""

from __future__ import annotations

import re
from bisect import bisect_left

VERSION = 1

_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(r"\w{1,32}|[^\w\s]")
_UNSPACED_TOKEN = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w){{1,32}}|[^\w\s]")
_ANY_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_SENTENCE_END = re.compile(
    r"""[.!?][)\]"'”’»]*\s+(?=["'“‘«(\[]*[^\sa-z])   # an end, and what can begin a sentence
        |[。！？]\s*                                  # ends that need no blank
        |\n\s*                                       # a line's end
    """,
    re.VERBOSE,
)
_NO_END = re.compile(
    r"(?:\b(?:al|vs|cf|ca|approx|e\.g|i\.e|etc|Fig|Figs|Tab|Eq|Ref|Refs|No|Nos|Dr|Mr|Mrs|Ms|Prof"
    r"|St|Inc|Ltd|Co|resp|incl|max|min|subsp|spp|[A-Z])|\n\d{1,2})\.$"
)


_KINDS = bytes(
    ord("w") if re.match(r"\w", chr(code)) else ord(" " if chr(code).isspace() else "o")
    for code in range(128)
).ljust(256)
_TOO_LONG = b"w" * 33  # a run of letters that is several tokens


def count(text: str) -> int:
    """The number of tokens in a text."""
    if text.isascii():  # where runs of letters are counted ten times as fast as they are found
        kinds = text.encode().translate(_KINDS)
        if _TOO_LONG not in kinds:
            words = kinds.count(b" w") + kinds.count(b"ow") + kinds.startswith(b"w")
            return words + kinds.count(b"o")
    return len(_pattern(text).findall(text))


def starts(text: str, start: int, end: int) -> list[int]:
    """Where the tokens of ``text[start:end]`` begin."""
    piece = text[start:end]
    return [start + found.start() for found in _pattern(piece).finditer(piece)]


def _pattern(text: str) -> re.Pattern[str]:
    """The faster of two patterns, which agree on text without unspaced scripts."""
    unspaced = not text.isascii() and _ANY_UNSPACED.search(text)
    return _UNSPACED_TOKEN if unspaced else _TOKEN


def sentence_starts(text: str, tokens: list[int], end: int) -> list[int]:
    """Which tokens start a sentence or a line, as indexes into ``tokens``; never the first."""
    found: list[int] = []
    for match in _SENTENCE_END.finditer(text, tokens[0] if tokens else end, end):
        if match[0][0] == "." and _NO_END.search(
            text, max(0, match.start() - 12), match.start() + 1
        ):
            continue
        index = bisect_left(tokens, match.end())
        if 0 < index < len(tokens) and (not found or found[-1] != index):
            found.append(index)
    return found


def line_starts(text: str, tokens: list[int]) -> list[int]:
    """Which tokens come first on a line, as indexes into ``tokens``; never the first of all."""
    return [
        index for index in range(1, len(tokens)) if "\n" in text[tokens[index - 1] : tokens[index]]
    ]


def begins_word(text: str, position: int) -> bool:
    """Does a word begin at this position?"""
    return position == 0 or text[position - 1].isspace()
