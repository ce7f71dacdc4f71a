"""Which options may a caller choose, and what should a person know beside the results?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.app import engine
from assay.errors import AssayError, UsageError
from assay.model.codec import as_json
from assay.plural import counted

if TYPE_CHECKING:
    from assay.app.interface import Assay
    from assay.app.workspace import Workspace
    from assay.search.request import SearchOptions
    from assay.search.response import SearchResponse
    from assay.settings import Settings

MOST_SECTIONS = 30
"""Sections that a hint names."""
MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}(/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?")
"""The name of a model, as the catalog or a hub has it; never the path of a folder."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """Whether a workspace has documents, and how many changes of them the index does not have.

    ``lacking`` says which models are not on the machine, where searches go without them.
    """

    empty: bool
    changes_behind: int
    lacking: str = ""
    home: str = field(default="", metadata=as_json(None))


def options_of_caller(settings: Settings, changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options, if somebody who asks a service may choose them.

    A model is named as the catalog or the shelf of the service has it. A name that stands for a
    folder of this machine is refused, whatever lies there. Nobody may wait for reranking beyond the
    deadline of a request, or bring code: components are those that the settings name.
    """
    from assay.encode.catalog import CARDS
    from assay.search.request import check_names

    check_names("components", changes.get("components") or (), settings.own_components)

    name = changes.get("reranker")
    known = name is None or name in CARDS or name == settings.search.reranker
    if not known and not _names_model(settings, str(name)):
        rerankers = ", ".join(card.name for card in CARDS.values() if card.role == "reranker")
        raise UsageError(
            f"reranker: {name!r:.80} is not a model of this service",
            hint=f"known: {rerankers}, and what was pulled with assay models pull",
        )
    patience, most = changes.get("rerank_timeout_ms"), 1000 * settings.request_seconds
    if patience is not None and patience > most:
        raise UsageError(
            f"rerank_timeout_ms: {patience:g} is more than the {most:g} of a whole request",
            hint="request_seconds of the service says how long a request may take",
        )
    return changes


def _names_model(settings: Settings, name: str) -> bool:
    """Whether a name can only mean a model: a word, or ``owner/model`` if it was pulled."""
    from assay.encode.shelf import looks_like_path

    if not MODEL_NAME.fullmatch(name):
        return False
    if "/" not in name:
        return not looks_like_path(name)
    folder = name.replace("/", "--")
    return any((root / folder).is_dir() for _, root in engine.model_shelf(settings).places())


def weights_in_force(options: SearchOptions, components: Iterable[str]) -> dict[str, float]:
    """The weight of every component: one that was chosen, else that of weighted fusion."""
    from assay.search.fusion.weights import default_weight
    from assay.search.request import FusionMethod

    usual = options.model_weights.get(FusionMethod.WEIGHTED, {})
    return {
        name: options.weights.get(name, usual.get(name, default_weight(name)))
        for name in components
    }


def hints(assay: Assay, response: SearchResponse, changes: Mapping[str, Any]) -> Iterator[str]:
    """Why results may be missing: what is not indexed yet, and a section that no document has."""
    from assay.model.sections import section_of

    yield from (line for line in incomplete(assay) if line not in response.warnings)
    wanted = changes.get("section") or ()
    if not response.results and wanted:
        known = assay.sections()
        if known and not {*map(section_of, wanted)} & {*map(section_of, known)}:
            more = "" if len(known) <= MOST_SECTIONS else ", ..."
            listed = ", ".join(known[:MOST_SECTIONS]) + more
            yield f"no document has a section {wanted[0]!r:.60}; known: {listed}"


def incomplete(assay: Assay) -> Iterator[str]:
    """What cannot be found because it is not indexed; nothing where that cannot be told."""
    with suppress(AssayError):
        state = assay.freshness()
        if state.empty:
            where = f"the workspace {state.home}" if state.home else "the service"
            yield f"{where} holds no documents yet (assay ingest PATH)"
        elif state.changes_behind > 0:
            changes = counted(state.changes_behind, "document change", "is")
            yield f"{changes} not indexed yet (assay index update)"
        if state.lacking and not state.empty:
            yield state.lacking


def freshness(workspace: Workspace) -> Freshness:
    """Whether there are documents, and whether the index has them; every search asks."""
    return Freshness(
        empty=not workspace.store.inventory.documents(limit=1),
        changes_behind=workspace.changes_behind(),
        lacking=engine.goes_without(workspace),
        home=str(workspace.home),
    )
