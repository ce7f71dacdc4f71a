"""How is a test set kept honest: its held-out part, and judgments after a change of chunkers?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration

verbs = typer.Typer()

Name = Annotated[str, typer.Argument(help="Name or path of the test set.")]
OVERFITTED, UNSURE = 3, 4
SHOWN = 20


@verbs.command("heldout")
def heldout(
    ctx: typer.Context,
    name: Name,
    before: Annotated[str | None, typer.Option(help="The run before a change.")] = None,
    after: Annotated[str | None, typer.Option(help="The run after it.")] = None,
    measure: Annotated[str, typer.Option("-m", help="What improves.")] = "nDCG@10",
    json_output: JsonFlag = False,
) -> int:
    """Count looks at held-out queries; with two runs, check for overfitting."""
    from assay.annotation.overfit import Fit
    from assay.app.held_out import check_overfitting, uses
    from assay.app.workspace import Workspace
    from assay.cli import upkeep_text
    from assay.cli.testset_job import load_here
    from assay.errors import UsageError

    if (before is None) != (after is None):
        raise UsageError("an overfitting check needs two runs", hint="--before RUN --after RUN")
    config = configuration(ctx)
    test_set = load_here(config, name)
    with Workspace(config) as workspace:
        if before is None or after is None:
            looks = uses(workspace, test_set)
            if json_output:
                emit_json(upkeep_text.uses_json(test_set, looks))
            else:
                upkeep_text.print_uses(test_set, looks)
            return 0
        workspace.require()
        found = check_overfitting(workspace, test_set, before, after, measure=measure)
        looks = uses(workspace, test_set)
    if json_output:
        emit_json({**found.to_dict(), "looks": len(looks)})
    else:
        upkeep_text.print_overfitting(found)
        note(f"note: this was look {len(looks)} at the held-out part of {test_set.name}")
    return {Fit.LIKELY: OVERFITTED, Fit.POSSIBLE: UNSURE}.get(found.fit, 0)


@verbs.command("reanchor")
def reanchor(
    ctx: typer.Context,
    name: Name,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write, not the workspace's.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would move and write nothing.")
    ] = False,
    json_output: JsonFlag = False,
) -> int:
    """Carry judgments to the chunks of today, and list what moved or was lost."""
    from assay.app.reanchor import carry, write
    from assay.app.workspace import Workspace
    from assay.cli import upkeep_text
    from assay.cli.testset_job import load_here

    config = configuration(ctx)
    with Workspace(config) as workspace:
        found = carry(workspace, load_here(config, name))
        target = None if dry_run else write(workspace, found, output)
    if json_output:
        emit_json(upkeep_text.carried_json(found, target))
        return 0
    emit_columns([(fate, str(count)) for fate, count in found.counts.items() if count])
    review = found.found.review
    for one in review[:SHOWN]:
        emit_text(f"{one.fate}  {one.query_id}  {upkeep_text.anchor_text(one)}")
    if len(review) > SHOWN:
        note(f"note: {len(review) - SHOWN} more to review; --json lists all")
    if target is None:
        note("note: nothing was written")
    else:
        emit_text(f"wrote {target}")
    return 0
