"""What does assay do, shown on examples?"""

import shutil
import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.console import emit_text, note
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
        bool, typer.Option("--paths", help="Only say where the example files are.")
    ] = False,
    corpus: Annotated[
        bool, typer.Option("--corpus", help="Only say where the documents of the demo are.")
    ] = False,
    search: Annotated[
        bool,
        typer.Option(
            "--search/--no-search", help="Ingest the shipped corpus, search and evaluate it."
        ),
    ] = True,
) -> None:
    """Show what assay does, on examples that ship with it."""
    config = configuration(ctx)
    example = Path(str(files("assay") / "data" / "example"))
    qrels = str(example / "judgments.jsonl")
    runs = [str(example / name) for name in ("bm25.trec", "hybrid.trec")]
    if paths:
        emit_text("\n".join([qrels, *runs]))
        return
    if corpus:
        emit_text(str(_corpus()))
        return
    if json_output:
        _score(config, qrels, *runs, by="query_type", form="json")
        return
    emit_text("1. One run with confidence intervals\n")
    _score(config, qrels, runs[0], by="query_type")
    emit_text("2. Is the second run better?\n")
    _score(config, qrels, *runs)
    if search:
        emit_text("3. Search: words, weighted terms and meaning, fused and explained\n")
        _search(config)
    emit_text(NEXT.format(assay=_called(), home=_near(config.home / HOME)))


def _corpus() -> Path:
    return Path(str(files("assay") / "data" / "corpus"))


def _score(
    config: Settings, qrels: str, *runs: str, by: str | None = None, form: str = "table"
) -> None:
    from assay.cli.scoring_job import Job, write

    outcome = Job(qrels=qrels, runs=runs, by=by, config=config).run()
    write(outcome, form, ci=True, per_query=False, color=config.color)


def _search(config: Settings) -> None:
    """Ingest the shipped corpus into a workspace of its own, ask it, and evaluate the answers."""
    from dataclasses import replace

    from assay.app.workspace import Workspace
    from assay.cli.progress import staged_progress
    from assay.cli.search import show
    from assay.ingest import read_corpus
    from assay.render.search import account
    from assay.search.request import COMPONENTS

    patient = replace(config.search, component_timeout_ms=BUSY_MS)
    config = _with_models(replace(config, home=config.home / HOME, search=patient))
    with Workspace(config) as workspace:
        with staged_progress(config.color) as progress:
            workspace.ingest(read_corpus(_corpus()), progress)
            workspace.update_index(progress)
        counts = workspace.store.counts()
        emit_text(
            f"{counted(counts['documents'], 'document')} in {counted(counts['chunks'], 'chunk')}, "
            f"in {config.home}\n"
        )
        for about, query, lesson in QUERIES:
            emit_text(f'── {about}: "{query}"')
            answer = workspace.search(query, k=SHOWN)
            show(answer, config.color)
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
    _evaluate(config)


def _evaluate(config: Settings) -> None:
    """The commands of an evaluation, shown as they are typed."""
    from assay.cli.main import run

    hybrid = config.dense_model is not None
    sets = f"-t {TEST_SET} -t {EXTRAS} --part all"
    lines = [f"eval run {sets} --components bm25 -m nDCG@10"]
    if hybrid:
        lines += [f"eval run {sets} --per-component --answers", "eval ab latest~1 latest"]
    lines.append(f"eval report latest --format html --out {_near(config.home / REPORT)}")
    for line in lines:
        emit_text(f"$ assay --home {_near(config.home)} {line}")
        run(["--home", str(config.home), "--color", config.color, *line.split()])
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


def _with_models(config: Settings) -> Settings:
    """The configuration, with models pulled; without them where they cannot be had."""
    from dataclasses import replace

    from assay.app.engine import model_shelf
    from assay.encode.pull import pull

    here = model_shelf(config)
    place = here.shared or here.workspace
    assert place is not None
    try:
        pull([name for name in (config.dense_model, config.splade_model) if name], place, tell=note)
    except AssayError as problem:
        note(f"note: searching by words only, since models could not be pulled: {problem.message}")
        return replace(config, dense_model=None, splade_model=None)
    return config
