"""What is searched: which generation, with which components, and why are others absent?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay import limits
from assay.app import encoders as encoding
from assay.errors import AssayError, EngineError
from assay.search.options import COMPONENTS

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.index.reader import Generation
    from assay.model.document import ChunkLabels, KeyedChunk
    from assay.model.query import Component
    from assay.opensearch.cluster import Cluster
    from assay.search.searcher import Searcher
    from assay.search.snapshot import Snapshot


def open_searcher(workspace: Workspace) -> Searcher:
    """Search as configured; the caller closes it."""
    from assay.encode.catalog import requires_gpu
    from assay.search.boost import load_lexicon
    from assay.search.options import configured
    from assay.search.rerank import Rerankers
    from assay.search.searcher import Searcher, Source
    from assay.search.synonyms import read_synonyms

    workspace.require()
    config = workspace.config
    lexicon, synonyms = config.lexicon, config.synonyms
    return Searcher(
        Source(partial(_generation_name, workspace), workspace.snapshot),
        Rerankers(partial(encoding.reranker, config), requires_gpu),
        defaults=configured(config),
        lexicon=load_lexicon(lexicon) if isinstance(lexicon, Path) else None,
        synonyms=read_synonyms(synonyms) if isinstance(synonyms, Path) else None,
    )


def _generation_name(workspace: Workspace) -> str:
    if workspace.cluster is not None:
        return workspace.cluster.current().name
    from assay.index.manifest import load

    return str(load(workspace.index_folder).generation)


def models(workspace: Workspace) -> Mapping[str, str]:
    """The models that made the index, by component."""
    if workspace.cluster is not None:
        return workspace.cluster.current().models
    from assay.index.manifest import load

    return load(workspace.index_folder).models


def components(workspace: Workspace, generation: Generation) -> dict[str, Component]:
    """The components that this index and configuration have, by name."""
    wanted = ["bm25", *(name for name in COMPONENTS if name in generation.manifest.models)]
    every = {name: _component(workspace, name, generation) for name in wanted}
    return {name: component for name, component in every.items() if component is not None}


def snapshot(workspace: Workspace) -> Snapshot:
    """The newest generation with its components, and why others are absent."""
    from assay.search.snapshot import Snapshot

    if workspace.cluster is not None:
        return _cluster_snapshot(workspace, workspace.cluster)
    generation, store = workspace.generation(), workspace.store
    found, absent = _present(lambda name: _component(workspace, name, generation))

    def find(name: str) -> list[KeyedChunk]:
        return [row for row in store.find(name) if row.key in generation.chunk_ids]

    return Snapshot(
        generation=str(generation.manifest.generation),
        components=found,
        chunks=store.chunks_by_key,
        labels=partial(generation.labels, older=store.labels_by_key),
        find=find,
        absent=absent,
        size=len(generation.chunk_ids),
    )


def _cluster_snapshot(workspace: Workspace, cluster: Cluster) -> Snapshot:
    from assay.opensearch.cluster import refuse_foreign
    from assay.search.cache import Cache
    from assay.search.snapshot import Snapshot

    workspace.require()
    store, current = workspace.store, cluster.current()
    if not current.generation:
        raise EngineError("there is no index on the cluster yet", hint="assay index update")
    refuse_foreign(current, store)
    found, absent = _present(
        lambda name: cluster.component(
            name, current, workspace.sparse_encoder, workspace.dense_encoder
        )
    )

    def find(name: str) -> list[KeyedChunk]:
        rows = store.find(name)
        there = cluster.keys(current.index, [row.key for row in rows]) if rows else set()
        return [row for row in rows if row.key in there]

    labels: Cache[int, ChunkLabels] = Cache(limits.MAX_CACHED_LABELS)
    return Snapshot(
        generation=current.name,
        components=found,
        chunks=store.chunks_by_key,
        labels=partial(labels.all_of, fetch=store.labels_by_key),
        find=find,
        absent=absent,
        size=cluster.count(current.index),
    )


def _present(
    component_of: Callable[[str], Component | None],
) -> tuple[dict[str, Component], dict[str, str]]:
    """The components that can be asked; for each other one, why it cannot."""
    found: dict[str, Component] = {}
    absent: dict[str, str] = {}
    for name in COMPONENTS:
        try:
            component = component_of(name)
        except AssayError as problem:
            absent[name] = f"{name}: {problem}"
            continue
        if component is None:
            absent[name] = f"{name}: the configuration has no model for it"
        else:
            found[name] = component
    return found, absent


def _component(workspace: Workspace, name: str, generation: Generation) -> Component | None:
    """One component; None where the configuration wants no model for it."""
    if name == "bm25":
        return generation.bm25()
    if name == "splade" and workspace.sparse_encoder is not None:
        return generation.splade(workspace.sparse_encoder)
    if name == "dense" and workspace.dense_encoder is not None:
        return generation.dense(workspace.dense_encoder)
    return None
