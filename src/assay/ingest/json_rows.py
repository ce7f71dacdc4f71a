"""What JSON values does a corpus file hold, and on which lines?

A file is JSON lines, one object, an array, or an object that wraps an array. Duplicate keys, NaN,
extreme nesting and numbers, NUL characters, lone surrogates and a truncated last line are errors.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from assay import limits
from assay.errors import LimitError
from assay.ingest.files import Line, as_utf8, lines, whole
from assay.ingest.folders import suffix
from assay.ingest.parsed import FileLocation
from assay.ingest.watch import Watch

LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
Row: TypeAlias = dict[str, Any]


class _RefusedError(ValueError):
    """A value that the parser accepts and we do not."""


def _object(pairs: list[tuple[str, Any]]) -> Row:
    table = dict(pairs)
    if len(table) < len(pairs):
        ((repeated, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise _RefusedError(f"the key {repeated!r:.80} appears twice in one object")
    return table


def _constant(name: str) -> NoReturn:
    raise _RefusedError(f"{name} is not a number")


_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_MAYBE_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_decode = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant).decode


def parse(data: bytes, location: FileLocation) -> Any:
    """One JSON value; ``location`` is the line it starts on."""
    first = location.line or 1
    try:
        value = _decode(data.decode("utf-8-sig"))
        _refuse_unstorable(data, value)
    except UnicodeEncodeError:
        raise location.format_error(
            "half a surrogate pair", hint="the program that wrote the file split a character in two"
        ) from None
    except UnicodeDecodeError as problem:
        at = first + data.count(b"\n", 0, problem.start)
        raise FileLocation(location.source, at).format_error(
            "not UTF-8", hint="save it as UTF-8"
        ) from None
    except json.JSONDecodeError as problem:
        at = first + problem.lineno - 1
        raise FileLocation(location.source, at).format_error(
            f"not JSON: {problem.msg} (column {problem.colno})"
        ) from None
    except RecursionError:
        raise location.format_error("JSON nested too deeply") from None
    except ValueError as problem:
        raise location.format_error(f"not usable JSON: {problem}") from None
    return value


def _refuse_unstorable(data: bytes, value: object) -> None:
    """Reject what neither a database nor a UTF-8 file can hold."""
    if b"\\u" not in data:  # as in most rows; it is far faster than the patterns
        return
    if _NUL.search(data):
        raise _RefusedError("a NUL character")
    if _MAYBE_SURROGATE.search(data):  # lone surrogates only show when encoding
        json.dumps(value, ensure_ascii=False).encode()


def line_rows(path: Path, watch: Watch) -> Iterator[tuple[FileLocation, Row]]:
    """The objects of a JSON-lines file; blank lines are skipped."""
    for line in lines(path, watch):
        if line.data.strip():
            location = FileLocation(str(path), line.number)
            with watch.passing():
                yield location, _row(_line_value(line, location), location)


def file_rows(
    path: Path, watch: Watch, wrapper: str, *, is_row: Callable[[Row], bool] | None = None
) -> Iterator[tuple[FileLocation, Row]]:
    """The objects of any JSON file: lines, one object, an array, or ``{wrapper: array}``.

    With ``is_row`` the array may have any name, where it is the only one of such objects.
    """
    if is_lines(path):
        yield from line_rows(path, watch)
        return
    location = FileLocation(str(path), 1)
    data = as_utf8([whole(path, watch, limits.MAX_CORPUS_JSON_BYTES)], location)
    value = parse(b"".join(data), location)
    if isinstance(value, dict) and isinstance(value.get(wrapper), list) and len(value) <= 3:
        value = value[wrapper]  # a page of results: the array, a token and a count
    elif isinstance(value, dict) and is_row is not None:
        value = wrapped_rows(value, is_row) or value
    if not isinstance(value, list):
        yield location, _row(value, location)
        return
    for index, row in enumerate(value):
        place = FileLocation(f"{path}[{index}]")  # says more here than a line
        with watch.passing():
            yield place, _row(row, place)


def wrapped_rows(value: Row, is_row: Callable[[Row], bool]) -> list[Row]:
    """The rows that an object wraps, if it is none itself and has one array of them."""
    lists = [one for one in value.values() if isinstance(one, list) and one]
    found = [one for one in lists if isinstance(one[0], dict) and is_row(one[0])]
    return found[0] if len(found) == 1 and not is_row(value) else []


def is_lines(path: Path) -> bool:
    """Does every line hold an object of its own? Judged by the first line and what follows it."""
    filled = (line for line in lines(path, Watch()) if line.data.strip())
    try:
        first = next(filled, None)
        if first is None or not first.data.lstrip(b"\xef\xbb\xbf \t\r").startswith(b"{"):
            return False
        json.loads(first.data)
        return suffix(path) in LINE_SUFFIXES or next(filled, None) is not None
    except (LimitError, ValueError, RecursionError):
        return False


def _line_value(line: Line, location: FileLocation) -> Any:
    try:
        return parse(line.data, location)
    except Exception:
        if line.ended:
            raise
        raise location.format_error(
            "the last line is truncated: its JSON is incomplete and it has no newline",
            hint="was the file still being written? create it again, or remove that line",
        ) from None


def _row(value: object, location: FileLocation) -> Row:
    if not isinstance(value, dict):
        raise location.format_error(f"expected an object, not {type(value).__name__}")
    return value
