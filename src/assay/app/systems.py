"""How is the search of a workspace evaluated, and who answers from what it finds?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.app.engine import models
from assay.config import Configuration

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.model.answers import Answerer
    from assay.model.system import System
    from assay.search.options import SearchOptions


def open_answerer(config: Configuration) -> Answerer:
    """Who turns results into an answer, as configured."""
    from assay.answers import answerers as opening

    return opening.open_answerer(
        config.answerer,
        dense_model=config.dense_model,
        model=config.answer_model,
        key_variable=config.answer_key_variable,
        seconds=config.answer_seconds,
    )


def system(workspace: Workspace, *, answers: bool, **changes: Any) -> System:
    """The search as something to evaluate; ``changes`` replace options."""
    from assay.search.recorded import evaluation_options

    options = evaluation_options(workspace.searcher.defaults, **changes)
    return _recorded(workspace, options, answers)


def system_of(workspace: Workspace, config: Mapping[str, Any]) -> System:
    """The same under the configuration that a stored run was made with."""
    from assay.search.recorded import options_from

    options = options_from(config, workspace.searcher.defaults)
    return _recorded(workspace, options, answers="answerer" in config)


def _recorded(workspace: Workspace, options: SearchOptions, answers: bool) -> System:
    from assay.search.recorded import recorded_system

    return recorded_system(
        workspace.searcher,
        options,
        workspace.store.places,
        models=models(workspace),
        engine="embedded" if workspace.cluster is None else workspace.cluster.engine(),
        answerer=workspace.answerer if answers else None,
    )
