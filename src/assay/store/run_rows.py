"""How are runs and the outcomes of their queries stored in rows, and read back?

A ranking is stored as columns instead of a list of objects: a few short arrays per query, so that
thousands of queries load quickly. Empty fields are left out. Measures mostly look at the first
results, so a row has those in one column (``head_json``) and the others in a second
(``tail_json``); over the wire a ranking is whole (``result_json``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, TypeAlias

from pydantic_core import to_json
from sqlalchemy import Row

from assay import interrupt
from assay.errors import InputError
from assay.model.answers import Answer, NumberCheck, Usage
from assay.model.codec import decode, encode
from assay.model.judges import JudgedAnswer
from assay.model.judgments import Span
from assay.model.runs import QueryOutcome, RankedResult, RunInfo, RunStatus
from assay.model.sampling import Sampling
from assay.model.scoring import Scoring
from assay.model.stored_figures import check_figures
from assay.store.owner import ended
from assay.store.seals import UNREADABLE, damaged, sealed, unsealed

_UNANSWERED = "not answered: "
HEAD = 20  # results of a query that are stored outside its tail

# by id: component to score, and component to rank
Evidence: TypeAlias = dict[str, tuple[dict[str, float], dict[str, int]]]


def result_json(outcome: QueryOutcome) -> str:
    """The ranking and the outcome: all that scoring needs."""
    return _dump(_ranking(outcome.results) | _happened(outcome))


def head_json(outcome: QueryOutcome) -> str:
    """The same with the first ``HEAD`` results only."""
    return _dump(_ranking(outcome.results[:HEAD]) | _happened(outcome))


def tail_json(outcome: QueryOutcome) -> str | None:
    """The results after the first ``HEAD``; None if there are none."""
    rest = outcome.results[HEAD:]
    return _dump(_ranking(rest)) if rest else None


def _ranking(results: Sequence[RankedResult]) -> dict[str, Any]:
    ids = [one.chunk_id for one in results]
    return {
        "ids": ids,
        "doc_ids": _unless_all([one.doc_id for one in results], ids),
        "scores": _unless_all([one.score for one in results], [None] * len(results)),
        "spans": _unless_all([one.spans for one in results], [()] * len(results)),
        "chunker_versions": _versions(results),
    }


def _happened(outcome: QueryOutcome) -> dict[str, Any]:
    answer = outcome.answer
    return {
        "latency_ms": outcome.latency_ms,
        "error": outcome.error,
        "degraded": outcome.degraded,
        "component_errors": outcome.component_errors,
        "warnings": outcome.warnings,
        "answer": None
        if answer is None
        else {
            "text": answer.text,
            "citations": answer.citations,
            "grounded": answer.grounded,
            "refusal_reason": answer.refusal_reason,
        },
        "known_citations": sorted(outcome.known_citations),
        "answer_error": outcome.answer_error,
        "numbers": None if outcome.numbers is None else encode(outcome.numbers),
        "usage": None if outcome.usage is None else encode(outcome.usage),
        "judged": None if outcome.judged is None else encode(outcome.judged),
    }


def stages_json(outcome: QueryOutcome) -> str | None:
    """What each component found and scored, and how long it took; None if nothing is known.

    Scores and ranks of single results are left out if the components' lists imply them.
    """
    lists = {**outcome.component_lists, "": outcome.fused}
    ids = list(dict.fromkeys(one for found in lists.values() for one in found))
    number = {one: at for at, one in enumerate(ids)}
    implied = _Implied(outcome.component_lists, outcome.component_list_scores)
    plain = implied.account_for(outcome.results)
    content = {
        "ids": ids,
        "component_lists": {
            name: [number[one] for one in found] for name, found in outcome.component_lists.items()
        },
        "component_list_scores": dict(outcome.component_list_scores),
        "fused": [number[one] for one in outcome.fused],
        "component_scores": {}
        if plain
        else _columns([one.component_scores for one in outcome.results]),
        "ranks": {} if plain else _columns([one.ranks for one in outcome.results]),
        "timings_ms": dict(outcome.timings_ms),
        "passages": dict(outcome.passages),
    }
    return _dump(content) if any(content.values()) else None


def outcome(
    query_id: str,
    result: str,
    stages: str | None = None,
    tail: str | None = None,
    depth: int | None = None,
) -> QueryOutcome:
    """The outcome in a row's columns; ``depth`` limits it to the first results."""
    interrupt.check()
    content = unsealed(result)
    rankings = [content] if tail is None else [content, unsealed(tail)]
    more = unsealed(stages) if stages else {}
    answer, numbers = content.get("answer"), content.get("numbers")
    usage, judged = content.get("usage"), content.get("judged")
    known = more.get("ids", [])
    lists = {
        name: tuple(known[at] for at in found)
        for name, found in more.get("component_lists", {}).items()
    }
    scores = {name: tuple(found) for name, found in more.get("component_list_scores", {}).items()}
    evidence = _evidence(rankings, more, lists, scores)
    results = [one for ranking in rankings for one in _results(ranking, evidence, depth)]
    return QueryOutcome(
        query_id=query_id,
        results=tuple(results[:depth]),
        latency_ms=content.get("latency_ms"),
        error=content.get("error"),
        degraded=content.get("degraded", False),
        component_errors=tuple(content.get("component_errors", ())),
        component_lists=lists,
        component_list_scores=scores,
        fused=tuple(known[at] for at in more.get("fused", ())),
        timings_ms=more.get("timings_ms", {}),
        answer=None
        if answer is None
        else Answer(**{**answer, "citations": tuple(answer["citations"])}),
        known_citations=frozenset(content.get("known_citations", ())),
        warnings=tuple(content.get("warnings", ())),
        answer_error=content.get("answer_error") or _failed_answer(content.get("warnings", ())),
        numbers=None if numbers is None else decode(NumberCheck, numbers),
        usage=None if usage is None else decode(Usage, usage),
        judged=None if judged is None else decode(JudgedAnswer, judged),
        passages=more.get("passages", {}),
    )


@dataclass(frozen=True, slots=True)
class _Result:
    """What ``result_json`` writes."""

    ids: tuple[str, ...] = ()
    doc_ids: tuple[str, ...] | None = None
    scores: tuple[float | None, ...] | None = None
    spans: tuple[tuple[Span, ...], ...] | None = None
    chunker_versions: str | tuple[str, ...] = ""
    latency_ms: float | None = None
    error: str | None = None
    degraded: bool = False
    component_errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    answer: Answer | None = None
    known_citations: tuple[str, ...] = ()
    answer_error: str | None = None
    numbers: NumberCheck | None = None
    usage: Usage | None = None
    judged: JudgedAnswer | None = None


@dataclass(frozen=True, slots=True)
class _Stages:
    """What ``stages_json`` writes."""

    ids: tuple[str, ...] = ()
    component_lists: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    component_list_scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    fused: tuple[int, ...] = ()
    component_scores: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    ranks: Mapping[str, tuple[int | None, ...]] = field(default_factory=dict)
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    passages: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """An outcome on its way between workspaces."""

    query_id: str
    result: _Result
    stages: _Stages | None


def check_outcome(content: object, where: str = "", *, closed: bool = False) -> None:
    """Refuse an outcome from elsewhere that is not what ``result_json`` and its like write.

    ``closed`` refuses fields that nobody would read.
    """
    whole = decode(_Outcome, content, where, closed=closed)
    found = whole.result
    count = len(found.ids)
    columns = {
        "doc_ids": found.doc_ids,
        "scores": found.scores,
        "spans": found.spans,
        "chunker_versions": None
        if isinstance(found.chunker_versions, str)
        else found.chunker_versions,
    }
    for name, column in columns.items():
        if column is not None and len(column) != count:
            raise InputError(f"result.{name}: must have a value for each of {count} ids")
    if whole.stages is not None:
        _check_stages(whole.stages, count)


def _check_stages(found: _Stages, count: int) -> None:
    known = range(len(found.ids))
    for name, places in {**found.component_lists, "fused": found.fused}.items():
        if any(at not in known for at in places):
            raise InputError(f"stages: the list of {name!r:.40} names an id that is not there")
    for name, scores in found.component_list_scores.items():
        if scores and len(scores) != len(found.component_lists.get(name, ())):
            raise InputError(f"stages: the list of {name!r:.40} has another number of scores")
    for columns in (found.component_scores, found.ranks):
        for name, column in columns.items():
            if len(column) != count:
                raise InputError(f"stages: {name!r:.40} must have a value for each of {count} ids")


def _failed_answer(warnings: Sequence[str]) -> str | None:
    """The error of an answerer, which older runs keep among the warnings."""
    found = (line.removeprefix(_UNANSWERED) for line in warnings if line.startswith(_UNANSWERED))
    return next(found, None)


def _results(
    content: Mapping[str, Any], evidence: Evidence | _Implied | None, depth: int | None
) -> list[RankedResult]:
    ids = content.get("ids", [])[:depth]
    versions = content.get("chunker_versions", "")
    spans = content.get("spans")
    rows = zip(
        ids,
        content.get("doc_ids", ids),
        content.get("scores") or repeat(None),
        (tuple(map(tuple, each)) for each in spans) if spans else repeat(()),
        repeat(versions) if isinstance(versions, str) else versions,
        strict=False,  # columns may be longer than the ids that are wanted
    )
    if evidence is None:
        return [
            RankedResult(one, doc, score, shown, version, {}, {})
            for one, doc, score, shown, version in rows
        ]
    return [
        RankedResult(one, doc, score, shown, version, *evidence[one])
        for one, doc, score, shown, version in rows
    ]


def _evidence(
    rankings: Sequence[Mapping[str, Any]],
    more: Mapping[str, Any],
    lists: Mapping[str, Sequence[str]],
    scores: Mapping[str, Sequence[float]],
) -> Evidence | _Implied | None:
    """Component scores and ranks by id: as stored, else as the lists imply them."""
    if not more:
        return None
    written, ranks = more.get("component_scores", {}), more.get("ranks", {})
    if not written and not ranks:
        return _Implied(lists, scores)
    ids = [one for ranking in rankings for one in ranking.get("ids", [])]
    return {one: (_row(written, at), _row(ranks, at)) for at, one in enumerate(ids)}


class _Implied:
    """What the components' lists imply for a result; the first occurrence in a list counts."""

    def __init__(
        self, lists: Mapping[str, Sequence[str]], scores: Mapping[str, Sequence[float]]
    ) -> None:
        self._places = {
            name: dict(zip(reversed(lists[name]), range(len(lists[name]), 0, -1), strict=True))
            for name in lists
            if scores.get(name)
        }
        self._scores = scores

    def account_for(self, results: Sequence[RankedResult]) -> bool:
        """Whether the lists imply exactly what the results hold."""
        by_id = {one.chunk_id: one for one in results}
        if len(by_id) < len(results):
            return False
        told = sum(len(one.ranks) + len(one.component_scores) for one in results)
        for name, places in self._places.items():
            scores = self._scores[name]
            shared = [(by_id[one], place) for one, place in places.items() if one in by_id]
            told -= 2 * len(shared)
            for one, place in shared:
                if (
                    one.ranks.get(name) != place
                    or one.component_scores.get(name) != scores[place - 1]
                ):
                    return False
        return not told

    def __getitem__(self, one: str) -> tuple[dict[str, float], dict[str, int]]:
        ranks = {name: place for name, places in self._places.items() if (place := places.get(one))}
        return {name: self._scores[name][place - 1] for name, place in ranks.items()}, ranks


def _versions(results: Sequence[RankedResult]) -> str | list[str]:
    versions = [one.chunker_version for one in results]
    return versions[0] if len(set(versions)) == 1 else versions


def _unless_all(values: list[Any], usual: list[Any]) -> list[Any] | None:
    return None if values == usual else values


def _columns(rows: Sequence[Mapping[str, float]]) -> dict[str, list[float | None]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _row(columns: Mapping[str, list[Any]], at: int) -> dict[str, Any]:
    return {name: column[at] for name, column in columns.items() if column[at] is not None}


def _dump(content: Mapping[str, Any]) -> str:
    kept = {name: value for name, value in content.items() if _says_something(value)}
    try:
        text = to_json(kept).decode()
        if "NaN" not in text and "Infinity" not in text:
            return text
    except ValueError:
        pass  # a lone surrogate, which json can write; or a type that neither can
    return json.dumps(kept, separators=(",", ":"), allow_nan=False)


def _says_something(value: Any) -> bool:
    if value is None or value is False:
        return False
    return len(value) > 0 if isinstance(value, (str, list, tuple, dict)) else True


UNFINISHED = (RunStatus.RUNNING.value, RunStatus.INTERRUPTED.value)


def run_row(info: RunInfo, checksum: str) -> dict[str, Any]:
    """The row of ``eval_runs``; tags have a table of their own."""
    provenance = {
        "chunker_versions": info.chunker_versions,
        "models": dict(info.models),
        "seed": info.seed,
        "uploaded": info.uploaded,
        "scoring": encode(info.scoring),
        "reused_from": info.reused_from,
    }
    return {
        "run_id": info.run_id,
        "suite": info.suite,
        "name": info.name,
        "status": info.status.value,
        "test_set_version": info.test_set_version,
        "test_set_checksum": checksum,
        "part": info.part,
        "config_snapshot_json": sealed(
            json.dumps(dict(info.config), sort_keys=True, allow_nan=False)
        ),
        "config_hash": info.config_hash,
        "cache_key": info.cache_key,
        "generation": info.generation,
        "engine": info.engine,
        "provenance_json": sealed(json.dumps(provenance, allow_nan=False)),
        "queries": info.queries,
        "aggregate_json": sealed(json.dumps(dict(info.aggregate), allow_nan=False))
        if info.aggregate
        else None,
        "commit_hash": info.commit_hash,
        "created_at": info.created_at,
        "finished_at": info.finished_at,
        "owner": info.owner,
    }


def run_info(row: Row[Any], tags: Mapping[str, tuple[str, ...]]) -> RunInfo:
    """The run of a row."""
    try:
        return check_figures(_read(row, tags))
    except (*UNREADABLE, InputError) as problem:
        said = problem.message if isinstance(problem, InputError) else problem
        raise damaged(f"the run {row.run_id}", said) from None


def bare_info(row: Row[Any]) -> RunInfo:
    """What is left of a run that cannot be read: enough to say which one it was."""
    return RunInfo(
        run_id=row.run_id,
        suite=row.suite,
        test_set_version=row.test_set_version,
        test_set_checksum=row.test_set_checksum,
        config={},
        config_hash=row.config_hash,
        cache_key=row.cache_key,
        created_at=row.created_at,
        status=RunStatus.FAILED,
    )


def _read(row: Row[Any], tags: Mapping[str, tuple[str, ...]]) -> RunInfo:
    provenance = unsealed(row.provenance_json)
    aggregate = unsealed(row.aggregate_json) if row.aggregate_json else {}
    return RunInfo(
        run_id=row.run_id,
        suite=row.suite,
        test_set_version=row.test_set_version,
        test_set_checksum=row.test_set_checksum,
        config=unsealed(row.config_snapshot_json),
        config_hash=row.config_hash,
        cache_key=row.cache_key,
        created_at=row.created_at,
        status=_status(row),
        generation=row.generation,
        engine=row.engine,
        name=row.name,
        part=row.part,
        owner=row.owner,
        chunker_versions=tuple(provenance["chunker_versions"]),
        models=provenance["models"],
        seed=provenance["seed"],
        commit_hash=row.commit_hash,
        finished_at=row.finished_at,
        tags=tags.get(row.run_id, ()),
        queries=row.queries,
        uploaded=provenance.get("uploaded", False),
        scoring=_scoring(provenance, aggregate),
        reused_from=provenance.get("reused_from", ""),
        aggregate=aggregate,
    )


def _status(row: Row[Any]) -> RunStatus:
    """How far the run got; a process that is gone left it where it was."""
    status = RunStatus(row.status)
    return RunStatus.INTERRUPTED if status is RunStatus.RUNNING and ended(row.owner) else status


def _scoring(provenance: Mapping[str, Any], aggregate: Mapping[str, Any]) -> Scoring:
    """What the run is scored by; older rows only say how its intervals were drawn."""
    if "scoring" in provenance:
        return decode(Scoring, provenance["scoring"])
    drawn = aggregate.get("sampling")
    return Scoring(sampling=Sampling.from_dict(drawn)) if drawn else Scoring()
