"""How does a value become JSON, and JSON the value again?

One description serves ``--json``, HTTP bodies, jobs, exchanged runs and the client: the fields of a
frozen dataclass. A field may say more in its metadata: ``flat`` (its fields stand beside those of
the owner), ``as_json(name)`` (another name, or None to leave it out), ``unless(property)`` (left
out where the property holds).

``encode`` gives JSON values, ``decode`` reads them strictly: a missing field or one of another type
is an ``InputError`` that names the place. Fields that are not known are passed over, so that an
older client reads what a newer service says; ``closed`` refuses them, for what is stored and
believed later. ``json_schema`` describes the same shape. What writes and what reads a type is
worked out once.
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from assay.errors import InputError

T = TypeVar("T")
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
_Write: TypeAlias = Callable[[Any], Any]
_Read: TypeAlias = Callable[[Any], Any]

flat: Mapping[str, Any] = {"flat": True}
"""Metadata of a field whose own fields stand beside those of the owner."""


def as_json(name: str | None = None) -> dict[str, Any]:
    """Metadata of a field that has another name in JSON; None leaves it out."""
    return {"json": name}


def unless(name: str) -> dict[str, Any]:
    """Metadata of an optional field that is left out where a property of the owner is true."""
    return {"unless": name}


def encode(value: Any) -> Any:
    """JSON values for a value of ours; numbers stay as they are."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return _writer_of(type(value))(value)
    if isinstance(value, Mapping):
        return {_key(name): encode(item) for name, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(encode(item) for item in value)
    if isinstance(value, Sequence):
        return [encode(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def decode(kind: type[T], data: Any, where: str = "", *, closed: bool = False) -> T:
    """The value of this type that ``encode`` wrote; ``where`` begins the place in a message."""
    try:
        found: T = _reader(kind, closed)(data)  # type: ignore[arg-type]  # types are hashable
    except _MismatchError as problem:
        place = where or getattr(kind, "__name__", "value")
        raise InputError(f"{place}{problem.path}: {problem.message}") from None
    except RecursionError:
        place = where or getattr(kind, "__name__", "value")
        raise InputError(f"{place}: nested too deeply") from None
    return found


def json_schema(kind: Any) -> dict[str, Any]:
    """The shape of a type as JSON Schema."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return {}
    if origin in (Union, types.UnionType):
        return {"anyOf": [json_schema(one) for one in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": json_schema(arguments[1])}
    if _is_fixed(origin, arguments):
        size, parts = len(arguments), [json_schema(one) for one in arguments]
        alike = all(part == parts[0] for part in parts)
        items = {"items": parts[0]} if alike else {"prefixItems": parts}
        return {"type": "array", **items, "minItems": size, "maxItems": size}
    if origin is not None:
        return {"type": "array", "items": json_schema(arguments[0])}
    if kind is type(None):
        return {"type": "null"}
    if is_dataclass(kind):
        return _object_schema(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [one.value for one in kind]}
    return {"type": _PLAIN[kind]}


_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", Path: "string"}


def _object_schema(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for one in fields(kind):
        name = _name(one)
        if one.metadata.get("flat"):
            inner = json_schema(hints[one.name])
            properties |= inner["properties"]
            required += inner["required"]
        elif name is not None:
            properties[name] = json_schema(hints[one.name])
            required += [] if "unless" in one.metadata else [name]
    return {
        "type": "object",
        "title": kind.__name__,
        "description": " ".join((kind.__doc__ or "").split("\n\n")[0].split()),
        "properties": properties,
        "required": required,
    }


def _name(one: Field[Any]) -> str | None:
    """What a field is called in JSON."""
    name = one.metadata.get("json", one.name)
    return None if name is None else str(name)


def _names(kind: Any) -> set[str]:
    """What the fields of a dataclass are called in JSON, with those that stand beside them."""
    hints = get_type_hints(kind)
    own = {name for one in fields(kind) if (name := _name(one)) and not one.metadata.get("flat")}
    beside = (_names(hints[one.name]) for one in fields(kind) if one.metadata.get("flat"))
    return own.union(*beside)


def _is_fixed(origin: Any, arguments: tuple[Any, ...]) -> bool:
    """Whether a type is a tuple of a fixed length."""
    return origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis)


def _key(name: Any) -> str:
    return str(name.value) if isinstance(name, Enum) else str(name)


# Writing


@lru_cache(maxsize=512)
def _writer_of(kind: type[Any]) -> Callable[[Any], dict[str, Any]]:
    """What writes a dataclass."""
    if (own := getattr(kind, "to_json", None)) is not None:
        return own  # type: ignore[no-any-return]
    hints = get_type_hints(kind)
    beside = [
        (attrgetter(one.name), _writer(hints[one.name]) or encode)
        for one in fields(kind)
        if one.metadata.get("flat")
    ]
    shown = [
        (one.name, name)
        for one in fields(kind)
        if (name := _name(one)) is not None and not one.metadata.get("flat")
    ]
    names = [name for _, name in shown]
    values = [attrgetter(attribute) for attribute, _ in shown]
    get: Callable[[Any], tuple[Any, ...]] = (
        attrgetter(*(attribute for attribute, _ in shown))
        if len(shown) > 1
        else lambda value: tuple(one(value) for one in values)
    )
    special = [
        (name, writer)
        for attribute, name in shown
        if (writer := _writer(hints[attribute])) is not None
    ]

    left_out = [
        (name, attrgetter(one.metadata["unless"]))
        for one in fields(kind)
        if (name := _name(one)) is not None and "unless" in one.metadata
    ]

    def write(value: Any) -> dict[str, Any]:
        found = dict(zip(names, get(value), strict=True))
        for name, writer in special:
            found[name] = writer(found[name])
        for name, holds in left_out:
            if holds(value):
                del found[name]
        for inner, writer in beside:
            found |= writer(inner(value))
        return found

    return write


def _writer(kind: Any) -> _Write | None:
    """What writes a value of this type; None where it is JSON already."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in (str, int, float, bool, type(None)) or origin is Literal:
        return None
    if origin in (Union, types.UnionType):
        return _optional_writer(arguments)
    if origin is tuple and not _is_fixed(origin, arguments):
        return _each(_writer(arguments[0]))
    if origin is tuple and all(_writer(one) is None for one in arguments):
        return list
    if origin is Mapping and arguments[0] is str:
        return _each_value(_writer(arguments[1]))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return attrgetter("_value_")
    if is_dataclass(kind):
        return _exact(kind)
    return encode


def _optional_writer(arguments: tuple[Any, ...]) -> _Write | None:
    writers = [_writer(one) for one in arguments if one is not type(None)]
    if not any(writers):
        return None
    if len(writers) > 1:
        return encode
    write = writers[0] or encode
    return lambda value: None if value is None else write(value)


def _each(writer: _Write | None) -> _Write:
    return list if writer is None else lambda value: [writer(one) for one in value]


def _each_value(writer: _Write | None) -> _Write:
    if writer is None:
        return dict
    return lambda value: {name: writer(one) for name, one in value.items()}


def _exact(kind: Any) -> _Write:
    """A writer of this very class; a subclass has one of its own."""
    write: _Write | None = None

    def chosen(value: Any) -> Any:
        nonlocal write
        made: Any = type(value)
        if made is not kind:
            return encode(value)
        if write is None:
            write = _writer_of(made)  # not before: a class may hold itself
        return write(value)

    return chosen


# Reading


class _MismatchError(Exception):
    """Data is not of the expected shape; ``path`` grows on the way up."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path


@lru_cache(maxsize=1024)
def _reader(kind: Any, closed: bool) -> _Read:
    """What reads a type; ``closed`` refuses fields that it does not have."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _READERS:
        return _READERS[kind]
    if origin in (Union, types.UnionType):
        return _first_of([_reader(one, closed) for one in arguments])
    if origin is Literal:
        return _one_of(arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(_key_reader(arguments[0]), _reader(arguments[1], closed))
    if _is_fixed(origin, arguments):
        return _fixed([_reader(one, closed) for one in arguments])
    if origin is not None:
        return _collection(_MADE.get(origin, list), _reader(arguments[0], closed))
    if is_dataclass(kind):
        return _dataclass(kind, closed)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _member(kind)
    raise TypeError(f"{kind} has no JSON form")


_MADE: dict[Any, Callable[[list[Any]], Any]] = {
    tuple: tuple,
    Sequence: tuple,
    frozenset: frozenset,
    AbstractSet: frozenset,
    set: set,
}


def _dataclass(kind: Any, closed: bool) -> _Read:
    if (own := getattr(kind, "from_json", None)) is not None:
        return lambda data: own(_checked(dict, data))
    hints: dict[str, Any] = {}
    rows: list[tuple[str, str | None, bool, bool, _Read]] = []
    known: set[str] = set()

    def work_out() -> None:  # at the first value: a class may hold itself
        hints.update(get_type_hints(kind))
        rows.extend(
            (
                one.name,
                _name(one),
                bool(one.metadata.get("flat")),
                one.default is MISSING and one.default_factory is MISSING,
                _reader(hints[one.name], closed and not one.metadata.get("flat")),
            )
            for one in fields(kind)
            if one.init
        )
        known.update(_names(kind) if closed else ())

    def read(data: Any) -> Any:
        if not rows:
            work_out()
        _checked(dict, data)
        if known and (unknown := sorted(data.keys() - known)):
            raise _MismatchError("is not known", f".{unknown[0]!s:.60}")
        values: dict[str, Any] = {}
        for attribute, name, is_flat, required, reader in rows:
            if is_flat:
                values[attribute] = reader(data)
            elif name is not None and name in data:
                try:
                    values[attribute] = reader(data[name])
                except _MismatchError as problem:
                    problem.path = f".{name}{problem.path}"
                    raise
            elif required:
                raise _MismatchError(f"{name} is missing")
        return kind(**values)

    return read


def _mapping(key: _Read, item: _Read) -> _Read:
    def read(data: Any) -> Any:
        found = {}
        for name, one in _checked(dict, data).items():
            try:
                found[key(name)] = item(one)
            except _MismatchError as problem:
                problem.path = f".{name}{problem.path}"
                raise
        return found

    return read


def _key_reader(kind: Any) -> _Read:
    """Keys of JSON are text; some stand for numbers."""
    if kind is not int:
        return _reader(kind, closed=False)

    def read(text: str) -> int:
        if not _WHOLE.fullmatch(text):
            raise _MismatchError("must be a whole number")
        return int(text)

    return read


def _fixed(readers: list[_Read]) -> _Read:
    def read(data: Any) -> Any:
        if len(_checked(list, data)) != len(readers):
            raise _MismatchError(f"must be a list of {len(readers)}")
        return tuple([reader(one) for reader, one in zip(readers, data, strict=True)])

    return read


def _collection(make: Callable[[list[Any]], Any], item: _Read) -> _Read:
    def read(data: Any) -> Any:
        found: list[Any] = []
        try:
            for one in _checked(list, data):
                found.append(item(one))  # noqa: PERF401 - its length tells where it went wrong
        except _MismatchError as problem:
            if isinstance(data, list):
                problem.path = f"[{len(found)}]{problem.path}"
            raise
        return make(found)

    return read


def _first_of(readers: list[_Read]) -> _Read:
    def read(data: Any) -> Any:
        first: _MismatchError | None = None
        for reader in readers:
            try:
                return reader(data)
            except _MismatchError as problem:
                first = first or problem
        assert first is not None
        raise first

    return read


def _one_of(allowed: tuple[Any, ...]) -> _Read:
    kinds = [(type(one), one) for one in allowed]  # True is not 1 here, nor is 1.0

    def read(data: Any) -> Any:
        if (type(data), data) not in kinds:
            raise _MismatchError(f"must be {' or '.join(map(str, allowed))}")
        return data

    return read


def _member(kind: type[Enum]) -> _Read:
    known = {(type(one.value), one.value): one for one in kind}

    def read(data: Any) -> Any:
        try:
            return known[type(data), data]
        except (KeyError, TypeError):
            raise _MismatchError(f"{data!r:.40} is not known") from None

    return read


def _number(data: Any) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float):
        raise _MismatchError("must be a number")
    try:
        number = float(data)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _MismatchError("must be a finite number")
    return number


_WORDS: Mapping[type, str] = {
    str: "text",
    int: "a whole number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}


def _checked(kind: type[T], data: Any) -> T:
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        raise _MismatchError(f"must be {_WORDS[kind]}")
    return data


_READERS: dict[Any, _Read] = {
    Any: lambda data: data,
    type(None): _one_of((None,)),
    str: lambda data: _checked(str, data),
    int: lambda data: _checked(int, data),
    bool: lambda data: _checked(bool, data),
    float: _number,
    Path: lambda data: Path(_checked(str, data)),
}
