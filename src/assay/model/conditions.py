"""Which metadata must a chunk have to be found?

A condition names a field and what it may hold, on every surface in the same words::

    year>=2020        a number or a date is at least this; also <=, > and <
    year=2018..2020   within these two, both included; 2018.. and ..2020 are open
    phase=PHASE2|PHASE3   one of these
    journal!=BMJ      not this; what has no journal passes

Values that mean the same meet (``values.py``): ``phase=3`` lets ``PHASE3`` and ``Phase III``
through, ``start_date=2019`` and ``start_date<=2019`` 2019-03-25. A field with several values passes
by any of them. A backslash before ``|`` or another backslash keeps it as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from assay import limits
from assay.errors import UsageError
from assay.model.document import MetadataScalar, MetadataValue
from assay.model.values import is_ordered, plain, same
from assay.options import Several, UnfitError

FORM = "a field and what it may hold, as in year>=2020 or phase=PHASE2|PHASE3"
NEGATED = "!="
MOST_NAMED = 40
"""Fields that an error names."""
_FIELD = rf"[^\s=<>!|\\][^=<>!|\\\n]{{0,{limits.MAX_FIELD_CHARS - 1}}}"
_CONDITION = re.compile(rf"\s*({_FIELD}?)\s*(!=|>=|<=|==?|>|<)(.*)", re.DOTALL)
_ADDRESSABLE = re.compile(_FIELD)
_PARTS = re.compile(r"(?:[^|\\]|\\.)*", re.DOTALL)
_NUMBER = r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?"
_DATE = r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?"
_ORDERED = re.compile(rf"{_DATE}|{_NUMBER}")
_RANGE = re.compile(rf"({_DATE}|{_NUMBER})?\s*\.\.\s*({_DATE}|{_NUMBER})?")
_NOT_LESS, _NOT_MORE = frozenset({0, 1}), frozenset({0, -1})
_MEANT = {">=": _NOT_LESS, "<=": _NOT_MORE, ">": frozenset({1}), "<": frozenset({-1})}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition; of ``values`` one must fit, or with ``!=`` none."""

    field: str
    operator: str
    values: tuple[str, ...]

    @property
    def negated(self) -> bool:
        """Whether the values are those that must not be there."""
        return self.operator == NEGATED

    def __str__(self) -> str:
        """As people write it."""
        written = (re.sub(r"([|\\])", r"\\\1", value) for value in self.values)
        return f"{self.field}{self.operator}{'|'.join(written)}"

    def passes(self, facts: Mapping[str, Sequence[str]]) -> bool:
        """Whether the facts of a chunk meet it."""
        return bool(self.fitting(facts.get(self.field, ()))) != self.negated

    def fitting(self, values: Iterable[str]) -> list[str]:
        """Those of the values that are meant."""
        tests = [_test(self.field, self.operator, wanted) for wanted in self.values]
        return [value for value in values if any(test(value) for test in tests)]


def read_condition(text: str) -> Condition:
    """The condition that a text stands for; ``ValueError`` where it is none."""
    if len(text) > limits.MAX_FILTER_CHARS:
        raise ValueError(text)
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise ValueError(text)
    field, operator, rest = found.groups()
    return _condition(field, "=" if operator == "==" else operator, list(_split(rest)))


def _condition(field: str, operator: str, values: Sequence[str]) -> Condition:
    tidy = tuple(dict.fromkeys(" ".join(value.split()) for value in values))
    sound = (
        _ADDRESSABLE.fullmatch(field) is not None
        and all(tidy)
        and 0 < len(tidy) <= limits.MAX_FILTER_VALUES
        and not any(value[0] in "=<>" for value in tidy)  # =>2020
    )
    if sound and operator in _MEANT:
        sound = len(tidy) == 1
        if sound and _ORDERED.fullmatch(tidy[0]) is None:
            raise UnfitError(
                f"{field.strip()}{operator} needs a number or a date, not {tidy[0]!r:.40}"
            )
    if not sound:
        raise ValueError(f"{field}{operator}{'|'.join(values)}")
    return Condition(" ".join(field.split()), operator, tidy)


def _split(text: str) -> Iterator[str]:
    at = 0
    while True:
        part = _PARTS.match(text, at)
        assert part is not None
        if part.end() < len(text) and text[part.end()] == "\\":  # a lone one at the end
            raise ValueError(text)
        yield re.sub(r"\\(.)", r"\1", part.group(), flags=re.DOTALL)
        at = part.end() + 1
        if part.end() >= len(text):
            return


def conditions_of(given: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Conditions as Python writes them: ``{"year": (2020, None), "phase": ["Phase 3"]}``.

    A tuple of two numbers, dates or None is a range; any other list holds alternatives.
    """
    found = []
    for field, value in given.items():
        if isinstance(value, tuple) and len(value) == 2 and all(map(_is_bound, value)):
            low, high = ("" if bound is None else text_of(bound) for bound in value)
            values = [f"{low}..{high}"] if low or high else []
        elif isinstance(value, str | int | float):
            values = [text_of(value)]
        elif isinstance(value, Iterable) and not isinstance(value, Mapping):
            values = [text_of(one) for one in value]
        else:
            raise ValueError(f"{field}: {value!r:.40}")
        found.append(_condition(str(field), "=", values))
    return tuple(found)


def _is_bound(value: object) -> bool:
    if isinstance(value, str):
        return _ORDERED.fullmatch(value) is not None
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


@dataclass(frozen=True, slots=True)
class ConditionKind:
    """One condition as an option takes it."""

    form: str = FORM
    numeric: bool = False
    hint: str | None = "= != >= <= > <, and | between alternatives"

    def read(self, text: str) -> Condition:
        """The condition that a text stands for."""
        return read_condition(text)

    def accept(self, value: object) -> Condition:
        """A condition, or the text of one."""
        if isinstance(value, Condition):
            return value
        if not isinstance(value, str):
            raise ValueError(value)
        return read_condition(value)

    def write(self, value: Condition) -> str:
        """As people write it."""
        return str(value)

    def schema(self) -> dict[str, Any]:
        """A string."""
        return {
            "type": "string",
            "minLength": 3,
            "maxLength": limits.MAX_FILTER_CHARS,
            "examples": ["year>=2020"],
        }


@dataclass(frozen=True, slots=True)
class Conditions(Several):
    """Several conditions, all of which must hold; a mapping gives one for each field."""

    def accept(self, value: object) -> tuple[Condition, ...]:
        """Texts, conditions or a mapping."""
        found = Several.accept(self, conditions_of(value) if isinstance(value, Mapping) else value)
        return tuple(dict.fromkeys(found))


# What a chunk has


def text_of(value: object) -> str:
    """A value of metadata as filters and facets have it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if not isinstance(value, str | int | float):
        raise ValueError(value)
    return " ".join(str(value).split())


def facts_of(metadata: Mapping[str, MetadataValue]) -> dict[str, tuple[str, ...]]:
    """What filters and facets go by: the values of each field as texts.

    A long text is no fact, and a field whose name no condition could write has none.
    """
    found: dict[str, tuple[str, ...]] = {}
    for field, value in metadata.items():
        several: Sequence[MetadataScalar] = value if isinstance(value, tuple) else (value,)
        texts = (text_of(one) for one in several)
        kept = tuple(
            dict.fromkeys(text for text in texts if 0 < len(text) <= limits.MAX_FACT_CHARS)
        )
        if kept and _ADDRESSABLE.fullmatch(field):
            found[field] = kept
    return found


def term_of(field: str, value: str) -> str:
    """A fact as one term of an index."""
    return f"{field}={value}"


def terms_of(metadata: Mapping[str, MetadataValue]) -> list[str]:
    """The facts of a chunk as terms of an index."""
    found = facts_of(metadata)
    return [term_of(field, value) for field, values in found.items() for value in values]


def known_field(name: str, fields: Iterable[str], *, of: str, options: Iterable[str] = ()) -> str:
    """The field that a name means: itself, in another case, or one or many of it.

    ``of`` says what the name is for; an unknown one is refused with those that there are.
    ``options`` are names that have an option of their own.
    """
    every = sorted(fields)
    if name in every:
        return name
    wanted = plain(name)
    for found in every:
        if plain(found) == wanted:
            return found
    for found in every:
        if plain(found).removesuffix("s") == wanted.removesuffix("s"):
            return found
    if name in options:
        hint = f"{name} has an option of its own"
    else:
        near = get_close_matches(name, every, n=1)
        more = ", ..." if len(every) > MOST_NAMED else ""
        hint = f"known: {', '.join(every[:MOST_NAMED])}{more}" if every else "assay index update"
        hint = f"{near[0]}? {hint}" if near else hint
    raise UsageError(f"{of}: no document has {name!r:.60}", hint=hint)


# Does a value fit?


def _test(field: str, operator: str, wanted: str) -> Callable[[str], bool]:
    if operator in {"=", NEGATED}:
        span = _RANGE.fullmatch(wanted)
        if span is None or not any(span.groups()):
            return lambda value: same(field, value, wanted)
        low, high = span.groups()
        return lambda value: (
            (low is None or is_ordered(field, value, low, _NOT_LESS))
            and (high is None or is_ordered(field, value, high, _NOT_MORE))
        )
    return lambda value: is_ordered(field, value, wanted, _MEANT[operator])
