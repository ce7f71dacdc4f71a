"""How do the options of a search become those of a command?"""

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

import typer

from assay.options import Choice, Kind, Maybe, Option, Real, Whole, is_switch, several
from assay.search.request import SEARCH_OPTIONS

R = TypeVar("R")
GIVEN = "given"
OFF_WORDS = {"per_type_weights": "--one-weight"}  # older ways to say no


def takes_search_options(
    names: Sequence[str],
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Let a command take these options of a search; it gets the mapping ``given``.

    It holds texts, booleans and lists, as ``read_changes`` takes them.
    """
    return takes_options([SEARCH_OPTIONS[name] for name in names], GIVEN)


def takes_options(
    options: Sequence[Option], into: str
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Let a command take these options; it gets those that were given as the mapping ``into``."""
    names = [one.name for one in options]

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        def called(**values: Any) -> R:
            given = {name: values.pop(name) for name in names}
            chosen = {name: value for name, value in given.items() if value not in (None, [])}
            return command(**values, **{into: chosen})

        signature = inspect.signature(command)
        own = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for one in signature.parameters.values()
            if one.name != into
        ]
        made = [_parameter(one) for one in options]
        at = list(signature.parameters).index(into)
        parameters = [*own[:at], *made, *own[at:]]
        called.__name__, called.__doc__ = command.__name__, command.__doc__
        called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {one.name: one.annotation for one in parameters}
        return called

    return decorate


def _parameter(one: Option) -> inspect.Parameter:
    kind: Any = str | None
    if is_switch(one.kind):
        kind = bool | None
    elif several(one.kind):
        kind = list[str] | None
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[
            kind, typer.Option(*_flags(one), help=_help(one), metavar=_metavar(one.kind))
        ],
    )


def _help(one: Option) -> str:
    """With the default where no setting decides it, as typer shows it."""
    shown = isinstance(one.kind, Whole | Choice) and not one.setting
    return f"{one.help}  [default: {one.kind.write(one.default)}]" if shown else one.help


def _metavar(kind: Kind) -> str | None:
    """Numbers are checked by us, not by typer, and look like typer's."""
    value = kind.of if isinstance(kind, Maybe) else kind
    if isinstance(value, Choice):
        return f"<{'|'.join(value.words)}>"
    return "<int>" if isinstance(value, Whole) else "<float>" if isinstance(value, Real) else None


def _flags(one: Option) -> list[str]:
    words = [f"--{name.replace('_', '-')}" for name in (one.name, *one.aliases)]
    if not is_switch(one.kind):
        return ["-k", *words] if one.name == "k" else words
    flags = [f"{word}/--no-{word[2:]}" for word in words]
    return [*flags, f" /{OFF_WORDS[one.name]}"] if one.name in OFF_WORDS else flags
