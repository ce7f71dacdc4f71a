"""What is in the index, is it sound, and how is it brought up to date?"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from assay.app.engine import (
    Progress,
    cached_encoders,
    lacking_models,
    made_by,
    model_shelf,
    newer_models,
    silent,
)
from assay.errors import ModelServiceError

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.index.manifest import Manifest
    from assay.index.writer import Encoders

Action = Literal["update", "compact", "rebuild", "reencode"]


@dataclass(frozen=True, slots=True)
class IndexWritten:
    """The generation that was written; ``lacking`` says which vectors it goes without, and why."""

    generation: int
    rows: int
    segments: int
    lacking: str = ""


def index_card(workspace: Workspace) -> dict[str, Any]:
    """What the index holds, how fresh it is and which models made it."""
    workspace.require()
    generation, applied, card = _card(workspace)
    return {
        "home": str(workspace.home),
        "generation": generation,
        "changes_behind": workspace.store.last_change() - applied,
        **workspace.store.counts(),
        **card,
        **_moves(workspace, card["models"]),
    }


def _moves(workspace: Workspace, made: Mapping[str, str]) -> dict[str, Any]:
    """What an index of older default models could be moved to, and those that are not here."""
    newer, lacking = newer_models(workspace.settings, made), lacking_models(workspace, made)
    found = {"newer_models": newer, "lacking_models": lacking}
    return {name: models for name, models in found.items() if models}


def check_index(workspace: Workspace) -> list[str]:
    """What is wrong with the index; nothing where the list is empty."""
    workspace.require()
    chunks = workspace.store.counts()["chunks"]
    if workspace.cluster is not None:
        return workspace.cluster.problems(chunks, workspace.store)
    from assay.index import check

    return check.problems(workspace.layout.index, chunks, workspace.store)


def write_index(
    workspace: Workspace, action: Action = "update", progress: Progress = silent
) -> IndexWritten:
    """Update the index to the store's last change, or write it from scratch.

    An update keeps to the models that made the index, unless the settings name others. To
    ``reencode`` is to move it to the models of the settings, default or not: searches find the old
    index until the new one is whole, and what was encoded before an interruption is not encoded
    again.
    """
    workspace.require()
    manifest, lacking = updated(
        workspace, progress, fresh=action in ("compact", "rebuild"), move=action == "reencode"
    )
    rows = sum(part.rows for part in manifest.segments)
    return IndexWritten(manifest.generation, rows, len(manifest.segments), lacking)


def update_index(
    workspace: Workspace, progress: Progress = silent, *, fresh: bool = False, move: bool = False
) -> Manifest:
    """Bring the index up to the store, encoding only texts that no model has seen."""
    return updated(workspace, progress, fresh=fresh, move=move)[0]


def updated(
    workspace: Workspace, progress: Progress = silent, *, fresh: bool = False, move: bool = False
) -> tuple[Manifest, str]:
    """The same, and what the index goes without because a service gave no vectors.

    Words are found at once; the next update asks the service again, for what it has not given yet.
    An index that has vectors keeps them unless the service is down, when nobody could use them.
    """
    made = {} if move else made_by(workspace)
    for name in lacking_models(workspace, made).values() if move else ():
        model_shelf(workspace.settings).require(name)
    with ExitStack() as stack:
        encoders = cached_encoders(workspace, stack, progress, made)
        try:
            return _written(workspace, encoders, made, progress, fresh=fresh), ""
        except ModelServiceError as problem:
            if move or ("dense" in made and not problem.is_down):
                raise
            words = replace(encoders, dense=None, dense_model="")
            manifest = _written(workspace, words, made, progress, fresh=fresh)
            advice = "; ".join(filter(None, (problem.hint, "later: assay index update")))
            return manifest, f"without dense: {problem.message} ({advice})"


def _written(
    workspace: Workspace,
    encoders: Encoders,
    made: Mapping[str, str],
    progress: Progress,
    *,
    fresh: bool,
) -> Manifest:
    """The next generation, here or on the cluster."""
    from assay.index.lock import write_lock
    from assay.index.manifest import FileSet, Manifest
    from assay.index.writer import update

    if workspace.cluster is None:
        return update(
            workspace.layout.index,
            workspace.store,
            encoders,
            fresh=fresh,
            progress=progress,
            graph_from_rows=workspace.settings.graph_from,
        )
    cluster, (dense, _) = workspace.cluster, workspace.encoders(made)
    size = dense.dimension if dense is not None and "dense" in encoders.models else 0
    with write_lock(workspace.layout.index):
        now = cluster.update(workspace.store, encoders, size, fresh=fresh, progress=progress)
        whole = FileSet(now.index, cluster.count(now.index), {})
        return Manifest(now.generation, now.applied, segments=(whole,), models=now.models)


def changes_behind(workspace: Workspace) -> int:
    """How many changes of the documents the index does not have yet."""
    if workspace.cluster is not None:
        applied = workspace.cluster.current().applied
    else:
        from assay.index.manifest import load

        applied = load(workspace.layout.index).applied
    return workspace.store.last_change() - applied


def _card(workspace: Workspace) -> tuple[int, int, dict[str, Any]]:
    """The generation, the last change that is in it, and what else the index says of itself."""
    if workspace.cluster is not None:
        current = workspace.cluster.current()
        return current.generation, current.applied, workspace.cluster.card(current)
    from assay.index import check
    from assay.index.manifest import load

    manifest = load(workspace.layout.index)
    card = check.card(workspace.layout.index, manifest)
    return manifest.generation, manifest.applied, card
