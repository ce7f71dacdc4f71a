"""How good are these runs, by these judgments?"""

from typing import Annotated, Literal

import typer

from assay.cli.eval_options import Margin, PerQuery, Resamples, Seed
from assay.cli.options import JsonFlag, configuration
from assay.model.ranking import MatchName

Format = Literal["table", "json", "md", "csv", "trec"]


def command(
    ctx: typer.Context,
    qrels: Annotated[
        str,
        typer.Option(
            "--qrels", "-q", help="Judgments: TREC, BEIR, JSON, JSON lines, parquet; - is stdin."
        ),
    ],
    run: Annotated[
        list[str],
        typer.Option("--run", "-r", help="A run file; repeat it to compare with the first."),
    ],
    measures: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", help='Measures, e.g. "nDCG@10 RR@10 Recall@{5,10,20}".'),
    ] = None,
    per_query: PerQuery = False,
    by: Annotated[
        str | None, typer.Option("--by", help="Break down by a field of the judgments or a file.")
    ] = None,
    ci: Annotated[bool, typer.Option("--ci", help="Show confidence intervals.")] = False,
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to write it.")] = "table",
    json_output: JsonFlag = False,
    match: Annotated[
        MatchName,
        typer.Option("--match", help="By the ids that were judged, by document, or by span."),
    ] = "exact",
    protocol: Annotated[
        Literal["positives_only", "all_queries"] | None,
        typer.Option("--protocol", help="Which queries and measures count."),
    ] = None,
    undefined: Annotated[
        Literal["skip", "zero"] | None,
        typer.Option(
            "--undefined",
            help="Leave undefined values out of the mean, or count them as 0 like trec_eval. "
            "[default: skip; zero for --format trec]",
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option("--depth", min=1, help="Look at the first N results of a query only."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", help="Resample queries by this field or file (post, interview)."),
    ] = None,
    score_dtype: Annotated[
        Literal["float64", "float32"],
        typer.Option("--score-dtype", help="float32 rounds as trec_eval did before version 10."),
    ] = "float64",
    extra_columns: Annotated[
        bool,
        typer.Option("--extra-columns", help="Ignore columns after the tag, as trec_eval does."),
    ] = False,
    separator: Annotated[
        str, typer.Option("--chunk-separator", help="What parts document and chunk in an id.")
    ] = ":chunk_",
    confidence: Annotated[
        float | None, typer.Option("--confidence", help="Level of the intervals.")
    ] = None,
    ci_method: Annotated[str | None, typer.Option("--ci-method", help="bca or percentile.")] = None,
    resamples: Resamples = None,
    seed: Seed = None,
    alpha: Annotated[float | None, typer.Option("--alpha", help="Significance level.")] = None,
    margin: Margin = None,
) -> None:
    """Score runs against judgments, and compare them."""
    from assay.cli.scoring_job import Job, write

    config = configuration(
        ctx,
        measures=" ".join(measures) if measures else None,
        confidence=confidence,
        ci_method=ci_method,
        resamples=resamples,
        seed=seed,
        alpha=alpha,
        margin=margin,
    )
    chosen = "json" if json_output else format_
    job = Job(
        qrels=qrels,
        runs=tuple(run),
        by=by,
        match=match,
        protocol=protocol,
        undefined=undefined or ("zero" if chosen == "trec" else "skip"),
        depth=depth,
        cluster=cluster,
        score_dtype=score_dtype,
        extra_columns=extra_columns,
        separator=separator,
        config=config,
    )
    write(job.run(), chosen, ci=ci, per_query=per_query, color=config.color)
