"""How does a person judge passages in a terminal?"""

from typing import Annotated

import typer

from assay.cli.console import emit_json
from assay.cli.options import JsonFlag, configuration


def command(
    ctx: typer.Context,
    person: Annotated[str, typer.Option("--as", help="Your name in the round.")],
    round_id: Annotated[str, typer.Option("--round", help="The round; the newest by default.")] = (
        "latest"
    ),
    adjudicate: Annotated[
        bool, typer.Option("--adjudicate", help="Decide where the annotators differ.")
    ] = False,
    json_output: JsonFlag = False,
) -> int:
    """Judge passages of a round by keyboard, and go on at any time."""
    from dataclasses import asdict

    from assay.app.desk import desk
    from assay.app.workspace import Workspace
    from assay.cli import annotate_screen

    with Workspace(configuration(ctx)) as workspace:
        workspace.require()
        at = desk(workspace.annotations, round_id)
        if json_output:
            if adjudicate:
                emit_json({"disputes": [asdict(one) for one in at.disputes(person)]})
            else:
                task = at.next(person)
                emit_json(
                    {
                        "task": None if task is None else asdict(task),
                        "progress": asdict(at.progress(person)),
                    }
                )
            return 0
        screen = annotate_screen.Screen(annotate_screen.keyboard())
        if adjudicate:
            return annotate_screen.decide(at, person, screen)
        return annotate_screen.judge(at, person, screen)
