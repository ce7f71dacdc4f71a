"""What do all commands have in common: options, groups and the configuration?"""

from typing import Annotated

import typer

from assay.config import Configuration, configure

JsonFlag = Annotated[bool, typer.Option("--json", help="Write JSON instead of text.")]


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


def configuration(ctx: typer.Context, **flags: object) -> Configuration:
    """The settings in force; a command passes its own flags, ``None`` where not given."""
    root = ctx.find_root().params
    common = {name: root.get(name) for name in ("home", "color", "server")}
    return configure({**common, **flags})
