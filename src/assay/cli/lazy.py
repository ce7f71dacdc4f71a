"""How can ``assay --help`` list every command without importing any of them?

The group holds a light stub per row of the table, which is enough for help, completion and
suggestions. Only resolving a command line to a command imports that command's module.
"""

import importlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core
import typer.main


def group(line: str) -> typer.Typer:
    """A noun with several verbs; ``line`` is its help."""
    app = typer.Typer(
        help=line, rich_markup_mode=None, add_completion=False, invoke_without_command=True
    )
    app.callback()(show_help_without_command)
    return app


def show_help_without_command(ctx: typer.Context) -> None:
    """A group that is called without a command shows its help and counts as wrong usage."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help(), err=True)
        raise typer.Exit(2)


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the command table: name, where it is, and the line that listings show.

    ``module`` names what holds ``app`` or ``command``; ``module:function`` one of several commands.
    """

    name: str
    module: str
    help: str


def build(entries: tuple[Entry, ...]) -> Any:
    """The root command over a table of entries."""
    app = typer.Typer(
        help="Hybrid biomedical search, and the evaluation platform that proves it.",
        cls=_LazyGroup,
        rich_markup_mode=None,
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    group = typer.main.get_group(app)
    assert isinstance(group, _LazyGroup)
    return group.fill(entries, completion=typer.main.get_install_completion_arguments())


def load(entry: Entry) -> Any:
    """Import a command's module and build the command that it declares."""
    name, _, function = entry.module.partition(":")
    module = importlib.import_module(name)
    app = getattr(module, "app", None)
    if app is None:
        app = typer.Typer(rich_markup_mode=None, add_completion=False)
        app.command(entry.name)(getattr(module, function or "command"))
    command = typer.main.get_command(app)
    command.name = entry.name
    return _readable(command)


def _readable(command: Any) -> Any:
    """The command with help for people: no Python types, and lines of listings that are whole."""
    command.short_help = command.short_help or (command.help or "").split("\n\n")[0]
    for param in command.params:
        if param.param_type_name == "argument":
            param.metavar = param.metavar or param.name.upper()
            param.display_type_rich = _no_type
            whole = f"{param.metavar}..." if param.nargs == -1 else param.metavar
            param.get_usage_pieces = partial(_usage, whole if param.required else f"[{whole}]")
        elif param.metavar is None and getattr(param, "multiple", False):
            param.metavar = "<str>"
    for verb in getattr(command, "commands", {}).values():
        _readable(verb)
    return command


def _usage(words: str, ctx: Any) -> list[str]:
    """An argument as the line of usage shows it: brackets where it may be left out."""
    del ctx
    return [words]


def _no_type(ctx: Any) -> str:
    """The type of an argument adds nothing to its name and its help."""
    del ctx
    return ""


class _LazyGroup(typer.core.TyperGroup):
    """A group whose commands are imported when they are called."""

    def fill(self, entries: tuple[Entry, ...], completion: tuple[Any, ...]) -> "_LazyGroup":
        self.params.extend(completion)
        self._entries = {entry.name: entry for entry in entries}
        for entry in entries:
            self.add_command(typer.core.TyperCommand(name=entry.name, help=entry.help))
        return self

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        return name, load(self._entries[name]) if name else None, rest


def _version(wanted: bool) -> None:
    if wanted:
        from assay.version import __version__

        typer.echo(f"assay {__version__}")
        raise typer.Exit


def _root(
    ctx: typer.Context,
    home: Annotated[Path | None, typer.Option(help="Workspace folder.")] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Settings to read instead of the nearest assay.yaml."),
    ] = None,
    color: Annotated[
        str | None, typer.Option(metavar="auto|always|never", help="When to color output.")
    ] = None,
    server: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Use the workspace of this service.")
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    del (
        home,
        config,
        color,
        server,
        version,
    )  # commands read them through assay.cli.options.configuration
    show_help_without_command(ctx)
