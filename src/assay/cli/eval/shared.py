"""What do all verbs of ``assay eval`` share?"""

from typing import Annotated

import typer

from assay.cli.lazy import group

app = group("Run test sets, keep the runs, look at them and compare them.")

Ref = Annotated[
    str,
    typer.Argument(help="A run: its id or the beginning of it, a tag, a name, latest, latest~1."),
]
