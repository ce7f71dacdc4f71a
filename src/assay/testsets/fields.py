"""Is this field of a test set what it should be, and if not, what should its author do?

A ``FieldReader`` reads one mapping of the file. Its methods return the checked value, or record the
problem with its line and return a value that lets reading continue, so that one pass finds every
problem. Text is read as written: ``NO``, ``012``, ``12:30`` and a bare PMID need no quotes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from assay import limits
from assay.model.judgments import Span
from assay.strict_yaml import FORBIDDEN, MappingNode, Node, ScalarNode, SequenceNode
from assay.testsets.draft import DraftSet

Choice = TypeVar("Choice", bound=Enum)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_WHOLE = re.compile(r"0|[1-9][0-9]{0,17}")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(\.[0-9]{1,30})?(e[+-]?[0-9]{1,2})?")
_GRADES = "grades are 0, 1, 2 or 3, without quotes"


def is_null(node: Node | None) -> bool:
    """Whether the value is missing or null."""
    return node is None or (
        isinstance(node, ScalarNode) and not node.quoted and node.text in _NULLS
    )


@dataclass(frozen=True, slots=True)
class FieldReader:
    """Reads one mapping of the file, and knows the query that it belongs to."""

    node: MappingNode
    draft: DraftSet
    query_id: str | None = None

    def problem(self, node: Node, message: str, hint: str | None = None) -> None:
        """Record a problem with a value."""
        self.draft.problem(node.line, message, query_id=self.query_id, hint=hint)

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Record unknown keys, which are typing errors."""
        names = list(known)
        for key, _ in self.node.entries:
            if key.text not in names:
                within = [name for name in names if key.text in name.split("_")]  # text: query_text
                close = within or difflib.get_close_matches(key.text, names, 1)
                hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(names)}"
                self.problem(key, f"the key {key.text!r:.60} is unknown", hint)

    def lines(self) -> dict[str, int]:
        """The line of each key."""
        return {key.text: key.line for key, _ in self.node.entries}

    def text(self, key: str, *, required: bool = False) -> str:
        """A single text; empty if it is missing."""
        node = self.node.get(key)
        written = "" if node is None or is_null(node) else self._scalar(node, key)
        if required and not written and (node is None or isinstance(node, ScalarNode)):
            self.problem(node or self.node, f"{key} is missing")
        return written

    def optional(self, key: str) -> str | None:
        """A single text; None if it is missing."""
        return self.text(key) or None

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        found = []
        for item in self.items(key):
            if is_null(item):
                self.problem(item, f"an entry of {key} is empty", "write it, or remove the entry")
            else:
                found.append(self._scalar(item, f"an entry of {key}"))
        return tuple(found)

    def items(self, key: str) -> tuple[Node, ...]:
        """The entries of a list; none if it is missing."""
        node = self.node.get(key)
        if node is None or is_null(node):
            return ()
        if not isinstance(node, SequenceNode):
            self.problem(node, f"{key} must be a list", "write [a, b], or one '- a' on each line")
            return ()
        return node.items

    def choice(self, key: str, kinds: type[Choice]) -> Choice | None:
        """One of a closed set of words; None if it is missing."""
        node = self.node.get(key)
        if node is None or is_null(node):
            return None
        written = self._scalar(node, key)
        known = {str(kind.value): kind for kind in kinds}
        if written in known:
            return known[written]
        close = difflib.get_close_matches(written.lower(), [word.lower() for word in known], 1)
        guess = next((word for word in known if close and word.lower() == close[0]), None)
        words = ", ".join(known)
        hint = f"did you mean {guess}? it is one of {words}" if guess else f"it is one of {words}"
        if written:
            self.problem(node, f"{key} {written!r:.60} is unknown", hint)
        return None

    def whole(self, key: str) -> int | None:
        """An integer of the usual size, or None with the problem recorded."""
        node = self.node.get(key)
        if isinstance(node, ScalarNode) and not node.quoted and _WHOLE.fullmatch(node.text):
            return int(node.text)
        self.problem(node or self.node, f"{key} must be a whole number, without quotes")
        return None

    def grade(self) -> int | None:
        """A grade from 0 to 3, or None with the problem recorded."""
        node = self.node.get("grade")
        if node is None or is_null(node):
            self.problem(node or self.node, "grade is missing", _GRADES)
            return None
        sound = isinstance(node, ScalarNode) and not node.quoted and _WHOLE.fullmatch(node.text)
        if isinstance(node, ScalarNode) and sound and int(node.text) <= limits.MAX_GOLDEN_GRADE:
            return int(node.text)
        if not isinstance(node, ScalarNode):
            shown = "a list" if isinstance(node, SequenceNode) else "a mapping"
        else:
            shown = f'"{node.text[:40]}"' if node.quoted else node.text[:40]
        self.problem(node, f"the grade is {shown}", _GRADES)
        return None

    def relevance(self, relevant: int) -> int | None:
        """The grade of a binary judgment, which names what is relevant unless it says otherwise."""
        node = self.node.get("relevant")
        if node is None or is_null(node):
            return relevant
        words = {"true": relevant, "false": 0}
        if isinstance(node, ScalarNode) and not node.quoted and node.text.lower() in words:
            return words[node.text.lower()]
        self.problem(node, "relevant must be true or false, without quotes")
        return None

    def switch(self, key: str, *, usual: bool) -> bool:
        """True or false; ``usual`` if it is missing."""
        node = self.node.get(key)
        if node is None or is_null(node):
            return usual
        words = {"true": True, "false": False}
        if isinstance(node, ScalarNode) and not node.quoted and node.text.lower() in words:
            return words[node.text.lower()]
        self.problem(node, f"{key} must be true or false")
        return usual

    def spans(self, key: str) -> tuple[Span, ...]:
        """Character spans ``[start, end)``; invalid ones are recorded and left out."""
        found: list[Span] = []
        for item in self.items(key):
            ends = item.items if isinstance(item, SequenceNode) else ()
            numbers = [
                int(end.text)
                for end in ends
                if isinstance(end, ScalarNode) and not end.quoted and _WHOLE.fullmatch(end.text)
            ]
            if len(ends) == len(numbers) == 2 and numbers[0] < numbers[1]:
                found.append((numbers[0], numbers[1]))
            else:
                self.problem(item, "a span is [start, end] with whole numbers, 0 <= start < end")
        return tuple(found)

    def _scalar(self, node: Node, what: str) -> str:
        if not isinstance(node, ScalarNode):
            kind = "list" if isinstance(node, SequenceNode) else "mapping"
            self.problem(node, f"{what} must be a single text, not a {kind}")
            return ""
        if bad := FORBIDDEN.search(node.text):
            self.problem(node, f"{what} holds the character U+{ord(bad[0]):04X}")
        return node.text


def plain(node: Node) -> Any:
    """Free-form data as JSON values; unquoted numbers, true, false and null keep their types."""
    if isinstance(node, MappingNode):
        return {key.text: plain(value) for key, value in node.entries}
    if isinstance(node, SequenceNode):
        return [plain(item) for item in node.items]
    if node.quoted:
        return node.text
    if found := _NUMBER.fullmatch(node.text):
        return float(node.text) if found[1] or found[2] else int(node.text)
    words = {"true": True, "false": False} | dict.fromkeys(_NULLS)
    return words.get(node.text, node.text)
