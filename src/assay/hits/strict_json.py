"""What does this JSON say, taken at its word?

Duplicate keys, NaN and infinities, lone surrogates, absurd nesting and absurd numbers are refused
with file and line; a JSON-lines file is read line by line.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from assay import limits
from assay.errors import DuplicateError, FormatError, LimitError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.hits.sources import Bytes

Json: TypeAlias = Any


class _RefusedConstantError(ValueError):
    pass


def loads(data: bytes, source: str, line: int = 1) -> Json:
    """One JSON value; ``line`` is the number of its first line in the file."""
    try:
        text = data.decode("utf-8-sig")
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except UnicodeDecodeError as problem:
        at = line + data.count(b"\n", 0, problem.start)
        raise FormatError("not UTF-8", source=source, line=at, hint="save it as UTF-8") from None
    except json.JSONDecodeError as problem:
        raise FormatError(
            f"not JSON: {problem.msg} (column {problem.colno})",
            source=source,
            line=line + problem.lineno - 1,
        ) from None
    except DuplicateError as problem:
        raise DuplicateError(problem.message, source=source, line=line) from None
    except RecursionError:
        raise FormatError("JSON nested too deeply", source=source, line=line) from None
    except ValueError as problem:
        raise FormatError(f"not usable JSON: {problem}", source=source, line=line) from None
    _check_depth(value, source, line)
    return value


def read_all(stream: Bytes) -> bytes:
    """A whole file, within the cap."""
    data = stream.read(limits.MAX_JSON_BYTES + 1)
    if len(data) > limits.MAX_JSON_BYTES:
        raise LimitError(
            f"{stream.name}: more than {limits.MAX_JSON_BYTES:,} bytes of JSON",
            hint="use TREC or parquet for runs of this size",
        )
    return data


def lines(data: bytes, source: str) -> Iterator[tuple[int, Json]]:
    """The values of a JSON-lines file with their line numbers; blank lines are skipped."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield number, loads(line, source, number)


def is_lines(data: bytes) -> bool:
    """Does every line hold a value of its own? Told by the first line."""
    head = data.lstrip().partition(b"\n")[0]
    if not head.startswith(b"{"):
        return False
    try:
        json.loads(head)
    except ValueError:
        return False
    return len(data.strip()) > len(head.strip()) or b'"query_id"' in head or b'"qid"' in head


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    table = dict(pairs)
    if len(table) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DuplicateError(f"the key {key!r} stands twice in one object")
            seen.add(key)
    return table


def _constant(name: str) -> NoReturn:
    raise _RefusedConstantError(f"{name} is not a number")


def _check_depth(value: Json, source: str, line: int) -> None:
    depth, level = 0, [value]
    while level:
        depth += 1
        if depth > limits.MAX_JSON_DEPTH:
            raise FormatError(
                f"JSON nested more than {limits.MAX_JSON_DEPTH} deep", source=source, line=line
            )
        level = [
            child
            for item in level
            if isinstance(item, (dict, list))
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, (dict, list))
        ]
