"""What came out of a run: on the whole, for one query, under other measures, over time?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.eval_options import Matching, Measures, PerComponent, PerQuery, Waterfall
from assay.cli.eval_runs import Ref
from assay.cli.options import JsonFlag, configuration

if TYPE_CHECKING:
    from assay.evaluation.result import ScoringOptions
    from assay.settings import Settings

verbs = typer.Typer()


@verbs.command("show")
def show(
    ctx: typer.Context,
    ref: Ref,
    measures: Measures = None,
    match: Matching = "exact",
    query: Annotated[str | None, typer.Option("--query", help="Show this query's ranking.")] = None,
    per_component: PerComponent = False,
    waterfall: Waterfall = False,
    per_query: PerQuery = False,
    json_output: JsonFlag = False,
) -> None:
    """Show a run: its scores, its configuration, or one query."""
    from assay.cli.eval_view import View

    config = configuration(ctx, measures=" ".join(measures) if measures else None)
    view = View(config, ref, _scoring(config, bool(measures), match), json_output)
    if query is not None:
        view.one_query(query)
    else:
        view.whole(per_component=per_component, waterfall=waterfall, per_query=per_query)


@verbs.command("rescore")
def rescore(
    ctx: typer.Context,
    ref: Annotated[
        str | None, typer.Argument(help="A run; without one, --suite is needed.")
    ] = None,
    suite: Annotated[
        str | None, typer.Option("--suite", help="Every run of this test set.")
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", help="Measures to add to those that the run has."),
    ] = None,
    match: Matching = "exact",
    testset: Annotated[
        str | None, typer.Option("--testset", "-t", help="Judgments of another version, unsaved.")
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Score old runs again, under other measures or newer formulas; nothing is searched."""
    from assay.cli.eval_view import rescore_runs

    config = configuration(ctx, measures=" ".join(measures) if measures else None)
    rescore_runs(
        config, ref, suite, testset, _scoring(config, bool(measures), match), as_json=json_output
    )


@verbs.command("history")
def history(
    ctx: typer.Context,
    suite: Annotated[str, typer.Argument(help="Name of the test set.")],
    measures: Measures = None,
    part: Annotated[str, typer.Option("--part", help="Runs of this part only.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many runs.")] = 20,
    json_output: JsonFlag = False,
) -> None:
    """Show how the measures of one test set went from run to run."""
    from assay.app.history import history as find
    from assay.cli.connection import connected
    from assay.cli.show import show_tables
    from assay.render.runs import history_json, history_table

    config = configuration(ctx)
    with connected(config) as workspace:
        workspace.require()
        found = find(workspace.runs, suite, measures or (), part=part, limit=limit)
    if json_output:
        emit_json(history_json(suite, found.runs, found.measures))
    elif found.runs:
        show_tables([history_table(suite, found.runs, found.measures)], config.color)
    else:
        note(f"note: there is no complete run of {suite}: assay eval list shows what there is")


@verbs.command("export")
def export(
    ctx: typer.Context,
    ref: Ref,
    trec: Annotated[bool, typer.Option("--trec", help="As a TREC run file.")] = False,
    documents: Annotated[
        bool, typer.Option("--documents", help="Name documents, for judgments of documents.")
    ] = False,
    component: Annotated[
        str | None, typer.Option("--component", help="The list of this component instead.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")] = None,
    json_output: JsonFlag = False,
) -> None:
    """Write the rankings of a run as a TREC run file or as JSON."""
    from assay.cli.connection import connected
    from assay.durable import write_atomically
    from assay.errors import UsageError
    from assay.evaluation.components import component_names, component_outcomes
    from assay.evaluation.match import places_of
    from assay.render.run_file import json_run, trec_run

    if trec == json_output:
        raise UsageError("choose a form", hint="--trec or --json")
    with connected(configuration(ctx)) as workspace:
        workspace.require()
        info = workspace.runs.run(ref)
        outcomes = list(workspace.runs.outcomes(info.run_id, stages=component is not None))
        if component is not None:
            if component not in (known := component_names(outcomes)):
                raise UsageError(
                    f"the run has no list of {component!r:.40}", hint=f"known: {', '.join(known)}"
                )
            test_set = workspace.runs.test_set(info.run_id)
            places = places_of(test_set, outcomes, workspace.places_of(info))
            outcomes = component_outcomes(outcomes, component, places)
    tag = info.name or info.run_id
    text = trec_run(outcomes, tag, documents=documents) if trec else json_run(outcomes)
    if output is None:
        emit_text(text)
    else:
        write_atomically(output.absolute(), (text + "\n").encode())


def _scoring(config: "Settings", own: bool, match: Matching) -> "ScoringOptions":
    from assay.evaluation.result import ScoringOptions

    return ScoringOptions(
        measures=config.measures if own else None, match=match, sampling=config.sampling
    )
