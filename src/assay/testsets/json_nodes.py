"""What does this JSON file hold, and on which line is each value?

Python's parser checks the text but does not report lines, so the tokens are walked again. The
tree is the one of ``config/strict_yaml.py``: readers of test sets need not know which it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from assay.errors import FormatError, LimitError
from assay.strict_json import values
from assay.strict_yaml import MappingNode, Node, ScalarNode, SequenceNode

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]\n]|[^\s{}\[\]:,"]+', re.DOTALL)


def parse_json(data: bytes, *, source: str, max_items: int | None = None) -> Node | None:
    """The tree of a JSON file; None if it is empty. ``max_items`` limits its lists."""
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        return None
    found = values(data, source)
    if len(found) > 1:
        raise FormatError(
            "a second value is not allowed", source=source, line=found[1][0], hint="keep one"
        )
    if max_items is not None:
        _refuse_long(found[0][1], source, max_items)
    return _Walk(data.decode("utf-8-sig")).value()


def _refuse_long(value: Any, source: str, most: int) -> None:
    """Reject long lists near the top before spending more time on them."""
    parts = value.values() if isinstance(value, dict) else (value,)
    if any(isinstance(part, list) and len(part) > most for part in parts):
        raise LimitError(
            f"{source}: a list of more than {most:,} entries",
            hint="split it into several test sets",
        )


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """Each token with its line, without commas and colons, which the order implies."""
    line = 1
    for found in _TOKEN.finditer(text):
        token = found.group()
        if token == "\n":  # noqa: S105 - a line break, no password
            line += 1
            continue
        yield token, line


class _Walk:
    """One pass over the tokens of text that is known to be JSON of bounded depth."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)

    def value(self) -> Node:
        return self._of(*next(self._tokens))

    def _of(self, token: str, line: int) -> Node:
        if token == "{":  # noqa: S105 - a brace, no password
            return MappingNode(tuple(self._entries()), line)
        if token == "[":  # noqa: S105
            return SequenceNode(tuple(self._items()), line)
        if token[0] == '"':
            plain = token[1:-1] if "\\" not in token else json.loads(token, strict=False)
            return ScalarNode(plain, line, quoted=True)
        return ScalarNode(token, line)

    def _items(self) -> Iterator[Node]:
        for token, line in self._tokens:
            if token == "]":  # noqa: S105
                return
            yield self._of(token, line)

    def _entries(self) -> Iterator[tuple[ScalarNode, Node]]:
        for token, line in self._tokens:
            if token == "}":  # noqa: S105
                return
            key = self._of(token, line)
            assert isinstance(key, ScalarNode)
            yield key, self.value()
