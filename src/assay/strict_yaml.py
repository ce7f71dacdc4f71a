"""What exactly did a person write in this YAML file, and on which line?

The reader builds a small tree of nodes from the events of the safe loader's parser. It never
constructs Python objects: a scalar keeps the text that was typed, so that ``NO``, ``012``,
``1_000``, ``12:30:45``, ``1e3`` and ``~`` stay what they are until someone who knows the wanted
type converts them. Everything in YAML that can surprise is refused with file and line: aliases,
anchors, tags, duplicate keys, keys that are not single values, several documents, other encodings,
control characters, deep nesting and large files.

A caller that wants to know of every fault at once passes a list: what can be read past is noted
there instead of raised. Text that is not YAML at all still raises.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay import limits
from assay.errors import DuplicateError, FormatError, LimitError, MissingFileError, PlacedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_UTF8_BOM = b"\xef\xbb\xbf"
FORBIDDEN = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """A single value as it was written; ``quoted`` tells ``"3"`` from ``3``."""

    text: str
    line: int
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class SequenceNode:
    """A sequence."""

    items: tuple[Node, ...]
    line: int


@dataclass(frozen=True, slots=True)
class MappingNode:
    """Keys and values in the order of the file; no key appears twice."""

    entries: tuple[tuple[ScalarNode, Node], ...]
    line: int

    def get(self, key: str) -> Node | None:
        """The value of a key, or ``None`` where the file lacks it."""
        return next((value for name, value in self.entries if name.text == key), None)


Node = ScalarNode | SequenceNode | MappingNode


def one_line(node: Node) -> str:
    """A value as people write it on one line: ``a,b`` for a list, ``a=1,b=2`` for a mapping.

    Between the parts of a mapping of mappings there are semicolons.
    """
    if isinstance(node, ScalarNode):
        return node.text
    if isinstance(node, SequenceNode):
        return ",".join(one_line(item) for item in node.items)
    nested = any(isinstance(value, MappingNode) for _, value in node.entries)
    parts = (f"{key.text}={one_line(value)}" for key, value in node.entries)
    return (";" if nested else ",").join(parts)


def plain_value(node: Node) -> Any:
    """YAML as plain values: a bare number or true is one, everything else is text."""
    if isinstance(node, MappingNode):
        return {key.text: plain_value(value) for key, value in node.entries}
    if isinstance(node, SequenceNode):
        return [plain_value(value) for value in node.items]
    if node.quoted:
        return node.text
    if re.fullmatch(r"-?[0-9]{1,15}", node.text):
        return int(node.text)
    if re.fullmatch(r"-?[0-9]{1,15}\.[0-9]{1,15}", node.text):
        return float(node.text)
    return {"true": True, "false": False, "null": None}.get(node.text, node.text)


def load_yaml(path: Path, *, max_bytes: int = limits.MAX_YAML_BYTES) -> Node | None:
    """Read one YAML file; ``None`` means that it holds nothing but comments."""
    return parse_yaml(_read(path, max_bytes), source=str(path), max_bytes=max_bytes)


def parse_yaml(
    data: bytes,
    *,
    source: str,
    max_bytes: int = limits.MAX_YAML_BYTES,
    max_items: int | None = None,
    faults: list[PlacedError] | None = None,
) -> Node | None:
    """Read YAML from bytes; ``source`` is the name that errors give to it.

    With ``faults`` a forbidden alias, tag or duplicate key is noted there and left out. Reading
    ends where a list gets longer than ``max_items``.
    """
    if len(data) > max_bytes:
        raise _too_large(source, max_bytes)
    return _TreeBuilder(source, _decode(data, source), faults, max_items).document()


def _read(path: Path, max_bytes: int) -> bytes:
    """The bytes of a regular file, at most one more than is allowed."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise MissingFileError(f"{path} is not a regular file")
        with path.open("rb") as file:
            return file.read(max_bytes + 1)
    except OSError as error:
        raise MissingFileError(f"cannot read {path}: {error.strerror}") from error


def _too_large(source: str, max_bytes: int) -> LimitError:
    return LimitError(
        f"{source} is larger than {max_bytes} bytes",
        hint="the caps are listed by: assay config limits",
    )


def _decode(data: bytes, source: str) -> str:
    """The text of a UTF-8 file, with or without a byte order mark."""
    body = data.removeprefix(_UTF8_BOM)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise FormatError(
            "the file is not UTF-8 text", source=source, line=line, hint="save it as UTF-8"
        ) from error
    if bad := FORBIDDEN.search(text):
        raise _bad_character(bad[0], source, line=text.count("\n", 0, bad.start()) + 1)
    return text


def _bad_character(character: str, source: str, line: int) -> FormatError:
    return FormatError(
        f"the character U+{ord(character):04X} is not allowed", source=source, line=line
    )


class _TreeBuilder:
    """Turns parser events into nodes and refuses what is not plain data."""

    def __init__(
        self, source: str, text: str, faults: list[PlacedError] | None, max_items: int | None
    ) -> None:
        self._source = source
        self._events = _events(source, text)
        self._faults = faults
        self._max_items = max_items

    def document(self) -> Node | None:
        """The only document of the stream."""
        next(self._events)  # the stream starts
        event = next(self._events)
        if _kind(event) == "StreamEnd":
            return None
        if event.tags:
            self._refuse(event, "a %TAG directive is not allowed")
        node = self._node(next(self._events), depth=1)
        next(self._events)  # the document ends
        after = next(self._events)
        if _kind(after) != "StreamEnd":
            self._refuse(after, "a second document is not allowed", "keep one document per file")
        empty = isinstance(node, ScalarNode) and not node.text and not node.quoted
        return None if empty else node

    def _node(self, event: Any, depth: int) -> Node:
        kind = _kind(event)
        if kind == "Alias":
            self._refuse(event, f"the alias *{event.anchor} is not allowed", "repeat the value")
            return ScalarNode("", _line(event))
        if event.anchor is not None:
            self._refuse(event, f"the anchor &{event.anchor} is not allowed", "leave it out")
        if event.tag is not None:
            self._refuse(event, f"the tag {event.tag} is not allowed", "write the plain value")
        if kind == "Scalar":
            return self._scalar(event)
        if depth > limits.MAX_YAML_DEPTH:  # nothing below can be trusted to be shallow
            raise self._error(event, f"nested deeper than {limits.MAX_YAML_DEPTH} levels")
        return self._items(event, depth) if kind == "SequenceStart" else self._mapping(event, depth)

    def _scalar(self, event: Any) -> ScalarNode:
        if bad := FORBIDDEN.search(event.value):  # written as an escape
            self._note(_bad_character(bad[0], self._source, _line(event)))
        quoted = event.style is not None and event.style != ""
        return ScalarNode(event.value, _line(event), quoted)

    def _items(self, start: Any, depth: int) -> SequenceNode:
        items = []
        while _kind(event := next(self._events)) != "SequenceEnd":
            items.append(self._node(event, depth + 1))
            if self._max_items is not None and len(items) > self._max_items:
                raise LimitError(
                    f"{self._source}:{_line(start)}: "
                    f"a list of more than {self._max_items:,} entries",
                    hint="make several test sets of it",
                )
        return SequenceNode(tuple(items), _line(start))

    def _mapping(self, start: Any, depth: int) -> MappingNode:
        entries: list[tuple[ScalarNode, Node]] = []
        seen: dict[str, int] = {}
        while _kind(event := next(self._events)) != "MappingEnd":
            key = self._key(event, depth, seen)
            value = self._node(next(self._events), depth + 1)
            if key is not None:
                entries.append((key, value))
        return MappingNode(tuple(entries), _line(start))

    def _key(self, event: Any, depth: int, seen: dict[str, int]) -> ScalarNode | None:
        if _kind(event) not in ("Scalar", "Alias"):
            self._refuse(event, "a key must be a single value")
        key = self._node(event, depth + 1)
        if not isinstance(key, ScalarNode):
            return None
        if key.text in seen:
            self._note(
                DuplicateError(
                    f"the key {key.text!r} appears twice, first on line {seen[key.text]}",
                    source=self._source,
                    line=key.line,
                    hint="remove one of them",
                )
            )
            return None
        seen[key.text] = key.line
        return key

    def _refuse(self, event: Any, message: str, hint: str | None = None) -> None:
        self._note(self._error(event, message, hint))

    def _error(self, event: Any, message: str, hint: str | None = None) -> FormatError:
        return FormatError(message, source=self._source, line=_line(event), hint=hint)

    def _note(self, fault: PlacedError) -> None:
        """Raise a fault, or keep it where the caller wants all of them."""
        if self._faults is None:
            raise fault
        self._faults.append(fault)


def _kind(event: Any) -> str:
    return type(event).__name__.removesuffix("Event")


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _events(source: str, text: str) -> Iterator[Any]:
    """The parser's events; libyaml where PyYAML was built with it."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise FormatError(
            f"not valid YAML: {getattr(error, 'problem', None) or error}",
            source=source,
            line=mark.line + 1 if mark else None,
            hint="tabs cannot indent; text with ': ' or ' #' needs quotes",
        ) from error
