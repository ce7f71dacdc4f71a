"""What does assay do, shown on examples?"""

import shutil
import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration
from assay.errors import AssayError
from assay.plural import counted
from assay.settings import Settings

QUERIES = (
    (
        "a question for a table",
        "hyperkalemia adverse events table",
        "The query asks for figures, so tables are lifted over sentences.",
    ),
    (
        "a question for one kind of section",
        "who can join the trial if they have brain metastases",
        "Nobody wrote 'eligibility', but that is what is asked for.",
    ),
    (
        "a question in other words than the documents",
        "drip antibiotic for a serious kidney infection",
        "Words alone (bm25) put it lower; meaning (dense) and weighted terms (splade) find it.",
    ),
)
SHOWN = 3

COMPARED = "nDCG@10 RR@10"
"""What the two runs are compared by, here and in the README."""
MANY = """\
The verdict is corrected for every measure that one call compares. Without -m those are five, and
nDCG@10 becomes inconclusive, though its difference and its t-test stay the same: ask for the
measures that shall decide.
"""

BUSY_MS = 5_000.0  # a demo on a busy machine shall show every component
HOME = "demo"
TEST_SET = "test_set_v1"
EXTRAS = "test_set_v1_extras"
REPORT = "report.html"

NEXT = """\
Try next, on the documents of the demo:
  {assay} --home {home} search "YOUR QUESTION" --explain
  {assay} --home {home} eval compare latest~1 latest
  {assay} --home {home} serve
and on your own:
  {assay} ingest PATH                               documents, in a workspace of their own
  {assay} score --qrels QRELS --run A --run B       is B better than A? with a verdict
  {assay} measures                                  every measure and its parameters"""


def command(
    ctx: typer.Context,
    json_output: JsonFlag = False,
    paths: Annotated[
        bool, typer.Option("--paths", help="Only print where the example files are.")
    ] = False,
    corpus: Annotated[
        bool, typer.Option("--corpus", help="Only print where the documents of the demo are.")
    ] = False,
    search: Annotated[
        bool,
        typer.Option(
            "--search/--no-search", help="Ingest the shipped corpus, search and evaluate it."
        ),
    ] = True,
) -> None:
    """Show what assay does, on examples that ship with it."""
    settings = configuration(ctx)
    example = Path(str(files("assay") / "data" / "example"))
    qrels = str(example / "judgments.jsonl")
    runs = [str(example / name) for name in ("bm25.trec", "hybrid.trec")]
    if paths:
        _emit_paths({"qrels": qrels, "runs": runs}, json_output)
        return
    if corpus:
        _emit_paths({"corpus": str(_corpus())}, json_output)
        return
    if json_output:
        _score(settings, qrels, *runs, measures=COMPARED, by="query_type", form="json")
        return
    emit_text("1. One run with confidence intervals\n")
    _score(settings, qrels, runs[0], by="query_type")
    emit_text(f'2. Is the second run better? assay score ... -m "{COMPARED}"\n')
    _score(settings, qrels, *runs, measures=COMPARED)
    emit_text(MANY)
    if search:
        emit_text("3. Search: words, weighted terms and meaning, fused and explained\n")
        _search(settings)
    emit_text(NEXT.format(assay=_called(), home=_near(settings.home / HOME)))


def _corpus() -> Path:
    return Path(str(files("assay") / "data" / "corpus"))


def _score(
    settings: Settings,
    qrels: str,
    *runs: str,
    measures: str | None = None,
    by: str | None = None,
    form: Literal["table", "json"] = "table",
) -> None:
    from assay.app.scoring import ScoreRequest, score_runs
    from assay.cli.score import write

    request = ScoreRequest(qrels=qrels, runs=runs, measures=measures, by=by)
    scored = score_runs(settings, request)
    write(scored, form, ci=True, per_query=False, color=settings.color)


def _search(settings: Settings) -> None:
    """Ingest the shipped corpus into a workspace of its own, ask it, and evaluate the answers."""
    from dataclasses import replace

    from assay.app.workspace import Workspace
    from assay.cli.progress import staged_progress
    from assay.cli.search import show
    from assay.render.search import account
    from assay.search.request import COMPONENTS

    patient = replace(settings.search, component_timeout_ms=BUSY_MS)
    settings = _with_models(replace(settings, home=settings.home / HOME, search=patient))
    with Workspace(settings) as workspace:
        with staged_progress(settings.color) as progress:
            workspace.ingest(_corpus(), progress=progress)
        card = workspace.index_card()
        emit_text(
            f"{counted(card['documents'], 'document')} in {counted(card['chunks'], 'chunk')}, "
            f"in {settings.home}\n"
        )
        for about, query, lesson in QUERIES:
            emit_text(f'── {about}: "{query}"')
            answer = workspace.search(query, k=SHOWN)
            show(answer, settings.color)
            if len(answer.components_used) == len(COMPONENTS):
                emit_text(lesson)
            for hit in answer.results[:1]:
                emit_text("Why the first one is first:")
                emit_text("\n".join(f"  {line}" for line in account(hit)) + "\n")
    emit_text("4. Evaluation: golden queries, what each component brings, and a verdict\n")
    emit_text(
        "test_set_v1 has 50 queries, of which 10 are held out while you work on a system. This\n"
        "asks all of them (--part all), and 10 more that the documents do not answer.\n"
    )
    _evaluate(settings)


def _evaluate(settings: Settings) -> None:
    """The commands of an evaluation, shown as they are typed."""
    from assay.cli.main import run

    hybrid = settings.dense_model is not None
    sets = f"-t {TEST_SET} -t {EXTRAS} --part all"
    lines = [f"eval run {sets} --components bm25 -m nDCG@10"]
    if hybrid:
        lines += [f"eval run {sets} --per-component --answers", "eval ab latest~1 latest"]
    lines.append(f"eval report latest --format html --out {_near(settings.home / REPORT)}")
    for line in lines:
        emit_text(f"$ assay --home {_near(settings.home)} {line}")
        run(["--home", str(settings.home), "--color", settings.color, *line.split()])
        emit_text("")


def _near(path: Path) -> str:
    """The path as one would type it from here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _called() -> str:
    """How this program was started, so that the advice can be typed as it stands."""
    started = Path(sys.argv[0])
    return (
        "assay" if started.name != "assay" or shutil.which("assay") else _near(started.absolute())
    )


def _with_models(settings: Settings) -> Settings:
    """The settings, with models pulled; without them where they cannot be had."""
    from dataclasses import replace

    from assay.app.models import pull_models

    names = [name for name in (settings.dense_model, settings.splade_model) if name]
    try:
        if names:
            pull_models(settings, names, note=note)
    except AssayError as problem:
        note(f"note: searching by words only, since models could not be pulled: {problem.message}")
        return replace(settings, dense_model=None, splade_model=None)
    return settings


def _emit_paths(paths: dict[str, str | list[str]], as_json: bool) -> None:
    if as_json:
        emit_json(paths)
        return
    for value in paths.values():
        emit_text("\n".join([value] if isinstance(value, str) else value))
