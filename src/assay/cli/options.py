"""Which options do commands share, and how do the tables of options become flags?

``takes_options`` makes flags of options that are described elsewhere, so that a command offers what
every other surface does: those of a search, of an evaluation, and settings.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, TypeAlias, TypeVar

import typer

from assay.errors import UsageError
from assay.model.ranking import MatchName
from assay.options import Choice, Kind, Maybe, Option, PathName, Real, Several, Whole, is_switch
from assay.search.request import SEARCH_OPTIONS
from assay.settings import SETTINGS, Settings, configure, overriding

R = TypeVar("R")

DEGRADED = 4
"""The exit code of what was done in part: without a component, or without what was unreadable."""

JsonFlag: TypeAlias = Annotated[bool, typer.Option("--json", help="Write JSON instead of text.")]
Measures: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--measure", "-m", help='Measures, e.g. "nDCG@10 Recall@{5,10,20}".'),
]
Matching: TypeAlias = Annotated[
    MatchName,
    typer.Option(
        "--match", help="What must match: the judged id (exact), its document, or its span."
    ),
]
MatchingAnew: TypeAlias = Annotated[
    MatchName | None,
    typer.Option(
        "--match",
        help="What must match: the judged id (exact), its document, or its span; by default as "
        "in the run.",
    ),
]
PerComponent: TypeAlias = Annotated[
    bool, typer.Option("--per-component", help="Score every component beside the hybrid.")
]
Waterfall: TypeAlias = Annotated[
    bool, typer.Option("--waterfall", help="Show where each relevant document was lost.")
]
PerQuery: TypeAlias = Annotated[bool, typer.Option("--per-query", help="Show every query.")]

SAMPLING = ("confidence", "ci_method", "resamples", "seed")
"""The settings that say how intervals are drawn."""


def configuration(ctx: typer.Context, *, service: bool = False, **flags: object) -> Settings:
    """The settings in force; a command passes its own flags, None where not given.

    ``--server`` is refused unless the command can work with a ``service``.
    """
    root = ctx.find_root().params
    if root.get("server") is not None and not service:
        refuse_server(ctx)
    common = {name: root.get(name) for name in ("home", "color", "server")}
    return configure({**common, **flags}, file=root.get("config"))


def refuse_server(ctx: typer.Context) -> None:
    """Refuse ``--server`` where a command could only ignore it."""
    if ctx.find_root().params.get("server") is not None:
        raise UsageError(
            f"{ctx.command_path} works on this machine only, not with --server",
            hint="leave --server out; the how-to on the service lists what works with it",
        )


def takes_search_options(
    names: Sequence[str], into: str
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Let a command take these options of a search, as ``read_changes`` reads them."""
    return takes_options([SEARCH_OPTIONS[name] for name in names], into)


def takes_settings(
    names: Sequence[str], into: str
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Let a command take these settings, as ``configuration`` reads them."""
    return takes_options([overriding(SETTINGS[name]) for name in names], into)


def takes_options(
    options: Iterable[Option], into: str
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Let a command take these options; it gets those that were given as the mapping ``into``.

    Its flags stand in the help where ``into`` stands among the parameters. Values are texts,
    booleans and lists of texts.
    """
    made = [_parameter(one) for one in options]
    names = [parameter.name for parameter in made]

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        def called(**values: Any) -> R:
            every = {name: values.pop(name) for name in names}
            given = {name: value for name, value in every.items() if value not in (None, [])}
            return command(**values, **{into: given})

        signature = inspect.signature(command)
        own = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in signature.parameters.values()
        ]
        index = list(signature.parameters).index(into)
        parameters = [*own[:index], *made, *own[index + 1 :]]
        called.__name__, called.__doc__ = command.__name__, command.__doc__
        called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {one.name: one.annotation for one in parameters}
        return called

    return decorate


def _parameter(one: Option) -> inspect.Parameter:
    """The flag of an option."""
    flag = f"--{one.name.replace('_', '-')}"
    kind: Any = str | None
    if is_switch(one.kind):
        kind = bool | None
        if one.setting or one.default is not False:
            flag = f"{flag}/--no-{flag.removeprefix('--')}"
    elif isinstance(one.kind, Several):
        kind = list[str] | None
    flags = ["-k", flag] if one.name == "k" else [flag]
    about = typer.Option(*flags, help=_help(one), metavar=_metavar(one.kind))
    return inspect.Parameter(
        one.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, about]
    )


def _help(one: Option) -> str:
    """The line of an option, with its default where no setting decides it."""
    if one.setting or not one.default or is_switch(one.kind):
        return one.help
    return f"{one.help}  [default: {one.kind.write(one.default)}]"


def _metavar(kind: Kind) -> str | None:
    """What stands for the value in the help; None where typer knows better."""
    while isinstance(kind, Maybe | Several):
        kind = kind.of
    if isinstance(kind, Choice):
        return f"<{'|'.join(kind.words)}>"
    names = {Whole: "<int>", Real: "<float>", PathName: "<path>"}
    return None if is_switch(kind) else names.get(type(kind), "<str>")
