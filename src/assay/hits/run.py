"""Which judged documents does this run retrieve, whatever form it has?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from assay.errors import InputError, UsageError
from assay.hits import frames
from assay.hits.chunk_ids import holds
from assay.hits.columns import is_columns, is_frame
from assay.hits.dict_reduce import checked_scores, judge_dicts
from assay.hits.json_input import run_from_json, run_from_mapping
from assay.hits.live import judge_live, live_run, ordered
from assay.hits.numbers import shown
from assay.hits.sources import Kind, Source, read_all, sniff, source
from assay.hits.trec_lines import RunRows, read_run_lines
from assay.hits.trec_stream import IrregularTextError, duplicate_in_run, judge_trec_stream
from assay.model.ranking import (
    CHUNK_SEPARATOR,
    LiveRun,
    Match,
    RankBy,
    ScoreRun,
    Ties,
    document_id,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.measures.table import JudgedHits
    from assay.model.judgments import Qrels


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is read and matched.

    ``ties`` None means by id for scores (as in trec_eval) and as given for lists. ``rank_by`` None
    keeps the order of lists and ranks tables of scores, such as TREC files, by score. ``match``,
    ``ties`` and ``rank_by`` may be names. ``depth`` keeps only the first results of each query.
    ``float32`` rounds scores as trec_eval did before version 10. ``extra_columns`` allows columns
    after the tag.
    """

    match: Match = Match.EXACT
    ties: Ties | None = None
    rank_by: RankBy | None = None
    depth: int | None = None
    float32: bool = False
    extra_columns: bool = False
    separator: str = CHUNK_SEPARATOR
    progress: Callable[[int, int | None], None] | None = None

    def __post_init__(self) -> None:
        for name, kind in (("match", Match), ("ties", Ties), ("rank_by", RankBy)):
            value = getattr(self, name)
            if name != "match" and value is None:
                continue
            try:
                object.__setattr__(self, name, kind(value))
            except ValueError:
                known = ", ".join(member.value for member in kind)
                raise UsageError(f"unknown {name}: {value!r}", hint=f"one of: {known}") from None
        depth = self.depth
        if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int)):
            raise UsageError(f"the depth {depth!r} is not a whole number")
        if depth is not None and depth < 1:
            raise UsageError(f"the depth {depth} is below 1", hint="omit it to keep all")
        if not self.separator:
            raise UsageError(
                "the separator is empty", hint="it separates document and chunk: ':chunk_'"
            )

    @property
    def plain(self) -> bool:
        """Whether scores are ranked and matched as trec_eval does, which needs no lists."""
        return (
            self.match is Match.EXACT
            and self.ties is not Ties.GIVEN
            and self.rank_by is not RankBy.ORDER
        )


RunInput: TypeAlias = (
    str | os.PathLike[str] | Mapping[str, Mapping[str, float]] | Mapping[str, list[Any]] | Any
)


def judge(qrels: Qrels, run: RunInput, options: RunOptions | None = None) -> JudgedHits:
    """The judged-hits table of a run given as a file, mapping, data frame or three arrays."""
    options = options or RunOptions()
    if isinstance(run, (str, os.PathLike)):
        with source(run) as origin:
            hits = _judge_file(qrels, origin, options)
            place = f"{origin.name}: "
    elif isinstance(run, Mapping):
        hits, place = _judge_mapping(qrels, run, options), ""
    elif is_frame(run) or is_columns(run):
        hits, place = _judge_frame(qrels, run, "run", options), ""
    else:
        raise UsageError(
            f"a run cannot be a {type(run).__name__}",
            hint="give a path, {query: {document: score}}, {query: [ids]}, a frame or arrays",
        )
    if hits.missing.all():
        _refuse_strangers(qrels, hits, place)
    return hits if options.depth is None else hits.cut(options.depth)


def load_run(path: str | os.PathLike[str], rank_by: RankBy | None = None) -> LiveRun:
    """A run file in any form, in memory; every ranking is in order.

    Lists keep the order in which they stand, and tables of scores are ranked by score, unless
    ``rank_by`` says otherwise.
    """
    usual = RankBy.SCORE
    with source(path) as origin, origin.open() as stream:
        kind, data = sniff(stream)
        run: ScoreRun | LiveRun
        if kind is Kind.PARQUET:
            frame = frames.read_parquet(origin, stream, data, "score")
            run = frames.run_from_frame(frame, origin.name)
        elif kind is Kind.JSON:
            run, usual = run_from_json(data + read_all(stream), origin.name)
        else:
            run = _small_run(data + read_all(stream), origin.name, RunOptions())
    if all(isinstance(ranking, Mapping) for ranking in run.values()):
        scores: ScoreRun = run  # type: ignore[assignment]  # checked just above
        checked_scores(scores.values(), scores)
        run, usual = live_run(scores, _ties(rank_by)), RankBy.SCORE
    lists: LiveRun = run  # type: ignore[assignment]  # not mappings: lists
    return {query: ordered(ranking, query, rank_by or usual) for query, ranking in lists.items()}


def _ties(rank_by: RankBy | None) -> Ties:
    """Who decides ties of a table of scores: the table, where its order is the ranking."""
    return Ties.GIVEN if rank_by is RankBy.ORDER else Ties.TREC


def _refuse_strangers(qrels: Qrels, hits: JudgedHits, place: str) -> NoReturn:
    """A run without any judged query is a mistake, not a score of 0."""
    if not hits.extra_queries:
        raise InputError(f"{place}the run is empty", hint="check that it is the right one")
    raise InputError(
        f"{place}no query of the run is in the qrels "
        f"(they have, for example, {qrels.queries[0]!r})",
        hint="check that both use the same query ids",
    )


def _judge_file(qrels: Qrels, origin: Source, options: RunOptions) -> JudgedHits:
    with origin.open() as stream:
        kind, data = sniff(stream)
        if kind is Kind.PARQUET:
            frame = frames.read_parquet(origin, stream, data, "score")
            return _judge_frame(qrels, frame, origin.name, options)
        if kind is Kind.JSON:
            run, rank_by = run_from_json(data + read_all(stream), origin.name)
            return _judge_any(qrels, run, options, rank_by)
        if not options.plain:
            data += read_all(stream)
            return _judge_any(qrels, _small_run(data, origin.name, options), options)
    try:
        return judge_trec_stream(
            qrels,
            origin,
            separators=_separators(qrels, options),
            float32=options.float32,
            extra_columns=options.extra_columns,
            progress=options.progress,
        )
    except IrregularTextError:
        with origin.open() as stream:
            data = read_all(stream)
        return _judge_any(qrels, _small_run(data, origin.name, options), options)


def _small_run(data: bytes, name: str, options: RunOptions) -> ScoreRun:
    rows = read_run_lines(data, name, extra_columns=options.extra_columns)
    run: ScoreRun = {}
    for query, doc, score in zip(rows.query, rows.doc, rows.score, strict=True):
        run.setdefault(query, {})[doc] = score
    if sum(map(len, run.values())) < len(rows.query):
        _refuse_duplicate(rows, name)
    return run


def _refuse_duplicate(rows: RunRows, name: str) -> None:
    first: dict[tuple[str, str], int] = {}
    for query, doc, line in zip(rows.query, rows.doc, rows.line, strict=True):
        if (query, doc) in first:
            raise duplicate_in_run(name, query, doc, [first[query, doc], line])
        first[query, doc] = line


def _judge_mapping(qrels: Qrels, run: Mapping[Any, Any], options: RunOptions) -> JudgedHits:
    for query in run:
        if not isinstance(query, str):
            raise InputError(
                f"the query id {shown(query)} is a {type(query).__name__}, not text",
                hint="ids are text, on both sides: str(id)",
            )
    if all(isinstance(ranking, Mapping) for ranking in run.values()):
        return _judge_any(qrels, run, options)  # type: ignore[arg-type]  # checked just above
    return _judge_any(qrels, run_from_mapping(dict(run), "run"), options)


def _judge_any(
    qrels: Qrels, run: ScoreRun | LiveRun, options: RunOptions, usual: RankBy = RankBy.ORDER
) -> JudgedHits:
    """Score from dicts unless an option needs lists, which are ranked as is ``usual`` for them."""
    if not all(isinstance(ranking, Mapping) for ranking in run.values()):
        lists: LiveRun = run  # type: ignore[assignment]  # not mappings: lists
        return _judge_lists(qrels, lists, options, options.rank_by or usual)
    scores: ScoreRun = run  # type: ignore[assignment]  # checked just above
    if options.plain and not _has_chunks(scores, _separators(qrels, options)):
        return judge_dicts(qrels, scores, float32=options.float32)
    checked_scores(scores.values(), scores)
    rank_by = options.rank_by or RankBy.SCORE
    ties = options.ties or _ties(rank_by)
    return _judge_lists(qrels, live_run(scores, ties), options, rank_by)


def _judge_lists(qrels: Qrels, run: LiveRun, options: RunOptions, rank_by: RankBy) -> JudgedHits:
    return judge_live(
        qrels,
        run,
        match=options.match,
        separator=options.separator,
        float32=options.float32,
        rank_by=rank_by,
    )


def _judge_frame(qrels: Qrels, frame: Any, place: str, options: RunOptions) -> JudgedHits:
    if options.plain and not frames.has_ids_with(frame, place, _separators(qrels, options)):
        return frames.judge_frame(qrels, frame, place=place, float32=options.float32)
    return _judge_any(qrels, frames.run_from_frame(frame, place), options)


def _separators(qrels: Qrels, options: RunOptions) -> tuple[str, ...]:
    """What marks the id of a chunk, where a chunk may bring a judged document.

    Where all judgments are of chunks there is nothing to look for.
    """
    if qrels.documents:
        return ("",)  # pairs decide, whatever form ids have
    if options.separator == CHUNK_SEPARATOR:
        return (CHUNK_SEPARATOR,) if qrels.judges_documents else ()
    whole = any(document_id(doc, options.separator) == doc for doc in qrels.docs)
    return (options.separator, CHUNK_SEPARATOR) if whole else ()


def _has_chunks(run: ScoreRun, separators: tuple[str, ...]) -> bool:
    try:
        return any(holds("\n".join(ids), mark) for mark in separators for ids in run.values())
    except TypeError:
        return False  # an id is no text: whoever reads it says so
