"""How good is this run, by these judgments?"""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from enum import Enum
from functools import wraps
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar

import numpy as np

from assay.errors import UsageError
from assay.evaluation.decisions import decision_interval
from assay.evaluation.defaults import DECISION_MEASURES, SCORE_MEASURES
from assay.evaluation.scores import Scores, summarise
from assay.measures.base import NO_RELEVANT, Column, Family, Measure
from assay.measures.parse import parse_measures
from assay.model.ranking import CHUNK_SEPARATOR, Match, MatchName, RankBy, RankByName, Ties
from assay.model.sampling import Sampling
from assay.model.scoring import Scoring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from assay.hits.qrels import QrelsInput
    from assay.hits.run import RunInput
    from assay.measures.classification import MeasureValue
    from assay.measures.table import JudgedHits
    from assay.stats.interval import Interval

Chosen = TypeVar("Chosen", bound=Enum)
P = ParamSpec("P")
log = logging.getLogger("assay.evaluation")


class Protocol(Enum):
    """Over which queries do measures run?

    ``positives_only``: ranking measures over queries with a relevant document. ``all_queries``:
    decision measures (is there evidence?) over all of them. Without a protocol both kinds may be
    asked for, and each looks at its own queries.
    """

    POSITIVES_ONLY = "positives_only"
    ALL_QUERIES = "all_queries"


def score_quietly(
    qrels: QrelsInput,
    run: RunInput,
    measures: str | Iterable[str | Measure] | None = None,
    *,
    name: str | None = None,
    protocol: Protocol | str | None = None,
    undefined: Literal["skip", "zero"] = "skip",
    match: Match | MatchName = "exact",
    chunk_separator: str = CHUNK_SEPARATOR,
    ties: Ties | Literal["trec", "given"] | None = None,
    rank_by: RankBy | RankByName | None = None,
    depth: int | None = None,
    score_dtype: Literal["float64", "float32"] = "float64",
    extra_columns: bool = False,
    sampling: Sampling | None = None,
    clusters: Mapping[str, str] | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Scores:
    """Score a run: ``assay.score(qrels, run, "nDCG@10 Recall@{10,100}")``.

    Without ``measures``, those that are usual under the protocol are computed.

    ``qrels`` and ``run`` may be paths (TREC, JSON, JSON lines, parquet; plain, gzip or zstd),
    mappings, polars or pandas frames, or three arrays.

    A query without a relevant document has no ranking to judge: every ranking measure leaves it out
    of its mean and counts it apart. ``undefined="zero"`` counts it as 0, as trec_eval -c does.

    ``match`` says when a result is what was judged. ``{document: score}``, frames and TREC files
    are ranked by score, lists of results in the order they have; ``rank_by`` ("order" or "score")
    says otherwise. ``ties`` says who decides between equal scores (by default the id for scores,
    the engine for lists). ``depth`` keeps the first results of a query only,
    ``score_dtype="float32"`` rounds scores as trec_eval did before version 10, ``extra_columns``
    lets a run's lines go on after the tag. ``clusters`` maps queries to groups (a post, an
    interview) that are resampled together; ``progress`` is called with the bytes read and in all.
    What looks like a mistake is logged.
    """
    # readers of files are not needed by those who score stored runs
    from assay.hits.qrels import load_qrels
    from assay.hits.run import RunOptions, judge

    options = RunOptions(
        match=choice(Match, match, "match"),
        ties=None if ties is None else choice(Ties, ties, "ties"),
        rank_by=None if rank_by is None else choice(RankBy, rank_by, "rank_by"),
        depth=depth,
        float32=_float32(score_dtype),
        extra_columns=extra_columns,
        separator=chunk_separator,
        progress=progress,
    )
    chosen = protocol_named(protocol)
    asked = parse_measures(measures or measures_by(chosen, SCORE_MEASURES))
    if undefined not in ("skip", "zero"):
        raise UsageError(f"undefined={undefined!r} is not one of: skip, zero")
    check_families(asked, chosen, answers=False)
    judgments = load_qrels(qrels)
    hits = judge(judgments, run, options)
    scores = scores_of(
        hits,
        asked,
        undefined,
        name=name or _name(run),
        sampling=sampling or Sampling(),
        clusters=clusters,
    )
    rule = Scoring(match=options.match, chunk_separator=chunk_separator).notes
    scores = replace(scores, summary=replace(scores.summary, rule=rule))
    return _positives(scores, hits) if chosen is Protocol.POSITIVES_ONLY else scores


def _logged(score: Callable[P, Scores]) -> Callable[P, Scores]:
    """The function for those who call it from Python, where nobody shows the notes of a result."""

    @wraps(score)
    def logged(*arguments: P.args, **options: P.kwargs) -> Scores:
        scores = score(*arguments, **options)
        log_alarms(scores)
        return scores

    return logged


def log_alarms(scores: Scores) -> None:
    """Log what looks like a mistake."""
    for alarm in scores.summary.alarms():
        log.warning("%s: %s", scores.name, alarm)


score = _logged(score_quietly)


def scores_of(
    hits: JudgedHits,
    asked: Sequence[Measure],
    undefined: str = "skip",
    *,
    name: str,
    sampling: Sampling,
    clusters: Mapping[str, str] | None = None,
) -> Scores:
    """Every ranking and decision measure that was asked for, over a table of judged hits."""
    depths = tuple(dict.fromkeys(m.cutoff for m in asked if m.cutoff is not None))[:3]
    decisions = [m for m in asked if m.definition.family is Family.DECISION]
    groups = _clusters(clusters, hits.queries)
    outcomes, intervals = _decide(hits, decisions, sampling, groups)
    return Scores(
        name=name,
        queries=hits.queries,
        columns={
            measure: _column(measure, hits, undefined)
            for measure in asked
            if measure.definition.family is Family.RANKING
        },
        summary=summarise(hits, depths),
        decisions=outcomes,
        decision_intervals=intervals,
        sampling=sampling,
        clusters=groups,
        decided=len(hits.queries) if decisions else 0,
    )


def choice(kind: type[Chosen], value: Chosen | str, name: str) -> Chosen:
    """The member of an enumeration that a word names."""
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(str(member.value) for member in kind)
        raise UsageError(f"{name}={value!r} is not one of: {known}") from None


def _float32(name: str) -> bool:
    if name not in ("float64", "float32"):
        raise UsageError(f"score_dtype={name!r} is not one of: float64, float32")
    return name == "float32"


def check_families(
    measures: Iterable[Measure], protocol: Protocol | None, *, answers: bool = True
) -> None:
    """Refuse measures that the protocol leaves out, and those of answers where there are none."""
    left_out = {
        Protocol.POSITIVES_ONLY: Family.DECISION,
        Protocol.ALL_QUERIES: Family.RANKING,
        None: None,
    }[protocol]
    for measure in measures:
        family = measure.definition.family
        if family is Family.ANSWER and not answers:
            raise UsageError(
                f"{measure} measures answers, not a run", hint="use assay.score_answers"
            )
        if family is left_out and protocol is not None:
            raise UsageError(
                f"{measure} is a measure of {family.value}s, which {protocol.value} leaves out",
                hint=f"leave -m out for the usual ones: {measures_by(protocol, SCORE_MEASURES)}",
            )


def protocol_named(protocol: Protocol | str | None) -> Protocol | None:
    """The protocol of that name; None is none."""
    return None if protocol is None else choice(Protocol, protocol, "protocol")


def measures_by(protocol: Protocol | None, otherwise: str) -> str:
    """The measures where none are named: those of decisions under ``all_queries``."""
    return DECISION_MEASURES if protocol is Protocol.ALL_QUERIES else otherwise


def _column(measure: Measure, hits: JudgedHits, undefined: str) -> Column:
    column = measure.column(hits)
    if undefined == "zero":
        return column if column.defined.all() else Column.full(column.values)
    defined = column.defined & measure.evident(hits)
    if (defined == column.defined).all():
        return column
    values = np.where(defined, column.values, 0.0)
    return Column(values, defined, column.reason or NO_RELEVANT)


def _decide(
    hits: JudgedHits,
    measures: list[Measure],
    sampling: Sampling,
    clusters: tuple[str, ...] | None,
) -> tuple[dict[Measure, MeasureValue], dict[Measure, Interval]]:
    """Has the query evidence (a relevant judgment)? The score is that of its first result."""
    if not measures:
        return {}, {}
    if (np.isneginf(hits.top_score) & (hits.retrieved > 0)).any():
        raise UsageError(
            f"{measures[0]} needs scores, and the run has none that fall along its rankings",
            hint="if scores rise with confidence, rank_by=score ranks by them",
        )
    labels, scores = hits.relevant(1) > 0, hits.top_score
    return (
        {measure: measure.decide(labels, scores) for measure in measures},
        {
            measure: decision_interval(measure, labels, scores, sampling, clusters)
            for measure in measures
        },
    )


def _positives(scores: Scores, hits: JudgedHits) -> Scores:
    chosen = hits.relevant(1) > 0
    kept = scores.subset(chosen, scores.name)
    left_out = int((~chosen).sum())
    return replace(kept, summary=replace(kept.summary, left_out=left_out))


def _clusters(
    clusters: Mapping[str, str] | None, queries: tuple[str, ...]
) -> tuple[str, ...] | None:
    if clusters is None:
        return None
    lacking = [query for query in queries if query not in clusters]
    if lacking:
        raise UsageError(f"query {lacking[0]!r} has no cluster ({len(lacking)} such queries)")
    return tuple(clusters[query] for query in queries)


def _name(run: RunInput) -> str:
    return os.path.basename(os.fspath(run)) if isinstance(run, (str, os.PathLike)) else "run"
