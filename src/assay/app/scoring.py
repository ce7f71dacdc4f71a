"""How good are these runs or decisions, whether they come from files or with a request?

Nothing of a workspace is read or written: only the settings say what is not asked for otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from assay import limits
from assay.app import cost
from assay.app.statistics import USUAL, Measures, Statistics
from assay.errors import AssayError, UsageError
from assay.evaluation.decisions import Decisions, classify
from assay.evaluation.defaults import DECISION_MEASURES
from assay.evaluation.leaderboard import RunsInput, named_files, score_many
from assay.evaluation.score import measures_by, protocol_named
from assay.evaluation.scores import Scores
from assay.evaluation.significance import Comparison, compare
from assay.hits.groups import load_groups
from assay.hits.labels import read_labels
from assay.hits.qrels import load_qrels
from assay.model.ranking import MatchName, RankByName

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from assay.hits.qrels import QrelsInput
    from assay.settings import Settings

STDIN = "-"
Groups: TypeAlias = str | os.PathLike[str] | Mapping[str, str]
ReadProgress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with (run, bytes read, bytes in all)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRequest:
    """Judgments, runs by name, and how to score them; what is None goes by the settings.

    ``qrels`` and ``runs`` are what ``assay.score_many`` takes. ``by`` breaks scores
    down, ``clusters`` are resampled together: a field of the judgments, a file, or a mapping of
    queries. Without ``compare`` runs are only scored, and one that cannot be read leaves the others
    alone.
    """

    qrels: QrelsInput
    runs: RunsInput
    measures: Measures | None = None
    match: MatchName = "exact"
    protocol: Literal["positives_only", "all_queries"] | None = None
    undefined: Literal["skip", "zero"] = "skip"
    rank_by: RankByName | None = None
    depth: int | None = None
    score_dtype: Literal["float64", "float32"] = "float64"
    extra_columns: bool = False
    chunk_separator: str | None = None
    by: Groups | None = None
    clusters: Groups | None = None
    statistics: Statistics = USUAL
    compare: bool = True

    def __post_init__(self) -> None:
        runs = self.runs if isinstance(self.runs, Mapping) else named_files(self.runs)
        object.__setattr__(self, "runs", runs)
        most = limits.MAX_RUNS if self.compare else limits.MAX_SCORED_RUNS
        if len(runs) > most:
            raise UsageError(
                f"more than {most} runs", hint="score without comparing" if self.compare else None
            )
        sources = (self.qrels, *runs.values())
        if sum(isinstance(source, str) and source == STDIN for source in sources) > 1:
            raise UsageError("only one of qrels and runs can come from standard input")

    def measures_by(self, settings: Settings) -> Measures:
        """What is computed: what was asked for, or what is usual under the protocol."""
        return self.measures or measures_by(protocol_named(self.protocol), settings.measures)

    def seconds(self, settings: Settings) -> float:
        """About how long a core computes on this, where judgments and runs are given as values."""
        queries = len(self.qrels) if isinstance(self.qrels, Mapping) else 0
        runs = len(self.runs)
        groups = 0
        if self.by is not None:
            groups = len(set(self.by.values())) if isinstance(self.by, Mapping) else queries
        tests = max(0, runs - 1) if self.compare else 0
        columns = (runs * (1 + groups) + tests) * cost.counted(self.measures_by(settings))
        return cost.drawn(columns, queries, self.statistics.applied_to(settings).resamples)


@dataclass(frozen=True, slots=True)
class Scored:
    """Each run's scores, by group where that was asked for, and each run against the first.

    ``failed`` says why other runs could not be scored.
    """

    runs: tuple[Scores, ...]
    groups: Mapping[str, Mapping[str, Scores]]
    comparison: Comparison | None
    failed: Mapping[str, AssayError] = field(default_factory=dict)


def classify_seconds(
    settings: Settings, rows: int, measures: Measures | None, statistics: Statistics
) -> float:
    """About how long a core computes on so many decisions."""
    resamples = statistics.applied_to(settings).resamples
    return cost.drawn(cost.counted(measures or DECISION_MEASURES), rows, resamples)


def score_runs(
    settings: Settings, request: ScoreRequest, progress: ReadProgress | None = None
) -> Scored:
    """Score runs against judgments; with several, each is compared with the first if asked."""
    settings = request.statistics.applied_to(settings)
    qrels = load_qrels(request.qrels)
    clusters = None if request.clusters is None else load_groups(request.clusters, qrels)
    board = score_many(
        qrels,
        request.runs,
        request.measures_by(settings),
        strict=request.compare,
        quiet=True,
        progress=progress,
        protocol=request.protocol,
        undefined=request.undefined,
        match=request.match,
        chunk_separator=request.chunk_separator or settings.chunk_separator,
        rank_by=request.rank_by,
        depth=request.depth,
        score_dtype=request.score_dtype,
        extra_columns=request.extra_columns,
        sampling=settings.sampling,
        clusters=clusters,
    )
    runs = tuple(board)
    labels = None if request.by is None else load_groups(request.by, qrels)
    groups = {} if labels is None else {scores.name: scores.by(labels) for scores in runs}
    comparison = None
    if len(runs) > 1 and request.compare:
        comparison = compare(*runs, alpha=settings.alpha, margin=settings.margin)
    return Scored(runs, groups, comparison, board.failed)


def classify_rows(
    settings: Settings,
    labels: ArrayLike,
    scores: ArrayLike,
    measures: Measures | None = None,
    *,
    clusters: Sequence[str] | None = None,
    statistics: Statistics = USUAL,
) -> Decisions:
    """Measure yes/no decisions from labels and scores, row by row."""
    return classify(
        labels,
        scores,
        measures or DECISION_MEASURES,
        sampling=statistics.applied_to(settings).sampling,
        clusters=clusters,
    )


def classify_file(
    settings: Settings, file: str, measures: Measures | None = None, *, cluster: str | None = None
) -> Decisions:
    """The same for a file; rows that agree in the column ``cluster`` are resampled together."""
    rows = read_labels(file, cluster)
    return classify_rows(settings, rows.labels, rows.scores, measures, clusters=rows.clusters)
