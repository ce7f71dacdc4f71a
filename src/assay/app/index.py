"""How do documents reach the store and the index, on this machine or on a cluster?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING, Any

from assay.app.encoders import Progress, cached_encoders
from assay.config import Configuration
from assay.errors import CorruptError

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.index.manifest import Manifest
    from assay.index.reader import Generation
    from assay.model.document import Chunk, Document
    from assay.opensearch.cluster import Cluster
    from assay.store.corpus import CorpusStore, Written

BATCH_DOCUMENTS = 200


def silent(stage: str, done: int, total: int) -> None:
    """Nobody is looking."""


def ingest(
    store: CorpusStore,
    documents: Iterable[tuple[Document, tuple[Chunk, ...]]],
    progress: Progress,
) -> Written:
    """Store documents in batches; each batch is durable when the next one begins."""
    from assay.store.corpus import Written

    total = Written()
    seen = 0
    for batch in _batches(documents, BATCH_DOCUMENTS):
        total += store.put(batch)
        seen += len(batch)
        progress("read", seen, 0)
    return total


def generation(workspace: Workspace) -> Generation:
    """The current generation, opened; refused where it is of another store."""
    from assay.index.origin import FOREIGN, is_foreign
    from assay.index.reader import open_generation

    workspace.require()
    found = open_generation(workspace.index_folder)
    if is_foreign(found.manifest.applied, found.manifest.card, workspace.store):
        raise CorruptError(FOREIGN, hint="assay index rebuild")
    return found


def open_cluster(config: Configuration, stack: ExitStack) -> Cluster:
    """The cluster that the settings name; ``stack`` closes the connections."""
    from assay.opensearch.cluster import Cluster, Shape
    from assay.opensearch.transport import Transport

    transport = Transport(config.opensearch_url)
    stack.callback(transport.close)
    shape = Shape(
        config.opensearch_prefix,
        config.opensearch_shards,
        config.opensearch_replicas,
        config.opensearch_refresh,
    )
    return Cluster(transport, shape)


def update_index(workspace: Workspace, progress: Progress, *, fresh: bool) -> Manifest:
    """Bring the index up to the store, wherever it is."""
    from assay.index.writer import update

    with ExitStack() as stack:
        encoders = cached_encoders(workspace, stack, progress)
        if workspace.cluster is None:
            return update(
                workspace.index_folder,
                workspace.store,
                encoders,
                fresh=fresh,
                progress=progress,
                graph_from_rows=workspace.config.graph_from,
            )
        from assay.index.lock import write_lock
        from assay.index.manifest import Manifest, Part

        cluster, dense = workspace.cluster, workspace.dense_encoder
        stack.enter_context(write_lock(workspace.index_folder))
        size = 0 if dense is None else dense.dimension
        now = cluster.update(workspace.store, encoders, size, fresh=fresh, progress=progress)
        whole = Part(now.index, cluster.count(now.index), {})
        return Manifest(now.generation, now.applied, segments=(whole,), models=now.models)


def index_info(workspace: Workspace) -> dict[str, Any]:
    """The index card: what is in it, how fresh it is, which models made it."""
    workspace.require()
    generation, applied, card = _card(workspace)
    return {
        "home": str(workspace.home),
        "generation": generation,
        "changes_behind": workspace.store.last_change() - applied,
        **workspace.store.counts(),
        **card,
    }


def changes_behind(workspace: Workspace) -> int:
    """How many changes of the documents the index does not have yet."""
    if workspace.cluster is not None:
        applied = workspace.cluster.current().applied
    else:
        from assay.index.manifest import load

        applied = load(workspace.index_folder).applied
    return workspace.store.last_change() - applied


def _card(workspace: Workspace) -> tuple[int, int, dict[str, Any]]:
    """The generation, the last change that is in it, and what else the index says of itself."""
    if workspace.cluster is not None:
        current = workspace.cluster.current()
        return current.generation, current.applied, workspace.cluster.card(current)
    from assay.index import check
    from assay.index.manifest import load

    manifest = load(workspace.index_folder)
    card = check.card(workspace.index_folder, manifest)
    return manifest.generation, manifest.applied, card


def check_index(workspace: Workspace) -> list[str]:
    """What is wrong with the index; nothing where the list is empty."""
    workspace.require()
    chunks = workspace.store.counts()["chunks"]
    if workspace.cluster is not None:
        return workspace.cluster.problems(chunks, workspace.store)
    from assay.index import check

    return check.problems(workspace.index_folder, chunks, workspace.store)


def _batches(
    documents: Iterable[tuple[Document, tuple[Chunk, ...]]], size: int
) -> Iterator[list[tuple[Document, tuple[Chunk, ...]]]]:
    waiting = iter(documents)
    while batch := list(islice(waiting, size)):
        yield batch
