"""How do the figures of a run leave the workspace?"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from assay.cli.connection import connected
from assay.cli.console import emit_data, emit_json, emit_text, note
from assay.cli.eval.shared import Ref, app
from assay.cli.options import SAMPLING, JsonFlag, Measures, configuration, takes_settings
from assay.durable import write_atomically
from assay.errors import UsageError
from assay.plural import counted

MOST_PROBLEMS = 20
DIFFERENT = 3
"""The exit code of a bundle that says something else than its runs."""
Form = Literal["table", "md", "html", "json", "csv"]
FORMS: Mapping[str, Form] = {
    ".md": "md", ".markdown": "md", ".html": "html", ".htm": "html", ".json": "json", ".csv": "csv"
}  # fmt: skip


@app.command("export")
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
    from assay.app import run_view
    from assay.render.run_file import json_run, trec_run

    if trec == json_output:
        raise UsageError("choose a format", hint="--trec or --json")
    with connected(ctx) as assay:
        rankings = run_view.export(assay, ref, component=component)
    text = (
        trec_run(rankings.outcomes, rankings.tag, documents=documents)
        if trec
        else json_run(rankings.outcomes)
    )
    if output is None:
        emit_data(text)
    else:
        write_atomically(output.absolute(), (text + "\n").encode())


@app.command("report")
@takes_settings(SAMPLING, "sampling")
def report(
    ctx: typer.Context,
    *,
    run: Ref = "latest",
    form: Annotated[
        Form | None,
        typer.Option(
            "--format", "-f", help="Output format; by default from the extension of --out."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file.")] = None,
    measures: Measures = None,
    workflow: Annotated[
        bool, typer.Option("--workflow", help="P and R at 1, 3, 5, 10, MAP and nDCG@10.")
    ] = False,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", help='A target: "P@5>0.65" (above) or "P@5>=65%".'),
    ] = None,
    sampling: Mapping[str, Any],
    json_output: JsonFlag = False,
) -> None:
    """Write a report on one run: tables, breakdowns, insights, worst queries."""
    import json

    from assay.app import reports
    from assay.app.statistics import read_statistics
    from assay.cli.tables import show_tables
    from assay.render.report_page import run_page
    from assay.render.report_text import run_csv, run_markdown, run_tables

    chosen = "json" if json_output else form or _form_of(out)
    if chosen == "table" and out is not None:
        raise UsageError("a table is for the terminal", hint="--format md, html, csv or json")
    statistics = read_statistics(sampling)
    with connected(ctx) as assay:
        found = reports.report(
            assay,
            run,
            measures=measures or (),
            workflow=workflow,
            targets=target or (),
            statistics=statistics,
        )
    for line in found.warnings:
        note(f"warning: {line}")
    if chosen == "table":
        show_tables(run_tables(found), assay.settings.color)
        for insight in found.insights:
            emit_text(f"- {insight.text}")
        return
    text = {
        "md": lambda: run_markdown(found),
        "html": lambda: run_page(found),
        "csv": lambda: run_csv(found) + "\n",
        "json": lambda: json.dumps(found.to_dict(), allow_nan=False, indent=1) + "\n",
    }[chosen]()
    if out is None:
        emit_text(text.rstrip("\n"))
    else:
        write_atomically(out, text.encode())
        note(f"wrote {out}")


def _form_of(out: Path | None) -> Form:
    """The form that the name of a file asks for; a table in the terminal."""
    if out is None:
        return "table"
    if (form := FORMS.get(out.suffix.lower())) is None:
        raise UsageError(
            f"{out}: its ending is not a report format",
            hint="end it with .md, .html, .csv or .json, or give --format",
        )
    return form


@app.command("bundle")
@takes_settings(SAMPLING, "sampling")
def bundle(
    ctx: typer.Context,
    *,
    runs: Annotated[list[str], typer.Argument(help="The runs whose numbers are reported.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    measures: Measures = None,
    sampling: Mapping[str, Any],
    json_output: JsonFlag = False,
) -> None:
    """Write metrics_master.json, the one source of reported numbers, with checksums."""
    from assay.app.reports import bundle as write_bundle
    from assay.app.statistics import read_statistics

    statistics = read_statistics(sampling)
    with connected(ctx) as assay:
        files = write_bundle(assay, runs, out, measures=measures or (), statistics=statistics)
    if json_output:
        emit_json({"folder": str(out), "files": list(files)})
    else:
        emit_text(f"wrote {', '.join(files)} to {out}")


@app.command("verify-bundle")
def verify_bundle(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(help="The folder that assay eval bundle wrote.")],
    json_output: JsonFlag = False,
) -> int:
    """Recompute a bundle's numbers from the stored runs; any difference fails."""
    from assay.app import reports

    with connected(ctx) as assay:
        checked = reports.verify_bundle(assay, folder)
    for file in checked.unchecked:
        note(f"warning: {file}")
    if json_output:
        emit_json(checked.to_dict())
    else:
        for problem in checked.problems[:MOST_PROBLEMS]:
            emit_text(problem)
        if len(checked.problems) > MOST_PROBLEMS:
            emit_text(f"... and {len(checked.problems) - MOST_PROBLEMS} more (--json has all)")
        state = "all equal" if checked.ok else counted(len(checked.problems), "difference")
        emit_text(f"{counted(checked.metrics, 'number')} computed again: {state}")
    return 0 if checked.ok else DIFFERENT


@app.command("push")
def push_run(
    ctx: typer.Context,
    ref: Ref = "latest",
    tag: Annotated[
        str | None, typer.Option("--tag", help="Give it this tag at the service.")
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Send a run to the service named by --server; sending it again changes nothing."""
    from assay.app import run_exchange
    from assay.app.workspace import Workspace
    from assay.client import connect

    settings = configuration(ctx, service=True)
    if settings.server is None:
        raise UsageError("push needs a service", hint="assay --server ADDRESS eval push")
    with Workspace(settings) as workspace:
        content = run_exchange.packed(workspace, ref)
    with connect(settings) as service:
        answer = service.push_run(content)
        if tag is not None:
            service.runs.tag(answer["run_id"], tag)
    if json_output:
        emit_json({**answer, "server": settings.server})
    else:
        emit_text(f"{answer['run_id']} {'pushed' if answer['new'] else 'was there already'}")


@app.command("publish")
def publish(
    ctx: typer.Context,
    textfile: Annotated[
        str | None, typer.Option("--textfile", help="Write them to this file (*.prom).")
    ] = None,
    pushgateway: Annotated[
        str | None, typer.Option("--pushgateway", help="Push them to this address.")
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Publish the newest run's metrics to Prometheus: to a file, or a Pushgateway."""
    from assay.app import prometheus

    with connected(ctx, metrics_textfile=textfile, pushgateway=pushgateway) as assay:
        assay.require()
        text = assay.figures()
    done = prometheus.publish(assay.settings, text)
    if json_output:
        emit_json({"published": done})
    elif done:
        emit_text("\n".join(f"{name}: {place}" for name, place in done.items()))
    else:
        emit_text(text.decode().rstrip())
