"""What do all commands have in common: options, groups and the configuration?"""

from typing import TYPE_CHECKING, Annotated

import typer

from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.settings import Settings

WITH_SERVER = frozenset({
    "answer", "backup", "corpus delete", "corpus list", "corpus show", "eval ab", "eval bundle",
    "eval compare", "eval delete", "eval export", "eval gate", "eval history", "eval list",
    "eval publish", "eval push", "eval report", "eval run", "eval show", "eval tag",
    "eval verify-bundle", "index check", "index compact", "index info", "index rebuild",
    "index update", "models list", "search", "testset list",
})  # fmt: skip
"""What ``assay --server ADDRESS`` can do; every other verb refuses the option."""

DEGRADED = 4
"""The exit code of an answer, or of a run, that some component had no part in."""

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
    refuse_server(ctx)


def refuse_server(ctx: typer.Context) -> None:
    """Refuse ``--server`` before a command that could only ignore it."""
    whole = f"{ctx.command_path} {ctx.invoked_subcommand}".split()[1:]
    verb = " ".join(whole)
    groups = {one.partition(" ")[0] for one in WITH_SERVER if " " in one}
    if ctx.find_root().params.get("server") is None or verb in WITH_SERVER or verb in groups:
        return
    raise UsageError(
        f"assay {verb} works on this machine only, not with --server",
        hint="leave --server out; what a service can do stands in the how-to on the service",
    )


def configuration(ctx: typer.Context, **flags: object) -> "Settings":
    """The settings in force; a command passes its own flags, ``None`` where not given."""
    from assay.settings import configure  # what it needs would double the time of --help

    root = ctx.find_root().params
    common = {name: root.get(name) for name in ("home", "color", "server")}
    return configure({**common, **flags})
