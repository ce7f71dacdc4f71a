"""What does this JSON file hold, and on which line does each value stand?

Python's parser checks the text and says nothing of lines, so the tokens are walked once more. The
tree is the one of ``config/strict_yaml.py``: readers of test sets need not know which it was.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator

from assay.config.strict_yaml import MappingNode, Node, ScalarNode, SequenceNode
from assay.errors import FormatError
from assay.hits.strict_json import values

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


def parse_json(data: bytes, *, source: str) -> Node | None:
    """The tree of a JSON file; None where it is empty."""
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        return None
    found = values(data, source)
    if len(found) > 1:
        raise FormatError(
            "a second value is not allowed", source=source, line=found[1][0], hint="keep one"
        )
    return _Walk(data.decode("utf-8-sig")).value()


class _Walk:
    """One pass over the tokens of text that is known to be JSON of bounded depth."""

    def __init__(self, text: str) -> None:
        breaks = [at.start() for at in re.finditer("\n", text)]
        self._tokens: Iterator[tuple[str, int]] = (
            (found.group(), bisect_right(breaks, found.start()) + 1)
            for found in _TOKEN.finditer(text)
        )

    def value(self) -> Node:
        return self._of(*next(self._tokens))

    def _of(self, token: str, line: int) -> Node:
        if token == "{":  # noqa: S105 - a brace, no password
            return MappingNode(tuple(self._entries()), line)
        if token == "[":  # noqa: S105
            return SequenceNode(tuple(self._items()), line)
        if token.startswith('"'):
            return ScalarNode(json.loads(token, strict=False), line, quoted=True)
        return ScalarNode(token, line)

    def _items(self) -> Iterator[Node]:
        while (found := next(self._tokens))[0] != "]":
            if found[0] != ",":
                yield self._of(*found)

    def _entries(self) -> Iterator[tuple[ScalarNode, Node]]:
        while (found := next(self._tokens))[0] != "}":
            if found[0] == ",":
                continue
            key = self._of(*found)
            assert isinstance(key, ScalarNode)
            next(self._tokens)  # the colon
            yield key, self.value()
