"""How is an option described once, for every surface that offers it?

An ``Option`` is a field of a frozen dataclass: its metadata says what it is called, what it may be
and what it is for. Command line, HTTP parameters, pages, saved configurations and settings are made
from it. A kind reads text (``read``: a flag, a variable, a line of YAML, a query parameter) and
accepts values (``accept``: Python, JSON). Both give the same value or raise ``ValueError``;
``form`` ends the sentence "must be ...". ``schema`` is the same rule as JSON Schema, for the
documentation of the HTTP service.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from assay.errors import UsageError

_WHOLE = re.compile(r"-?[0-9]{1,20}")
_REAL = re.compile(r"-?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,4})?")
_LONGEST_WEIGHTS = 400
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_CODE = re.compile(r"[^\s:=,]+:[^\s:=,]+")
_MOST_NAMES = 8
ON, OFF = frozenset({"on", "true", "yes", "1"}), frozenset({"off", "false", "no", "0"})


class UnfitError(ValueError):
    """A value that is refused for a reason of its own, which the text gives."""


class Kind(Protocol):
    """One rule for values."""

    @property
    def form(self) -> str:
        """The allowed values, as the end of the sentence "must be ..."."""

    @property
    def hint(self) -> str | None:
        """What to write instead, where the form does not say it."""

    @property
    def numeric(self) -> bool:
        """Whether quotes around the text are a mistake."""

    def read(self, text: str) -> Any:
        """The value that a text stands for."""

    def accept(self, value: object) -> Any:
        """The value, checked; a Python or JSON value."""

    def write(self, value: Any) -> str:
        """The text that ``read`` turns into this value."""

    def schema(self) -> dict[str, Any]:
        """The rule as JSON Schema."""


@dataclass(frozen=True, slots=True)
class Text:
    """Text that is not blank, or that a ``pattern`` allows, which ``form`` puts into words.

    ``least`` and ``most`` are how many characters it may have; a ``most`` of 0 means any number.
    ``ends`` are the characters that are removed at both ends; None means blanks.
    """

    pattern: str = ""
    form: str = "text that is not blank"
    least: int = 1
    most: int = 0
    ends: str | None = None
    numeric: bool = False
    hint: str | None = None

    def read(self, text: str) -> str:
        """The text without what is removed at its ends."""
        found = text.strip(self.ends)
        allowed = re.fullmatch(self.pattern, found) if self.pattern else len(found) >= self.least
        if not allowed or (self.most and len(found) > self.most):
            raise ValueError(text)
        return found

    def accept(self, value: object) -> str:
        """The same for a value."""
        if not isinstance(value, str):
            raise ValueError(value)
        return self.read(value)

    def write(self, value: str) -> str:
        """The text itself."""
        return value

    def schema(self) -> dict[str, Any]:
        """A string."""
        rule: dict[str, Any] = (
            {"pattern": f"^(?:{self.pattern})$"} if self.pattern else {"minLength": self.least}
        )
        return {"type": "string", **rule, **({"maxLength": self.most} if self.most else {})}


@dataclass(frozen=True, slots=True)
class Identifier(Text):
    """A name as programs have them: letters, digits and _, no digit first."""

    def read(self, text: str) -> str:
        """The name without blanks around it."""
        found = Text.read(self, text)
        if not found.isidentifier():
            raise ValueError(text)
        return found


@dataclass(frozen=True, slots=True)
class PathName:
    """The path of a file or folder; a leading ``~`` means the user's home.

    ``word`` stands for what comes with assay, and is not a path.
    """

    what: str = "folder"
    word: str = ""
    numeric: bool = False
    hint: str | None = None

    @property
    def form(self) -> str:
        """The allowed values, in words."""
        path = f"the path of a {self.what}"
        return f"{self.word}, {path}" if self.word else path

    def read(self, text: str) -> Path | str:
        """The text as a path, or the word."""
        if self.word and text.strip() == self.word:
            return self.word
        if not text.strip() or "\0" in text:
            raise ValueError(text)
        try:
            return Path(text).expanduser()
        except RuntimeError as error:  # "~" where the machine knows no home
            raise ValueError(text) from error

    def accept(self, value: object) -> Path | str:
        """A path, or the text of one."""
        if not isinstance(value, str | Path):
            raise ValueError(value)
        return self.read(str(value))

    def write(self, value: Path | str) -> str:
        """The path as text."""
        return str(value)

    def schema(self) -> dict[str, Any]:
        """A string."""
        return {"type": "string", "minLength": 1}


@dataclass(frozen=True, slots=True)
class Choice:
    """One word of a closed list, in capitals or not; ``of`` an enum gives its members."""

    of: tuple[str, ...] | type[StrEnum]
    numeric: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the list."""
        return self.of if isinstance(self.of, tuple) else tuple(one.value for one in self.of)

    @property
    def form(self) -> str:
        """The allowed values, in words."""
        return " or ".join((", ".join(self.words[:-1]), self.words[-1]))

    @property
    def hint(self) -> str | None:
        """The list."""
        return f"known: {', '.join(self.words)}"

    def read(self, text: str) -> str:
        """The text, or the member that it names."""
        folded = text.casefold()
        alike = [word for word in self.words if word.casefold() == folded]
        word = alike[0] if len(alike) == 1 else text
        if word not in self.words:
            raise ValueError(text)
        return word if isinstance(self.of, tuple) else self.of(word)

    def accept(self, value: object) -> str:
        """The same for a value."""
        if isinstance(self.of, type) and isinstance(value, self.of):
            return value
        if not isinstance(value, str):
            raise ValueError(value)
        return self.read(str(value))

    def write(self, value: str) -> str:
        """The word."""
        return str(value)

    def schema(self) -> dict[str, Any]:
        """A closed list of strings."""
        return {"type": "string", "enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number in a closed range, written in plain digits."""

    low: int
    high: int
    numeric: bool = True
    hint: str | None = None

    @property
    def form(self) -> str:
        """The allowed values, in words."""
        return f"a whole number from {self.low} to {self.high}"

    def read(self, text: str) -> int:
        """The text as an integer."""
        if not _WHOLE.fullmatch(text):
            raise ValueError(text)
        return self.accept(int(text))

    def accept(self, value: object) -> int:
        """The integer, if it is in the range."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(value)
        if not self.low <= value <= self.high:
            raise ValueError(value)
        return value

    def write(self, value: int) -> str:
        """Plain digits."""
        return str(value)

    def schema(self) -> dict[str, Any]:
        """An integer between bounds."""
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Real:
    """A finite decimal number in a range; ``open_ends`` leaves the two borders out."""

    low: float
    high: float
    open_ends: bool = False
    numeric: bool = True
    hint: str | None = None

    @property
    def form(self) -> str:
        """The allowed values, in words."""
        joint = "strictly between" if self.open_ends else "between"
        return f"a number {joint} {self.low:g} and {self.high:g}"

    def read(self, text: str) -> float:
        """The text as a float."""
        return self.accept(float(text) if _REAL.fullmatch(text) else math.nan)

    def accept(self, value: object) -> float:
        """The number, if it is in the range."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(value)
        inside = self.low < value < self.high if self.open_ends else self.low <= value <= self.high
        if not inside:
            raise ValueError(value)
        return float(value)

    def write(self, value: float) -> str:
        """The shortest text that is this number."""
        return _shortest(value)

    def schema(self) -> dict[str, Any]:
        """A number between bounds."""
        ends = (
            ("exclusiveMinimum", "exclusiveMaximum") if self.open_ends else ("minimum", "maximum")
        )
        return {"type": "number", ends[0]: self.low, ends[1]: self.high}


@dataclass(frozen=True, slots=True)
class Switch:
    """Yes or no: ``on`` and ``off`` where people write, true and false where programs do.

    A ``lenient`` one takes every text for yes that does not say no.
    """

    form: str = "on or off"
    lenient: bool = False
    numeric: bool = False
    hint: str | None = None

    def read(self, text: str) -> bool:
        """The text as a boolean."""
        word = text.lower()
        if not word or not (self.lenient or word in ON | OFF):
            raise ValueError(text)
        return word not in OFF

    def accept(self, value: object) -> bool:
        """The boolean itself."""
        if not isinstance(value, bool):
            raise ValueError(value)
        return value

    def write(self, value: bool) -> str:
        """As people write it."""
        return "on" if value else "off"

    def schema(self) -> dict[str, Any]:
        """A boolean."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Names:
    """Some names, each once: the ``usual`` ones in their order, whatever order was given.

    Others follow in the order of the alphabet; who knows them all refuses the rest.
    """

    usual: tuple[str, ...]
    numeric: bool = False

    @property
    def form(self) -> str:
        """The allowed values, in words."""
        first, last = ", ".join(self.usual), ",".join(self.usual[::2])
        return f"one or more of {first} or your own, each once, as in {last}"

    @property
    def hint(self) -> str | None:
        """The list."""
        return f"known: {', '.join(self.usual)}"

    def read(self, text: str) -> tuple[str, ...]:
        """Names with commas or blanks between them."""
        return self._chosen([name.strip() for name in re.split(r"[,\s]\s*", text.strip())])

    def accept(self, value: object) -> tuple[str, ...]:
        """The same for a list."""
        if isinstance(value, str):
            return self.read(value)
        if not isinstance(value, Iterable):
            raise ValueError(value)
        return self._chosen(list(value))

    def _chosen(self, names: list[Any]) -> tuple[str, ...]:
        sound = all(isinstance(one, str) and _NAME.fullmatch(one) for one in names)
        if not names or not sound or len(set(names)) < len(names) or len(names) > _MOST_NAMES:
            raise ValueError(names)
        return (
            *(one for one in self.usual if one in names),
            *sorted(one for one in names if one not in self.usual),
        )

    def write(self, value: tuple[str, ...]) -> str:
        """Names with commas between them."""
        return ",".join(value)

    def schema(self) -> dict[str, Any]:
        """As an address has it."""
        name = _NAME.pattern
        most = f"{{0,{_MOST_NAMES - 1}}}"
        return {
            "type": "string",
            "pattern": f"^{name}(,{name}){most}$",
            "examples": [",".join(self.usual)],
        }


@dataclass(frozen=True, slots=True)
class NamedCode:
    """A factory or function for each name, as ``module:factory``; the word ``none`` for none.

    ``reserved`` are names that mean something else.
    """

    reserved: tuple[str, ...] = ()
    form: str = (
        "a name that is not taken and its code, as in labels=my_search:labels; "
        "names have a-z, 0-9 and _"
    )
    numeric: bool = False
    hint: str | None = "as in labels=my_search:labels"

    def read(self, text: str) -> dict[str, str]:
        """``labels=my_search:labels``, with commas or blanks between several."""
        if text.strip() == "none":
            return {}
        parts = [part.partition("=") for part in re.split(r"[,\s]+", text.strip()) if part]
        found = {name: code for name, equals, code in parts if equals}
        if not parts or len(found) < len(parts):
            raise ValueError(text)
        return self.accept(found)

    def accept(self, value: object) -> dict[str, str]:
        """The same for a mapping."""
        if isinstance(value, str):
            return self.read(value)
        if not isinstance(value, Mapping) or len(value) > _MOST_NAMES - 3:
            raise ValueError(value)
        for name, code in value.items():
            if not isinstance(name, str) or not _NAME.fullmatch(name) or name in self.reserved:
                raise ValueError(value)
            if not isinstance(code, str) or not _CODE.fullmatch(code):
                raise ValueError(value)
        return dict(sorted(value.items()))

    def write(self, value: Mapping[str, str]) -> str:
        """As ``read`` takes it."""
        return ",".join(f"{name}={code}" for name, code in value.items()) or "none"

    def schema(self) -> dict[str, Any]:
        """A string."""
        return {"type": "string", "examples": ["labels=my_search:labels"]}


@dataclass(frozen=True, slots=True)
class Weights:
    """A number for each component; the word ``default`` stands for the method's own."""

    form: str = "a number of 0 or more for each component, as in bm25=0.3,splade=0.2,dense=0.5"
    numeric: bool = False
    hint: str | None = "as in bm25=0.3,splade=0.2,dense=0.5"

    def read(self, text: str) -> dict[str, float]:
        """``bm25=0.3,dense=0.7``, also with colons and blanks."""
        if text.strip() == "default":
            return {}
        if len(text) > _LONGEST_WEIGHTS:
            raise ValueError(text)
        weights: dict[str, float] = {}
        for part in re.split(r"[,\s]+", re.sub(r"\s*[=:]\s*", "=", text.strip())):
            name, equals, number = part.partition("=")
            if not equals or not name or name in weights or not _REAL.fullmatch(number):
                raise ValueError(text)
            weights[name] = float(number)
        if not all(0 <= weight < math.inf for weight in weights.values()):
            raise ValueError(text)
        return weights

    def accept(self, value: object) -> dict[str, float]:
        """A mapping from component to number; ``SearchOptions`` checks that they fit together."""
        if isinstance(value, str):
            return self.read(value)
        if not isinstance(value, Mapping):
            raise ValueError(value)
        return {str(name): number for name, number in value.items()}

    def write(self, value: Mapping[str, float]) -> str:
        """As ``read`` takes it."""
        shares = (f"{name}={_shortest(number)}" for name, number in value.items())
        return ",".join(shares) or "default"

    def schema(self) -> dict[str, Any]:
        """A string."""
        return {
            "type": "string",
            "maxLength": _LONGEST_WEIGHTS,
            "examples": ["bm25=0.3,splade=0.2,dense=0.5"],
        }


@dataclass(frozen=True, slots=True)
class WeightsBy:
    """Weights for each of some words of a closed list; ``default`` stands for none."""

    of: type[StrEnum]
    numeric: bool = False

    @property
    def form(self) -> str:
        """The allowed values, in words."""
        return f"weights for one or more of {', '.join(self._words)}, as in {self._example}"

    @property
    def hint(self) -> str | None:
        """An example."""
        return f"as in {self._example}"

    @property
    def _words(self) -> tuple[str, ...]:
        return tuple(one.value for one in self.of)

    @property
    def _example(self) -> str:
        return f"{self._words[0]}: bm25=0.6,dense=0.4; {self._words[1]}: bm25=0.2,dense=0.8"

    def read(self, text: str) -> dict[str, dict[str, float]]:
        """``exact_term: bm25=0.6,dense=0.4; paraphrase: bm25=0.2,dense=0.8``."""
        if text.strip() == "default":
            return {}
        found: dict[str, dict[str, float]] = {}
        for part in filter(str.strip, text.split(";")):
            word, _, weights = re.sub(r"\s*[=:]\s*", "=", part.strip()).partition("=")
            if word not in self._words or word in found:
                raise ValueError(text)
            found[word] = Weights().read(weights)
        if not found or not all(found.values()):
            raise ValueError(text)
        return found

    def accept(self, value: object) -> dict[str, dict[str, float]]:
        """A mapping of mappings; ``SearchOptions`` checks that the weights fit together."""
        if isinstance(value, str):
            return self.read(value)
        if not isinstance(value, Mapping) or not all(word in self._words for word in value):
            raise ValueError(value)
        found = {str(word): Weights().accept(weights) for word, weights in value.items()}
        if not all(found.values()):
            raise ValueError(value)
        return {word: found[word] for word in self._words if word in found}

    def write(self, value: Mapping[str, Mapping[str, float]]) -> str:
        """As ``read`` takes it."""
        parts = (f"{word}:{Weights().write(weights)}" for word, weights in value.items())
        return ";".join(parts) or "default"

    def schema(self) -> dict[str, Any]:
        """A string."""
        most = len(self._words) * (_LONGEST_WEIGHTS + max(map(len, self._words)))
        return {"type": "string", "maxLength": most, "examples": [self._example]}


@dataclass(frozen=True, slots=True)
class Several:
    """A list of values of one kind; one value alone is a list of one.

    ``most`` is how many there may be; 0 means any number.
    """

    of: Kind
    most: int = 0
    numeric: bool = False

    @property
    def form(self) -> str:
        """The allowed values, in words."""
        return f"{self.of.form}; at most {self.most} of them" if self.most else self.of.form

    @property
    def hint(self) -> str | None:
        """That of one value."""
        return self.of.hint

    def read(self, text: str) -> tuple[Any, ...]:
        """A list of one."""
        return (self.of.read(text),)

    def accept(self, value: object) -> tuple[Any, ...]:
        """One value or several; None is none."""
        if value is None:
            return ()
        if isinstance(value, str):
            return (self.of.accept(value),)
        if not isinstance(value, Iterable):
            raise ValueError(value)
        found = tuple(self.of.accept(one) for one in value)
        if self.most and len(found) > self.most:
            raise ValueError(f"{len(found)} values")
        return found

    def write(self, value: tuple[Any, ...]) -> str:
        """The values with commas between them, for people."""
        return ",".join(self.of.write(one) for one in value)

    def schema(self) -> dict[str, Any]:
        """An array."""
        most = {"maxItems": self.most} if self.most else {}
        return {"type": "array", "items": self.of.schema(), **most}


@dataclass(frozen=True, slots=True)
class Listed(Several):
    """Several values that may also stand in one text, with commas between them."""

    def read(self, text: str) -> tuple[Any, ...]:
        """The values of a text, each once."""
        return self.accept((text,))

    def accept(self, value: object) -> tuple[Any, ...]:
        """The same for one text or a list of them."""
        given = [value] if isinstance(value, str) else value
        if isinstance(given, Iterable):
            given = [
                part
                for one in given
                for part in (one.split(",") if isinstance(one, str) else [one])
                if part != "" and not (isinstance(part, str) and part.isspace())
            ]
        return tuple(dict.fromkeys(Several.accept(self, given)))


@dataclass(frozen=True, slots=True)
class Maybe:
    """A value of another kind, or none: the words in ``none`` say so, the first is written."""

    of: Kind
    none: tuple[str, ...] = ("none",)

    @property
    def numeric(self) -> bool:
        """As the other kind, unless a word is allowed."""
        return self.of.numeric

    @property
    def form(self) -> str:
        """The allowed values, in words."""
        return f"{self.of.form}, or {self.none[0]}" if self.none else self.of.form

    @property
    def hint(self) -> str | None:
        """That of the other kind."""
        return self.of.hint

    def read(self, text: str) -> Any:
        """None for its word."""
        return None if text.strip() in self.none else self.of.read(text)

    def accept(self, value: object) -> Any:
        """None, or a value of the other kind."""
        if value is None or value in self.none:
            return None
        return self.of.accept(value)

    def write(self, value: Any) -> str:
        """The word for None."""
        return (self.none or ("",))[0] if value is None else self.of.write(value)

    def schema(self) -> dict[str, Any]:
        """That of the other kind: an address leaves out what is not given."""
        return self.of.schema()


def _shortest(number: float) -> str:
    """The shortest text that reads as this very number."""
    return repr(float(number)).removesuffix(".0")


def several(kind: Kind) -> bool:
    """Whether an option of this kind may be given more than once."""
    return isinstance(kind, Several)


def is_switch(kind: Kind) -> bool:
    """Whether an option of this kind is yes or no, or not given."""
    return isinstance(kind.of if isinstance(kind, Maybe) else kind, Switch)


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    ``name`` is what it is called on every surface, ``attribute`` the field that holds it.
    ``setting`` says whether ``assay.yaml`` and the environment may hold its default,
    ``per_request`` whether a single search may name it: how long to wait is decided by whoever
    runs the service.
    """

    name: str
    attribute: str
    kind: Kind
    default: Any
    help: str
    setting: bool = False
    per_request: bool = True
    changes_results: bool = True

    def accept(self, value: object) -> Any:
        """The value, checked; the error names the option."""
        try:
            return self.kind.accept(value)
        except UnfitError as problem:
            raise UsageError(f"{self.name}: {problem}", hint=self.kind.hint) from None
        except ValueError:
            raise self.refused(value) from None

    def read(self, text: str) -> Any:
        """The value that a text stands for; the error names the option."""
        try:
            return self.kind.read(text)
        except UnfitError as problem:
            raise UsageError(f"{self.name}: {problem}", hint=self.kind.hint) from None
        except ValueError:
            raise self.refused(text) from None

    def refused(self, value: object) -> UsageError:
        """What is said of a value that is not allowed."""
        alone = value[0] if isinstance(value, list | tuple) and len(value) == 1 else value
        return UsageError(
            f"{self.name}: must be {self.kind.form}, not {alone!r:.40}",
            hint=self.kind.hint or f"{self.name} is: {self.help}",
        )


def option(
    kind: Kind,
    default: Any,
    help: str,  # noqa: A002 - the word of every command line
    *,
    name: str = "",
    setting: bool = False,
    per_request: bool = True,
    changes_results: bool = True,
) -> Any:
    """A field of a dataclass that is an option."""
    about = Option(name, "", kind, default, help, setting, per_request, changes_results)
    if isinstance(default, Mapping):
        return field(default_factory=lambda: dict(default), metadata={"option": about})
    return field(default=default, metadata={"option": about})


def options_of(owner: type[Any]) -> dict[str, Option]:
    """The options of a dataclass by their names, in the order of its fields."""
    described = [
        replace(one.metadata["option"], attribute=one.name)
        for one in fields(owner)
        if "option" in one.metadata
    ]
    return {
        one.name: one for one in (replace(one, name=one.name or one.attribute) for one in described)
    }


def read_options(
    options: Mapping[str, Option], given: Mapping[str, str | bool | Iterable[str]]
) -> dict[str, Any]:
    """The values that people wrote on a command line, by the names of their options."""
    return {
        name: options[name].read(value) if isinstance(value, str) else options[name].accept(value)
        for name, value in given.items()
    }
