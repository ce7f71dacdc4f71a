"""What does assay do, shown on an example?"""

from importlib.resources import files
from typing import Annotated

import typer

from assay.cli.console import emit_text
from assay.cli.options import JsonFlag, configuration

NEXT = """\
Try next:
  assay score --qrels QRELS --run RUN --ci      your own run, any format, with intervals
  assay score --qrels QRELS --run A --run B     is B better than A? with a verdict
  assay measures                                every measure and its parameters
  assay config show --origin                    every setting and where it comes from"""


def command(
    ctx: typer.Context,
    json_output: JsonFlag = False,
    paths: Annotated[
        bool, typer.Option("--paths", help="Only say where the example files are.")
    ] = False,
) -> None:
    """Score the shipped example and say what to try next."""
    from assay.cli.scoring_job import Job, write

    folder = files("assay") / "data" / "example"
    qrels, runs = (
        str(folder / "judgments.jsonl"),
        [str(folder / n) for n in ("bm25.trec", "hybrid.trec")],
    )
    if paths:
        emit_text("\n".join([qrels, *runs]))
        return
    config = configuration(ctx)

    def job(*places: str, by: str | None = None) -> Job:
        return Job(qrels=qrels, runs=places, by=by, config=config)

    if json_output:
        write(
            job(*runs, by="query_type").run(), "json", ci=True, per_query=False, color=config.color
        )
        return
    emit_text("1. One run with confidence intervals\n")
    write(
        job(runs[0], by="query_type").run(), "table", ci=True, per_query=False, color=config.color
    )
    emit_text("2. Is the second run better?\n")
    write(job(*runs).run(), "table", ci=True, per_query=False, color=config.color)
    emit_text(NEXT)
