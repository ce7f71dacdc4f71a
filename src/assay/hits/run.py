"""Which judged documents does this run hold, whatever form the run has?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from assay import limits
from assay.errors import InputError, UsageError
from assay.hits import frames
from assay.hits.dict_reduce import judge_dicts
from assay.hits.json_input import run_from_json, run_from_mapping
from assay.hits.live import judge_live, live_run
from assay.hits.options import Options
from assay.hits.sniff import Kind, sniff
from assay.hits.sources import Source, source
from assay.hits.strict_json import read_all
from assay.hits.trec_lines import RunRows, read_run_lines
from assay.hits.trec_stream import duplicate_in_run, judge_trec_stream
from assay.model.ranking import LiveRun, Match, ScoreRun, Ties

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits
    from assay.model.judgments import Qrels

RunInput: TypeAlias = (
    str | os.PathLike[str] | Mapping[str, Mapping[str, float]] | Mapping[str, list[Any]] | Any
)


def judge(qrels: Qrels, run: RunInput, options: Options | None = None) -> JudgedHits:
    """The judged-hits table of a run given as a file, mapping, data frame or three arrays."""
    options = options or Options()
    if isinstance(run, (str, os.PathLike)):
        hits = _judge_file(qrels, source(run), options)
    elif isinstance(run, Mapping):
        hits = _judge_mapping(qrels, run, options)
    elif frames.is_frame(run) or frames.is_columns(run):
        hits = _judge_frame(qrels, run, "run", options)
    else:
        raise UsageError(
            f"a run cannot be a {type(run).__name__}",
            hint="give a path, {query: {document: score}}, {query: [ids]}, a frame or arrays",
        )
    if hits.extra_queries and hits.missing.all():
        raise InputError(
            f"no query of the run is in the qrels (they have, for example, {qrels.queries[0]!r})",
            hint="check that both use the same query ids",
        )
    return hits if options.depth is None else hits.cut(options.depth)


def _judge_file(qrels: Qrels, origin: Source, options: Options) -> JudgedHits:
    with origin.open() as stream:
        kind, data = sniff(stream)
        if kind is Kind.PARQUET:
            assert origin.path is not None
            return _judge_frame(qrels, frames.read_parquet(origin.path), origin.name, options)
        if kind is Kind.JSON:
            return _judge_any(qrels, run_from_json(data + read_all(stream), origin.name), options)
        if options.match is Match.CHUNK and options.ties is not Ties.GIVEN:
            data += stream.read(limits.SMALL_FILE_BYTES)
        else:
            data += read_all(stream)
        if not stream.read(1):
            return _judge_any(qrels, _small_run(data, origin.name, options), options)
    return judge_trec_stream(
        qrels,
        origin,
        float32=options.float32,
        extra_columns=options.extra_columns,
        progress=options.progress,
    )


def _small_run(data: bytes, name: str, options: Options) -> ScoreRun:
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


def _judge_mapping(qrels: Qrels, run: Mapping[Any, Any], options: Options) -> JudgedHits:
    for query in run:
        if not isinstance(query, str):
            raise InputError(
                f"the query id {query!r:.60} is a {type(query).__name__}, not text",
                hint="ids are text, on both sides: str(id)",
            )
    if all(isinstance(ranking, Mapping) for ranking in run.values()):
        return _judge_any(qrels, run, options)  # type: ignore[arg-type]  # checked just above
    return _judge_any(qrels, run_from_mapping(dict(run), "run"), options)


def _judge_any(qrels: Qrels, run: ScoreRun | LiveRun, options: Options) -> JudgedHits:
    """Scores by dict unless something asks for lists."""
    scores = all(isinstance(ranking, Mapping) for ranking in run.values())
    if scores and options.match is Match.CHUNK and options.ties is not Ties.GIVEN:
        return judge_dicts(qrels, run, float32=options.float32)  # type: ignore[arg-type]
    live: LiveRun = live_run(run, options.ties or Ties.TREC) if scores else run  # type: ignore[arg-type,assignment]
    return judge_live(qrels, live, match=options.match, separator=options.separator)


def _judge_frame(qrels: Qrels, frame: Any, place: str, options: Options) -> JudgedHits:
    if options.match is Match.CHUNK and options.ties is not Ties.GIVEN:
        return frames.judge_frame(qrels, frame, place=place, float32=options.float32)
    query, doc, score = frames.columns(frame, "score", place)
    run: ScoreRun = {}
    for q, d, s in zip(query.to_list(), doc.to_list(), score.to_list(), strict=True):
        run.setdefault(q, {}).setdefault(d, s)
    return _judge_any(qrels, run, options)
