"""What do the commands on test sets share?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import emit_text, note
from assay.cli.lazy import group
from assay.cli.options import configuration

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.model.testset import TestSet

app = group("Check, split, compare, convert and refresh test sets.")
Name = Annotated[str, typer.Argument(help="Name of a test set, or path of a file or BEIR folder.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="File to write, instead of the workspace's.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change and write nothing.")
]


def workspace_of(ctx: typer.Context) -> "Workspace":
    """The workspace that the flags name."""
    from assay.app.workspace import Workspace

    return Workspace(configuration(ctx))


def load_set(workspace: "Workspace", name: str) -> "TestSet":
    """A test set by its name, or by the path of a file or folder."""
    from assay.app.testsets import load

    return load(workspace.layout, name, paths=True)


def print_written(target: Path | None) -> None:
    """Where a file was written, if one was."""
    if target is None:
        note("note: nothing was written")
    else:
        emit_text(f"wrote {target}")
