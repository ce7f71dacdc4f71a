"""How does an evaluation survive a crash, and when does it not have to run at all?

Outcomes are committed ten at a time, those with verdicts of a judge one by one. A run with the same
key (configuration, queries, index generation) that is complete answers at once, unless a query of
it failed or was degraded; one that was cut short goes on where it stopped, and repeats one batch at
most.

Whoever asks for another id, another name or another rule of scoring gets a run of their own: it
takes the outcomes of the equal one over, so nothing is searched again. The same name again asks for
nothing new, since a name is not an id: the run that has it answers, and no run is made.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from assay.errors import TooManyErrorsError
from assay.evaluation.execution import MAX_ERRORS, TIMEOUT_S, Retries, execute, require_an_answer
from assay.evaluation.parts import SetPart
from assay.evaluation.result import EvaluationResult, result_of_run
from assay.evaluation.scope import Scope, answerable
from assay.evaluation.stored_aggregate import stored_aggregate
from assay.model.moments import now
from assay.model.run_ids import new_run_id
from assay.model.run_store import BATCH, HeldOutUse, RunStore
from assay.model.runs import QueryOutcome, RunInfo, RunStatus
from assay.model.scoring import Scoring
from assay.model.system import System
from assay.plural import counted

# called with the queries done, their total, and the outcomes so far
ReportProgress: TypeAlias = Callable[[int, int, Sequence[QueryOutcome]], None]


@dataclass(frozen=True, kw_only=True)
class RecordOptions:
    """How to run: names, tags, and what to do about errors and earlier runs."""

    name: str = ""
    tags: tuple[str, ...] = ()
    run_id: str | None = None
    resume: str | None = None
    use_cache: bool = True
    max_errors: int | None = MAX_ERRORS
    commit_hash: str = ""
    uploaded: bool = False
    owner: str = ""
    purpose: str = "evaluation"
    scoring: Scoring = field(default_factory=Scoring)


@dataclass(frozen=True)
class Recorded:
    """A stored evaluation: the run, its result, and how much of it was there before.

    ``repeated`` says that an earlier run answers for this one, so that no run was made.
    """

    info: RunInfo
    result: EvaluationResult
    cached: bool
    reused: int
    repeated: bool = False

    @property
    def note(self) -> str | None:
        """What was not searched, and whether a run was made; None where all of it is new."""
        run = self.info.run_id
        if self.repeated:
            named = f", named {self.info.name}," if self.info.name else ""
            return (
                f"run {run}{named} has the answer already: nothing was searched and no new run "
                "was made; --no-cache searches again and makes one"
            )
        if self.cached:
            return (
                f"run {self.info.reused_from or run} has the answer already: {run} was made with "
                "its results and nothing was searched; --no-cache searches again"
            )
        if self.reused:
            return f"{counted(self.reused, 'query', 'was')} answered before it was cut short"
        return None


def record(
    system: System,
    part: SetPart,
    store: RunStore,
    options: RecordOptions | None = None,
    progress: ReportProgress | None = None,
) -> Recorded:
    """Run an evaluation into a store, or find that it was run before."""
    options = options or RecordOptions()
    info = _started(system, part, store, options)
    if info.status is RunStatus.COMPLETE:
        info = store.renew(info.run_id)
        for tag in options.tags:
            info = store.tag(info.run_id, tag)
        outcomes = store.outcomes(info.run_id)
        result = _result(info, part, outcomes, options, cached=True)
        return Recorded(info, result, cached=True, reused=len(outcomes), repeated=True)
    if part.touches_held_out:
        test_set = part.test_set
        store.log_held_out(
            HeldOutUse(
                test_set.name, test_set.version, info.run_id, options.purpose, now("seconds")
            )
        )
    before = store.outcomes(info.run_id)  # of a run that was cut short, or taken from an equal one
    asked = _execute(_Job(system, part, store, info, options), before, progress)
    outcomes = (*before, *asked)
    cached = bool(before) and not asked
    result = _result(info, part, outcomes, options, cached=cached)
    info = store.finish(info.run_id, stored_aggregate(info, result), finished_at=now("seconds"))
    return Recorded(info, result, cached=cached, reused=len(before))


def config_hash(config: Mapping[str, Any]) -> str:
    """SHA-256 of a configuration in its canonical form: sorted keys, no blanks."""
    text = json.dumps(config, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def cache_key(config: Mapping[str, Any], part: SetPart, generation: str | None) -> str:
    """The same for the same configuration, queries and index generation."""
    if generation is None:
        return f"unknown-{secrets.token_hex(16)}"
    test_set = part.test_set
    content = [config_hash(config), part.mode, test_set.version, test_set.checksum, generation]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _started(system: System, part: SetPart, store: RunStore, options: RecordOptions) -> RunInfo:
    """The run to continue: the one to resume, one with the same key, or a new one."""
    if options.resume is not None:
        return _continued(store, store.run(options.resume), options)
    key = cache_key(system.config, part, system.generation)
    equal = store.equal_runs(key) if options.use_cache else ()
    for known in equal:
        if _is_asked_for(known, options):
            return _continued(store, known, options)
    test_set = part.test_set
    donor = equal[0].run_id if equal else ""
    info = RunInfo(
        run_id=options.run_id or new_run_id(),
        suite=test_set.name,
        test_set_version=test_set.version,
        test_set_checksum=test_set.checksum,
        config=system.config,
        config_hash=config_hash(system.config),
        cache_key=key,
        created_at=now("seconds"),
        generation=system.generation or "",
        engine=system.engine,
        name=options.name,
        part=part.label,
        owner=options.owner,
        chunker_versions=system.chunker_versions,
        models=system.models,
        seed=options.scoring.sampling.seed,
        commit_hash=options.commit_hash,
        uploaded=options.uploaded,
        tags=options.tags,
        queries=len(answerable(test_set)),
        scoring=options.scoring,
        reused_from=donor,
        aggregate=Scope(test_set, ()).size,
    )
    begun = store.begin(info, test_set)
    if donor:
        store.append(begun.run_id, [one for one in store.outcomes(donor) if one.sound])
    return begun


def _is_asked_for(known: RunInfo, options: RecordOptions) -> bool:
    """Whether an equal run is the very one: nothing else it should be called or scored by."""
    return (
        options.run_id in (None, known.run_id)
        and options.name in ("", known.name)
        and replace(known.scoring, measures=None) == replace(options.scoring, measures=None)
    )


def _continued(store: RunStore, info: RunInfo, options: RecordOptions) -> RunInfo:
    if info.status is RunStatus.COMPLETE:
        return info
    claimed = store.claim(info.run_id, options.owner)
    for tag in options.tags:
        claimed = store.tag(info.run_id, tag)
    return claimed


@dataclass(frozen=True)
class _Job:
    """A run in progress."""

    system: System
    part: SetPart
    store: RunStore
    info: RunInfo
    options: RecordOptions


def _execute(
    job: _Job, before: Sequence[QueryOutcome], progress: ReportProgress | None
) -> list[QueryOutcome]:
    """Run the queries that are left; whatever stops this early leaves a run that can be resumed."""
    store, run_id, options = job.store, job.info.run_id, job.options
    done = {one.query_id for one in before}
    every = answerable(job.part.test_set)
    limit = job.system.timeout_s
    if limit is None and not job.system.keeps_time:
        limit = TIMEOUT_S
    waiting = [job.part.asked(query) for query in every if query.query_id not in done]
    batch: list[QueryOutcome] = []
    seen: list[QueryOutcome] = []

    def commit() -> None:
        store.append(run_id, batch)
        batch.clear()

    def reached() -> Scope:
        return Scope(job.part.test_set, done.union(one.query_id for one in seen))

    try:
        for outcome in execute(
            job.system.retrieve,
            waiting,
            max_errors=options.max_errors,
            timeout_s=limit,
            rank_by=job.system.rank_by,
            timed=job.system.timed,
            concurrency=job.system.concurrency,
            retries=Retries(job.system.retries),
            finish=job.system.finish,
            retrieve_many=job.system.retrieve_many,
        ):
            batch.append(outcome)
            seen.append(outcome)
            if progress is not None:
                progress(len(done) + len(seen), len(every), seen)
            if len(batch) >= (BATCH if job.system.finish is None else 1):  # verdicts cost money
                commit()
        require_an_answer([*before, *seen], job.part.test_set.held_out_ids)
        commit()
    except TooManyErrorsError as error:
        commit()
        store.finish(run_id, reached().counts, status=RunStatus.FAILED)
        if seen[-1].query_id in job.part.test_set.held_out_ids:  # its error may quote the query
            failed = sum(one.error is not None for one in seen)
            raise TooManyErrorsError(
                f"{counted(failed, 'query')} failed", hint=error.hint
            ) from None
        raise
    except BaseException as stop:  # Ctrl-C, too: what was answered is kept
        commit()
        store.finish(run_id, reached().counts, status=RunStatus.INTERRUPTED)
        stop.add_note(
            f"{reached().progress}, and the run is kept: assay eval run --resume {run_id} goes on"
        )
        raise
    return seen


def _result(
    info: RunInfo,
    part: SetPart,
    outcomes: Sequence[QueryOutcome],
    options: RecordOptions,
    *,
    cached: bool,
) -> EvaluationResult:
    scoring = info.scoring.changed(measures=options.scoring.measures)
    return result_of_run(info, part.test_set, outcomes, scoring, cached=cached)
