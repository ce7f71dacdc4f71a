"""How good are these runs, by these judgments?"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.options import (
    SAMPLING,
    JsonFlag,
    Matching,
    Measures,
    PerQuery,
    configuration,
    takes_settings,
)
from assay.cli.streams import complain
from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.app.scoring import Scored
    from assay.render.tables import Table

Format = Literal["table", "json", "md", "csv", "trec"]


@takes_settings((*SAMPLING, "alpha", "margin"), "statistics")
def command(
    ctx: typer.Context,
    *,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QRELS RUN",
            help="Judgments, unless --qrels names them, then runs or patterns ('runs/*.trec'), "
            "which are scored side by side.",
        ),
    ] = None,
    qrels: Annotated[
        str | None,
        typer.Option(
            "--qrels", "-q", help="Judgments: TREC, BEIR, JSON, JSON lines, parquet; - is stdin."
        ),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option("--run", "-r", help="A run file; repeat it to compare with the first."),
    ] = None,
    compare: Annotated[
        bool | None,
        typer.Option(
            "--compare/--no-compare",
            help="Test each run against the first, or only score them; then one unreadable run "
            "does not stop the others. [default: compare what --run names]",
        ),
    ] = None,
    measures: Measures = None,
    per_query: PerQuery = False,
    by: Annotated[
        str | None, typer.Option("--by", help="Break down by a field of the judgments or a file.")
    ] = None,
    ci: Annotated[bool, typer.Option("--ci", help="Show confidence intervals.")] = False,
    format_: Annotated[Format, typer.Option("--format", "-f", help="Output format.")] = "table",
    json_output: JsonFlag = False,
    match: Matching = "exact",
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
    rank_by: Annotated[
        Literal["order", "score"] | None,
        typer.Option(
            "--rank-by",
            help="Rank results in the order given or by score. [default: lists of results in the "
            "order given; TREC files, tables and {document: score} by score]",
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option("--depth", min=1, help="Look only at the first N results of each query."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            help="Resample queries in groups: a field, or a file with the group of each.",
        ),
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
        str | None,
        typer.Option("--chunk-separator", help="What separates document and chunk in an id."),
    ] = None,
    statistics: Mapping[str, Any],
) -> None:
    """Score runs against judgments, side by side or against the first."""
    from assay.app.scoring import ScoreRequest, score_runs
    from assay.cli.progress import reading_progress

    settings = configuration(ctx, measures=" ".join(measures) if measures else None, **statistics)
    form = "json" if json_output else format_
    judgments, runs = _inputs(qrels, run or [], files or [])
    request = ScoreRequest(
        qrels=judgments,
        runs=runs,
        compare=bool(run) and runs == run if compare is None else compare,
        by=by,
        match=match,
        protocol=protocol,
        undefined=undefined or ("zero" if form == "trec" else "skip"),
        rank_by=rank_by,
        depth=depth,
        clusters=cluster,
        score_dtype=score_dtype,
        extra_columns=extra_columns,
        chunk_separator=separator,
    )
    with reading_progress(settings.color) as progress:
        scored = score_runs(settings, request, progress)
    if request.compare:
        write(scored, form, ci=ci, per_query=per_query, color=settings.color)
        return
    _write_board(scored, form, ci=ci, per_query=per_query, color=settings.color)
    for name, problem in scored.failed.items():
        complain(f"error: {name}: {problem}")
    if scored.failed:
        raise typer.Exit(max(problem.exit_code for problem in scored.failed.values()))


def _inputs(qrels: str | None, runs: list[str], files: list[str]) -> tuple[str, list[str]]:
    """The judgments and the runs; where --qrels names none, the first file is the judgments."""
    if qrels is None:
        if not files:
            raise UsageError(
                "no judgments were named", hint="assay score QRELS RUN ..., or --qrels QRELS"
            )
        qrels, *files = files
    if not runs and not files:
        raise UsageError("no run was named", hint="assay score QRELS RUN ..., or --run RUN")
    return qrels, [*runs, *files]


def _write_board(scored: "Scored", form: Format, *, ci: bool, per_query: bool, color: str) -> None:
    """Runs that were not compared: a row for each."""
    from assay.render import scores as report

    runs, groups = scored.runs, scored.groups
    if form == "json":
        failed = scored.failed
        emit_json(
            report.scores_json(runs, None, ci=ci, per_query=per_query, groups=groups, failed=failed)
        )
    elif len(runs) == 1 or (runs and form not in ("table", "md")):
        write(scored, form, ci=ci, per_query=per_query, color=color)
    elif runs:
        _show([report.leaderboard_table(runs, ci=ci), *_more(scored, per_query)], form, color)


def write(scored: "Scored", form: Format, *, ci: bool, per_query: bool, color: str) -> None:
    """The result on stdout in the form asked for; what a reader must know on stderr."""
    from assay.render import scores as report

    runs, groups = scored.runs, scored.groups
    if form == "json":
        emit_json(
            report.scores_json(runs, scored.comparison, ci=ci, per_query=per_query, groups=groups)
        )
        return
    if form == "csv":
        emit_text(report.csv_rows(runs, ci=ci, per_query=per_query, groups=groups))
    elif form == "trec":
        for scores in runs:
            emit_text(report.trec_columns(scores, per_query=per_query, with_run=len(runs) > 1))
    else:
        _show(_tables(scored, ci=ci, per_query=per_query), form, color)
        return
    for scores in runs:
        for line in report.run_notes(scores):
            note(f"note: {scores.name}: {line}")


def _tables(scored: "Scored", *, ci: bool, per_query: bool) -> "list[Table]":
    from assay.render import scores as report

    tables = (
        [report.run_table(scored.runs[0], ci=ci)]
        if scored.comparison is None
        else report.comparison_tables(scored.runs, scored.comparison)
    )
    return [*tables, *_more(scored, per_query)]


def _more(scored: "Scored", per_query: bool) -> "list[Table]":
    """Groups, and every query, of each run."""
    from assay.render import scores as report

    tables = [report.group_table(groups, name) for name, groups in scored.groups.items()]
    if per_query:
        tables += [report.per_query_table(scores) for scores in scored.runs]
    return tables


def _show(tables: "list[Table]", form: Format, color: str) -> None:
    if form == "md":
        from assay.render.tables import footnoted, markdown

        emit_text(footnoted(markdown(tables)))
    else:
        from assay.cli.tables import show_tables

        show_tables(tables, color)
