"""How is an evaluation started, from the command line?"""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from assay.cli import search_options
from assay.cli.eval_options import Matching, Measures, PerComponent, PerQuery, Waterfall
from assay.cli.options import JsonFlag, configuration
from assay.cli.search_options import switch

verbs = typer.Typer()


@verbs.command("run")
def run(
    ctx: typer.Context,
    testset: Annotated[
        list[str] | None,
        typer.Option("--testset", "-t", help="Name of a test set, or a path; several are one run."),
    ] = None,
    measures: Measures = None,
    per_component: PerComponent = False,
    waterfall: Waterfall = False,
    answers: Annotated[
        bool, typer.Option("--answers", help="Answer each query, and judge the answers.")
    ] = False,
    answerer: Annotated[
        str | None, typer.Option(help="extractive, module:function or http://...")
    ] = None,
    components: search_options.Components = None,
    fusion: search_options.Fusion = None,
    weights: search_options.Weights = None,
    rrf_k: search_options.RrfK = None,
    per_type_weights: search_options.PerTypeWeights = None,
    normalization: search_options.Normalization = None,
    depth: search_options.Depth = None,
    rerank: search_options.Rerank = None,
    reranker: search_options.Reranker = None,
    boosts: search_options.Boosts = None,
    kept: Annotated[int, typer.Option("--keep", min=1, help="Results kept of each query.")] = 100,
    retriever: Annotated[
        str | None, typer.Option(help="Evaluate module:function, or a service at http://...")
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(help="YAML file that maps requests and answers of a service.")
    ] = None,
    run_file: Annotated[
        str | None, typer.Option("--run", help="Evaluate a run file: TREC, JSON, parquet.")
    ] = None,
    protocol: Annotated[
        Literal["positives_only", "all_queries"] | None,
        typer.Option("--protocol", help="Which queries and measures count."),
    ] = None,
    match: Matching = "exact",
    mode: Annotated[
        Literal["as-written", "overall", "patient", "clinician", "cross-mode"],
        typer.Option(
            "--mode", help="Which queries, with which filters; cross-mode: offline, live."
        ),
    ] = "as-written",
    part: Annotated[
        Literal["evaluation", "holdout", "all"] | None,
        typer.Option("--part", help="Side of the held-out split. [default: evaluation, if split]"),
    ] = None,
    holdout: Annotated[
        bool, typer.Option("--holdout", help="Run the held-out part only; its use is logged.")
    ] = False,
    by_group: Annotated[
        bool, typer.Option("--by-group", help="Resample queries of one group together.")
    ] = False,
    name: Annotated[
        str, typer.Option(help="A name to find the run by; a tag is unique, a name is not.")
    ] = "",
    tag: Annotated[list[str] | None, typer.Option(help="Tag the run, as in baseline.")] = None,
    resume: Annotated[str | None, typer.Option(help="Go on with this run.")] = None,
    cache: Annotated[
        bool,
        typer.Option(
            "--cache/--no-cache", help="Answer from an equal run without failures, if any."
        ),
    ] = True,
    max_errors: Annotated[
        int, typer.Option(min=0, help="Queries that may fail before the run is given up.")
    ] = 10,
    per_query: PerQuery = False,
    publish: Annotated[
        bool,
        typer.Option("--publish", help="Hand the figures to Prometheus, as assay eval publish."),
    ] = False,
    json_output: JsonFlag = False,
) -> int:
    """Run a test set against our search, another engine or a run file, and keep the run."""
    from assay.cli.eval_job import Job

    ranking: dict[str, Any] = {
        "components": components,
        "weights": weights,
        "rrf_k": rrf_k,
        "normalization": normalization,
        "depth": depth,
        "reranker": reranker,
    }
    config = configuration(
        ctx,
        **ranking,
        measures=" ".join(measures) if measures else None,
        fusion=fusion,
        per_type_weights=switch(per_type_weights),
        rerank=switch(rerank),
        boosts=switch(boosts),
        answerer=answerer,
    )
    job = Job(
        config=config,
        testsets=tuple(testset or ()),
        measures=config.measures if measures else None,
        per_component=per_component,
        waterfall=waterfall,
        answers=answers or answerer is not None,
        kept=kept,
        retriever=retriever,
        mapping=mapping,
        run_file=run_file,
        protocol=protocol,
        match=match,
        mode=mode,
        split="holdout" if holdout else part,
        by_group=by_group,
        name=name,
        tags=tuple(tag or ()),
        resume=resume,
        cache=cache,
        max_errors=max_errors,
        per_query=per_query,
        publish=publish,
        as_json=json_output,
    )
    if not config.server is not None:
        return job.run()
    from assay.cli.remote_eval import evaluate

    switches = {"per_type_weights": per_type_weights, "rerank": rerank, "boosts": boosts}
    return evaluate(job, {**ranking, **switches, "fusion_method": fusion})
