"""What does ``assay score`` do, once its options are read?"""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay import limits
from assay.cli.console import emit_json, emit_text, note, stderr_console
from assay.errors import UsageError
from assay.evaluation.score import score
from assay.evaluation.significance import Comparison, compare
from assay.hits.groups import load_groups
from assay.hits.qrels import load_qrels
from assay.model.ranking import MatchName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from assay.evaluation.scores import Scores
    from assay.render.tables import Table
    from assay.settings import Settings

SHOW_PROGRESS_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that there is to write."""

    runs: tuple[Scores, ...]
    groups: Mapping[str, Mapping[str, Scores]]
    comparison: Comparison | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The options of one call."""

    qrels: str
    runs: tuple[str, ...]
    config: Settings
    by: str | None = None
    match: MatchName = "exact"
    protocol: str | None = None
    undefined: Literal["skip", "zero"] = "skip"
    depth: int | None = None
    cluster: str | None = None
    score_dtype: Literal["float64", "float32"] = "float64"
    extra_columns: bool = False
    separator: str = ":chunk_"

    def run(self) -> Outcome:
        """Read, score and compare."""
        if len(self.runs) > limits.MAX_RUNS:
            raise UsageError(f"more than {limits.MAX_RUNS} runs")
        if [self.qrels, *self.runs].count("-") > 1:
            raise UsageError("only one of qrels and runs can come from standard input")
        qrels = load_qrels(self.qrels)
        clusters = None if self.cluster is None else load_groups(self.cluster, qrels)
        names = unique_names(self.runs)
        runs = []
        for place, name in zip(self.runs, names, strict=True):
            with reading(name, self.config.color) as progress:
                scores = score(
                    qrels,
                    place,
                    self.config.measures,
                    name=name,
                    protocol=self.protocol,
                    undefined=self.undefined,
                    match=self.match,
                    chunk_separator=self.separator,
                    depth=self.depth,
                    score_dtype=self.score_dtype,
                    extra_columns=self.extra_columns,
                    progress=progress,
                    sampling=self.config.sampling,
                    clusters=clusters,
                )
            runs.append(scores)
        groups = {}
        if self.by is not None:
            labels = load_groups(self.by, qrels)
            groups = {scores.name: scores.by(labels) for scores in runs}
        return Outcome(tuple(runs), groups, self._comparison(runs))

    def _comparison(self, runs: list[Scores]) -> Comparison | None:
        if len(runs) < 2:
            return None
        return compare(*runs, alpha=self.config.alpha, margin=self.config.margin)


def unique_names(places: tuple[str, ...]) -> list[str]:
    """The files' names; whole paths where two files are alike, numbers where one comes twice."""
    names = [os.path.basename(place) or place for place in places]
    if len(set(names)) < len(set(places)):
        names = list(places)
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


@contextmanager
def reading(name: str, color: str) -> Iterator[Callable[[int, int | None], None] | None]:
    """A progress bar on stderr for files that take a while, where a person is looking."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr_console(color), transient=True) as bar:
        task = bar.add_task(name, visible=False, total=None)

        def report(done: int, total: int | None) -> None:
            bar.update(
                task, completed=done, total=total, visible=(total or done) > SHOW_PROGRESS_BYTES
            )

        yield report


def write(outcome: Outcome, form: str, *, ci: bool, per_query: bool, color: str) -> None:
    """The result on stdout in the form asked for; what a reader must know on stderr."""
    from assay.render import scores as report
    from assay.render.tables import markdown

    runs, comparison = outcome.runs, outcome.comparison
    if form == "json":
        emit_json(
            report.scores_json(runs, comparison, ci=ci, per_query=per_query, groups=outcome.groups)
        )
        return
    if form == "csv":
        emit_text(report.csv_rows(runs, ci=ci, per_query=per_query, groups=outcome.groups))
    elif form == "trec":
        for scores in runs:
            emit_text(report.trec_columns(scores, per_query=per_query, with_run=len(runs) > 1))
    else:
        tables = _tables(outcome, ci=ci, per_query=per_query)
        if form == "md":
            emit_text(markdown(tables))
        else:
            from assay.cli.tables import show_tables

            show_tables(tables, color)
        return
    for scores in runs:
        for line in report.run_notes(scores):
            note(f"note: {scores.name}: {line}")


def _tables(outcome: Outcome, *, ci: bool, per_query: bool) -> list[Table]:
    from assay.render import scores as report

    runs, comparison = outcome.runs, outcome.comparison
    tables = (
        [report.run_table(runs[0], ci=ci)]
        if comparison is None
        else report.comparison_tables(runs, comparison)
    )
    tables += [report.group_table(groups, name) for name, groups in outcome.groups.items()]
    if per_query:
        tables += [report.per_query_table(scores) for scores in runs]
    return tables
