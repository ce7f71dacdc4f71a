"""What does this JSON say, read strictly?

Duplicate keys, NaN and infinities, lone surrogates, extreme nesting and extremely long numbers are
errors with file and line. A file holds one value, or one value per line.

Python's parser does not say where it met a duplicate key or a NaN; ``line_of_...`` walk over the
tokens again, but only after an error.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from assay import limits
from assay.errors import DuplicateError, FormatError, PlacedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json: TypeAlias = Any

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SOMETHING = re.compile(r"[^ \t\r\n]")


def values(data: bytes, source: str) -> list[tuple[int, Json]]:
    """The values of a JSON or JSON-lines file, each with the line on which it begins."""
    text = _decoded(data, source)
    begin = _skip(text, 0)
    first = 1 + text.count("\n", 0, begin)
    value, end = _value(text, begin, source, 1)
    if _skip(text, end) == len(text):
        return [(first, value)]
    line_end = text.find("\n", begin)
    if not end <= line_end < _skip(text, end):
        raise FormatError(
            "not JSON: something follows the value",
            source=source,
            line=1 + text.count("\n", 0, _skip(text, end)),
            hint="a file holds one value, or one value on each line",
        )
    return [(first, value), *_lines(text[line_end + 1 :], source, first + 1)]


def _lines(text: str, source: str, first: int) -> Iterator[tuple[int, Json]]:
    for number, line in enumerate(text.split("\n"), first):
        begin = _skip(line, 0)
        if begin == len(line):
            continue
        value, end = _value(line, begin, source, number)
        if _skip(line, end) < len(line):
            raise FormatError(
                "not JSON: something follows the value",
                source=source,
                line=number,
                hint="one value belongs on each line",
            )
        yield number, value


def _skip(text: str, at: int) -> int:
    """The position of the next character that is not blank, or the end."""
    found = _SOMETHING.search(text, at)
    return found.start() if found else len(text)


def _decoded(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        at = 1 + data.count(b"\n", 0, problem.start)
        raise FormatError("not UTF-8", source=source, line=at, hint="save it as UTF-8") from None


class _RefusedError(Exception):
    """A rejected value: what is wrong, and how to find its line in the text."""

    def __init__(
        self,
        message: str,
        find: Callable[[str], int],
        hint: str | None = None,
        kind: type[PlacedError] = FormatError,
    ) -> None:
        super().__init__(message)
        self.find, self.hint, self.kind = find, hint, kind

    def error(self, text: str, source: str, first: int) -> PlacedError:
        line = first + self.find(text) - 1
        return self.kind(str(self), source=source, line=line, hint=self.hint)


def _value(text: str, begin: int, source: str, line: int) -> tuple[Json, int]:
    """The value at ``begin``, and where it ends; ``line`` is the number of the first line."""
    try:
        value, end = _DECODER.raw_decode(text, begin)
        _refuse_deep(value)
        _refuse_half_pairs(value, text, begin, end)
    except _RefusedError as problem:
        raise problem.error(text, source, line) from None
    except json.JSONDecodeError as problem:
        raise FormatError(
            f"not JSON: {problem.msg} (column {problem.colno})",
            source=source,
            line=line + problem.lineno - 1,
            hint="is the file complete?",
        ) from None
    except RecursionError:
        raise _too_deep().error(text, source, line) from None
    except ValueError:  # Python refuses to convert thousands of digits
        at = line + line_of_token(text, _has_too_many_digits) - 1
        raise FormatError("a number with too many digits", source=source, line=at) from None
    return value, end


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    table = dict(pairs)
    if len(table) < len(pairs):
        count = Counter(key for key, _ in pairs)
        twice = next(key for key, _ in pairs if count[key] > 1)
        raise _RefusedError(
            f"the key {twice!a:.60} appears twice in one object",
            lambda text: line_of_duplicate(text, twice),
            "keep one of them",
            DuplicateError,
        )
    return table


def _constant(name: str) -> NoReturn:
    raise _RefusedError(
        f"{name} is not a number",
        lambda text: line_of_token(text, lambda token: token == name),
        "leave the value out, or use null",
    )


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)


def _has_too_many_digits(token: str) -> bool:
    digits = token.removeprefix("-")
    return len(digits) > sys.get_int_max_str_digits() and digits.isdigit()


def _too_deep() -> _RefusedError:
    most = limits.MAX_JSON_DEPTH
    return _RefusedError(
        f"JSON nested more than {most} deep", lambda text: line_of_depth(text, most)
    )


def _refuse_deep(value: Json) -> None:
    level = [value]
    for _ in range(limits.MAX_JSON_DEPTH):
        level = [child for item in level for child in _children(item)]
        if not level:
            return
    raise _too_deep()


def _children(item: Json) -> Iterator[Json]:
    """The objects and arrays directly inside a value."""
    inside = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
    return (child for child in inside if isinstance(child, (dict, list)))


def _refuse_half_pairs(value: Json, text: str, begin: int, end: int) -> None:
    """Reject lone surrogates, also in keys: such text can be neither compared nor written."""
    found = _SURROGATE.search(text, begin, end)
    level = [value] if found else []
    while level:
        item = level.pop()
        if isinstance(item, str) and any("\ud800" <= char <= "\udfff" for char in item):
            raise _RefusedError(
                "text with half a surrogate pair",
                lambda text: line_of_surrogate(text, begin),
                "write the whole pair, or the character itself",
            )
        if isinstance(item, dict):
            level += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            level += item


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_HALF_PAIR = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)


def line_of_token(text: str, wanted: Callable[[str], bool]) -> int:
    """The line of the first token (not a string) that is ``wanted``; 1 if there is none."""
    for part, begin in _tokens(text):
        if not part.startswith('"') and wanted(part):
            return _line(text, begin)
    return 1


def line_of_duplicate(text: str, key: str) -> int:
    """The line on which an object repeats this key; 1 if none does."""
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


def line_of_depth(text: str, most: int) -> int:
    """The line on which nesting first exceeds ``most`` levels; 1 if it never does."""
    depth = 0
    for part, begin in _tokens(text):
        depth += (part in "{[") - (part in "}]")
        if depth > most:
            return _line(text, begin)
    return 1


def line_of_surrogate(text: str, begin: int) -> int:
    """The line of the first lone surrogate at or after ``begin``."""
    found = _HALF_PAIR.search(text, begin)
    return _line(text, found.start() if found else begin)


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    return ((found.group(), found.start()) for found in _TOKEN.finditer(text))


def _line(text: str, at: int) -> int:
    return 1 + text.count("\n", 0, at)
