"""Which system does an evaluation ask, and is it still the one that a run was begun with?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from assay.app import engine
from assay.app.evaluation_request import EvaluationRequest
from assay.errors import ConflictError, UsageError

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.model.runs import RunInfo
    from assay.model.system import System


T = TypeVar("T")
JUDGE_SPEC = "judge_spec"
OF_ANSWERS = ("answerer", "judge", JUDGE_SPEC)
"""What of a run's configuration is about its answers, and changes no ranking."""


def requested_system(workspace: Workspace, request: EvaluationRequest) -> System:
    """What is evaluated; how it is asked, ranked and judged is part of its configuration."""
    from assay.model.ranking import RankBy

    system = _engine(workspace, request)
    if request.judged:
        judge = request.own_judge if request.judge is None else request.judge
        system = _judged(workspace, system, judge, ours=request.retriever is None)
    ours = request.retriever is None
    # a reranker and a service are asked one query at a time
    concurrency = 1 if ours and system.retrieve_many is None else request.concurrency
    asked = {"rank_by": request.rank_by, "timeout_s": request.timeout_s}
    given = {name: value for name, value in asked.items() if value is not None}
    given |= {"concurrency": concurrency} if concurrency > 1 else {}
    given |= {"retries": request.retries} if request.retries else {}
    return replace(
        system,
        config={**system.config, **given},
        rank_by=None if request.rank_by is None else RankBy(request.rank_by),
        timeout_s=request.timeout_s,
        concurrency=concurrency,
        retries=request.retries,
    )


def _judged(workspace: Workspace, system: System, judge: Any, *, ours: bool) -> System:
    """The system with a judge; its name tells what it is, a ``JUDGE_SPEC`` how to open it again.

    A judge is a name, a function or an object; of the last two nobody can open one again.

    A system that is not ``ours`` may return ids without texts: those of our corpus are looked up.
    """
    from assay.evaluation.verdicts import judged_system

    found = judged_system(
        system, workspace.judge(judge), None if ours else partial(_text_of, workspace)
    )
    if not isinstance(judge, str):
        return found
    return replace(found, config={**found.config, JUDGE_SPEC: judge})


def _text_of(workspace: Workspace, name: str) -> str | None:
    """The text of the chunk or the document with this id, where the corpus has it."""
    if not workspace.exists():
        return None
    return "\n\n".join(row.chunk.text for row in workspace.store.find(name)) or None


def _engine(workspace: Workspace, request: EvaluationRequest) -> System:
    if request.run_file is not None:
        from assay.evaluation.retrievers.run_file import run_file_system

        return run_file_system(request.run_file, rank_by=request.rank_by)
    if request.retriever is None:
        workspace.searcher.refresh()
        return workspace.system(
            answers=request.answers,
            judged=request.judged,
            **{"k": request.kept, **request.options},
        )
    if not isinstance(request.retriever, str):
        from assay.evaluation.retrievers.python import given_system

        return given_system(request.retriever)
    if request.retriever.startswith(("http://", "https://")):
        from assay.evaluation.retrievers.http import HttpMapping, http_system, load_mapping

        mapping = HttpMapping() if request.mapping is None else load_mapping(request.mapping)
        if request.timeout_s is not None:
            mapping = replace(mapping, timeout_s=request.timeout_s)
        return http_system(request.retriever, mapping, k=request.kept)
    from assay.evaluation.retrievers.python import python_system

    return python_system(request.retriever)


def preceded(retrieve: Callable[[T], Any], before_query: Callable[[], None]) -> Callable[[T], Any]:
    """The same retrieval, after something that comes before each query."""

    def preceded(asked: T) -> Any:
        before_query()
        return retrieve(asked)

    return preceded


def resumed_system(workspace: Workspace, request: EvaluationRequest, info: RunInfo) -> System:
    """The system that an unfinished run was made with."""
    if info.ours:
        system = system_of_run(workspace, info, answers="answerer" in info.config)
    elif info.engine == "run file" and request.run_file is None:
        raise UsageError("resuming this run needs its file", hint="--run FILE")
    else:
        again = replace(
            request,
            judge=request.judge or info.config.get(JUDGE_SPEC),
            retriever=request.retriever or info.config.get("retriever"),
            rank_by=request.rank_by or info.config.get("rank_by"),
            timeout_s=request.timeout_s or info.config.get("timeout_s"),
            concurrency=info.config.get("concurrency", 1),
            retries=info.config.get("retries", 0),
        )
        system = requested_system(workspace, again)
        _refuse_other_system(info, system)
    refuse_other_index(info, system)
    return system


def system_of_run(workspace: Workspace, info: RunInfo, *, answers: bool = False) -> System:
    """Our search as a run was made with it, on the index as it is now."""
    from assay.search.run_config import options_from

    options = options_from(info.config, workspace.searcher.defaults)
    spec = info.config.get(JUDGE_SPEC) if answers else None
    system = engine.system(workspace, options, answers=answers, judged=spec is not None)
    if spec is not None:
        system = _judged(workspace, system, spec, ours=True)
    for name in ("timeout_s", "concurrency"):
        if name in info.config:
            value = info.config[name]
            system = replace(system, config={**system.config, name: value}, **{name: value})
    if not answers:
        without = {k: v for k, v in info.config.items() if k not in OF_ANSWERS}
        info = replace(info, config=without)
    _refuse_other_system(info, system)
    return system


def _refuse_other_system(info: RunInfo, system: System) -> None:
    if changed_since := changed_parts(info, system):
        raise ConflictError(
            f"this has changed since {info.run_id} started: {', '.join(changed_since)}",
            hint="start a new run",
        )


def refuse_other_index(info: RunInfo, system: System) -> None:
    """Refuse to go on with a run in another index; older runs know its generation only."""
    now = system.generation or ""
    if info.generation not in (now, now.partition("#")[0]):
        raise ConflictError(
            f"the index has changed since {info.run_id} started "
            f"(generation {info.generation}, now {system.generation})",
            hint="start a new run",
        )


def changed_parts(info: RunInfo, system: System) -> list[str]:
    """What of the configuration is not as it was when a run was begun.

    Older runs do not say everything; services once kept the mode in the label only.
    """
    before, now = dict(info.config), dict(system.config)
    unsaid = {"mode", "assay", "lexicon", "reranker_model"} - before.keys()
    return [
        name
        for name in sorted((before.keys() | now.keys()) - unsaid - {"mode"})
        if before.get(name) != now.get(name)
    ]
