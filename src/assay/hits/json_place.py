"""On which line of this JSON is what was refused?

The parser that reads JSON does not say where it met a duplicate key or a NaN. These functions walk
over the tokens once more, only ever after a refusal. Lines count from 1 in the text given.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_HALF_PAIR = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)


def of_token(text: str, wanted: Callable[[str], bool]) -> int:
    """The line of the first bare token (not a string) that is wanted; 1 if there is none."""
    for part, begin in _tokens(text):
        if not part.startswith('"') and wanted(part):
            return _line(text, begin)
    return 1


def of_duplicate(text: str, key: str) -> int:
    """The line on which an object has this key for the second time; 1 if none has."""
    keys: list[set[str]] = []
    last, where = "", 0
    for part, begin in _tokens(text):
        if part in "{[":
            keys.append(set())
        elif part in "}]":
            keys.pop()
        elif part == ":":
            name = json.loads(last)
            if name == key and name in keys[-1]:
                return _line(text, where)
            keys[-1].add(name)
        last, where = part, begin
    return 1


def of_depth(text: str, most: int) -> int:
    """The line on which nesting first goes beyond ``most`` levels; 1 if it never does."""
    depth = 0
    for part, begin in _tokens(text):
        depth += (part in "{[") - (part in "}]")
        if depth > most:
            return _line(text, begin)
    return 1


def of_surrogate(text: str, begin: int) -> int:
    """The line of the first half of a surrogate pair that stands alone, at or after ``begin``."""
    found = _HALF_PAIR.search(text, begin)
    return _line(text, found.start() if found else begin)


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    return ((found.group(), found.start()) for found in _TOKEN.finditer(text))


def _line(text: str, at: int) -> int:
    return 1 + text.count("\n", 0, at)
