"""How does a value become JSON, and JSON the value again?

One description serves ``--json``, HTTP bodies, jobs, exchanged runs and the client: the fields of a
frozen dataclass. A field may say more in its metadata: ``flat`` (its fields stand beside those of
the owner), ``as_json(name=...)`` (another name, or None to leave it out).

``encode`` gives JSON values, ``decode`` reads them strictly: a missing field or one of another type
is an ``InputError`` that names the place. Fields that are not known are passed over, so that an
older client reads what a newer service says. ``json_schema`` describes the same shape.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from assay.errors import InputError

T = TypeVar("T")

flat: Mapping[str, Any] = {"flat": True}
"""Metadata of a field whose own fields stand beside those of the owner."""


def as_json(name: str | None = None) -> dict[str, Any]:
    """Metadata of a field that has another name in JSON; None leaves it out."""
    return {"json": name}


def encode(value: Any) -> Any:
    """JSON values for a value of ours; numbers stay as they are."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value.value) if isinstance(value, Enum) else value
    if is_dataclass(value) and not isinstance(value, type):
        return _encoder(type(value))(value)
    if isinstance(value, Mapping):
        return {_key(name): encode(item) for name, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(encode(item) for item in value)
    if isinstance(value, Sequence):
        return [encode(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def decode(kind: type[T], data: Any, where: str = "") -> T:
    """The value of this type that ``encode`` wrote."""
    found: T = _decoder(kind)(data, where or getattr(kind, "__name__", "value"))
    return found


def json_schema(kind: Any) -> dict[str, Any]:
    """The shape of a type as JSON Schema."""
    return _schema(kind)


def _key(name: Any) -> str:
    return str(name.value) if isinstance(name, Enum) else str(name)


@lru_cache(maxsize=512)
def _encoder(kind: type[Any]) -> Callable[[Any], dict[str, Any]]:
    """What writes a dataclass; worked out once a type."""
    if (own := getattr(kind, "to_json", None)) is not None:
        return lambda value: own(value)  # type: ignore[no-any-return]
    hints = get_type_hints(kind)
    named = [(one, _name(one)) for one in fields(kind) if not one.metadata.get("flat")]
    shown = [
        (attrgetter(one.name), name, _writer(hints[one.name]))
        for one, name in named
        if name is not None
    ]
    beside = [attrgetter(one.name) for one in fields(kind) if one.metadata.get("flat")]

    def write(value: Any) -> dict[str, Any]:
        found = {
            name: get(value) if writer is None else writer(get(value))
            for get, name, writer in shown
        }
        for get in beside:
            found |= encode(get(value))
        return found

    return write


def _writer(kind: Any) -> Callable[[Any], Any] | None:
    """What writes a field, chosen by its type so that plain ones cost nothing: None for those."""
    if _is_plain(kind):
        return None
    arguments = get_args(kind)
    if get_origin(kind) is tuple and arguments[-1] is Ellipsis and _is_plain(arguments[0]):
        return list
    if get_origin(kind) is Mapping and arguments[0] is str and _is_plain(arguments[1]):
        return dict
    return encode


def _is_plain(kind: Any) -> bool:
    if get_origin(kind) in (Union, types.UnionType):
        return all(map(_is_plain, get_args(kind)))
    return kind in (str, int, float, bool, type(None))


def _name(one: Field[Any]) -> str | None:
    name = one.metadata.get("json", one.name)
    return None if name is None else str(name)


_Read = Callable[[Any, str], Any]


@lru_cache(maxsize=1024)
def _decoder(kind: Any) -> _Read:
    """What reads a type; worked out once."""
    if kind is Any or isinstance(kind, TypeVar):
        return lambda data, where: data
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _union([_decoder(one) for one in get_args(kind)])
    if origin is Literal:
        return _literal(get_args(kind))
    if origin is not None:
        return _collection(origin, get_args(kind))
    if kind is type(None):
        return _literal((None,))
    if is_dataclass(kind):
        return _dataclass(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enum(kind)
    if kind is float:
        return _number
    if kind is Path:
        return lambda data, where: Path(_checked(str, data, where))
    if kind in (str, int, bool):
        return lambda data, where: _checked(kind, data, where)
    raise TypeError(f"{kind} has no JSON form")


def _dataclass(kind: Any) -> _Read:
    if (own := getattr(kind, "from_json", None)) is not None:
        return lambda data, where: own(_checked(dict, data, where))
    hints = get_type_hints(kind)
    every = [(one, _name(one), _decoder(hints[one.name])) for one in fields(kind) if one.init]

    def read(data: Any, where: str) -> Any:
        _checked(dict, data, where)
        values: dict[str, Any] = {}
        for one, name, reader in every:
            if one.metadata.get("flat"):
                values[one.name] = reader(data, where)
            elif name is not None and name in data:
                values[one.name] = reader(data[name], f"{where}.{name}")
            elif one.default is MISSING and one.default_factory is MISSING:
                raise InputError(f"{where}: {name} is missing")
        return kind(**values)

    return read


def _collection(origin: Any, arguments: tuple[Any, ...]) -> _Read:
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, item = _decoder(arguments[0]), _decoder(arguments[1])
        as_key = int if arguments[0] is int else lambda text: key(text, "key")

        def mapping(data: Any, where: str) -> Any:
            _checked(dict, data, where)
            return {as_key(name): item(one, f"{where}.{name}") for name, one in data.items()}

        return mapping
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
        parts = [_decoder(one) for one in arguments]

        def pair(data: Any, where: str) -> Any:
            if len(_checked(list, data, where)) != len(parts):
                raise InputError(f"{where}: must be a list of {len(parts)}")
            return tuple(part(one, where) for part, one in zip(parts, data, strict=True))

        return pair
    make = {tuple: tuple, frozenset: frozenset, set: set}.get(origin, list)
    if origin is Sequence:
        make = tuple
    item = _decoder(arguments[0])

    def several(data: Any, where: str) -> Any:
        return make(
            [item(one, f"{where}[{at}]") for at, one in enumerate(_checked(list, data, where))]
        )

    return several


def _union(readers: list[_Read]) -> _Read:
    def read(data: Any, where: str) -> Any:
        problem: InputError | None = None
        for reader in readers:
            try:
                return reader(data, where)
            except InputError as error:
                problem = problem or error
        assert problem is not None
        raise problem

    return read


def _literal(allowed: tuple[Any, ...]) -> _Read:
    def read(data: Any, where: str) -> Any:
        if data not in allowed:
            raise InputError(f"{where}: must be {' or '.join(map(str, allowed))}")
        return data

    return read


def _enum(kind: type[Enum]) -> _Read:
    def read(data: Any, where: str) -> Any:
        try:
            return kind(data)
        except ValueError:
            raise InputError(f"{where}: {data!r:.40} is not known") from None

    return read


def _number(data: Any, where: str) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float):
        raise InputError(f"{where}: must be a number")
    return float(data)


def _checked(kind: type[T], data: Any, where: str) -> T:
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        words = {str: "text", int: "a whole number", bool: "true or false", dict: "an object"}
        raise InputError(f"{where}: must be {words.get(kind, 'a list')}")
    return data


_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", Path: "string"}


def _schema(kind: Any) -> dict[str, Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return {}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(one) for one in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
        return {
            "type": "array",
            "prefixItems": [_schema(one) for one in arguments],
            "minItems": len(arguments),
            "maxItems": len(arguments),
        }
    if origin is not None:
        return {"type": "array", "items": _schema(arguments[0])}
    if kind is type(None):
        return {"type": "null"}
    if is_dataclass(kind):
        return _object(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [one.value for one in kind]}
    return {"type": _PLAIN[kind]}


def _object(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for one in fields(kind):
        name = _name(one)
        if one.metadata.get("flat"):
            inner = _schema(hints[one.name])
            properties |= inner["properties"]
            required += inner["required"]
        elif name is not None:
            properties[name] = _schema(hints[one.name])
            required.append(name)
    about = (kind.__doc__ or "").strip().split("\n\n")[0]
    return {
        "type": "object",
        "title": kind.__name__,
        "description": about,
        "properties": properties,
        "required": required,
    }
