"""Which passages go before the annotators?

Every component, their fusion, and stored runs that asked the same question give their best results.
A pool that lacks a component would be unfair to it, so one that does not answer is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.annotation.draw import DEFAULT_SEED
from assay.annotation.pool import (
    DEFAULT_DEPTH,
    Lists,
    check_depth,
    holes,
    judged_share,
    pooled,
)
from assay.annotation.similar import words_of
from assay.app.engine import Progress
from assay.app.workspace import Workspace
from assay.errors import InputError, SearchUnavailableError
from assay.evaluation.stored_run import StoredRun
from assay.model.annotation import Item, Purpose, Round, RoundQuery
from assay.model.document import Chunk, SpeakerRole
from assay.model.moments import now
from assay.model.query import Filters
from assay.model.run_store import RunFilter
from assay.model.runs import RunStatus
from assay.model.testset import GoldenQuery, SpeakerFilter, TestSet

PATIENCE_MS = 60_000.0
POOLED_RUNS = 10
HYBRID = "hybrid"


@dataclass(frozen=True, slots=True)
class Pool:
    """What is to be judged, and by which lists it was found."""

    items: tuple[Item, ...]
    lists: tuple[str, ...]
    depth: int
    judged: Mapping[str, float | None]


def pool_queries(
    workspace: Workspace,
    queries: Sequence[RoundQuery],
    *,
    depth: int = DEFAULT_DEPTH,
    runs: int = POOLED_RUNS,
    progress: Progress | None = None,
) -> Pool:
    """The pool of new queries."""
    golden = [GoldenQuery(one.query_id, one.query_text, one.query_type) for one in queries]
    return _pool(workspace, golden, depth, _newest(workspace, runs), progress)


def pool_holes(
    workspace: Workspace,
    test_set: TestSet,
    *,
    depth: int = DEFAULT_DEPTH,
    runs: int = POOLED_RUNS,
    progress: Progress | None = None,
) -> Pool:
    """What searches bring up for the evaluation queries of a set and nobody has judged."""
    queries = [query for query in test_set.evaluation_queries if query.relevant_docs]
    if not queries:
        raise InputError(f"no query of {test_set.name} has a judgment")
    return _pool(workspace, queries, depth, _newest(workspace, runs), progress)


def open_round(
    workspace: Workspace,
    test_set: TestSet,
    queries: Sequence[RoundQuery],
    pool: Pool,
    *,
    round_id: str,
    annotators: tuple[str, str],
    purpose: Purpose = Purpose.REFRESH,
    seed: int = DEFAULT_SEED,
    source: Mapping[str, Any] | None = None,
) -> Round:
    """Enter a round for two annotators; queries without any pooled passage are left out."""
    found = {item.query_id for item in pool.items}
    held = Round(
        round_id=round_id,
        purpose=purpose,
        test_set=test_set.name,
        version=test_set.version,
        checksum=test_set.checksum,
        annotators=annotators,
        seed=seed,
        created_at=now(),
        source={**(source or {}), "pool": list(pool.lists), "depth": pool.depth},
    )
    asked = [query for query in queries if query.query_id in found]
    return workspace.annotations.create(held, asked, pool.items)


def hole_queries(test_set: TestSet) -> tuple[RoundQuery, ...]:
    """The queries of a set as those of a round."""
    return tuple(
        RoundQuery(query.query_id, query.query_text, query.query_type) for query in test_set.queries
    )


def _pool(
    workspace: Workspace,
    queries: Sequence[GoldenQuery],
    depth: int,
    runs: Sequence[StoredRun],
    progress: Progress | None,
) -> Pool:
    check_depth(depth)
    workspace.searcher.refresh()
    items: list[Item] = []
    every: list[Lists] = []
    for at, query in enumerate(queries, 1):
        lists, chunks = _searched(workspace, query, depth)
        earlier, more = _from_runs(workspace, query, runs, depth)
        chunks = {**more, **chunks}
        lists = {**earlier, **lists}
        every.append(Lists(query.query_id, lists))
        wanted = holes(query, lists, depth) if query.relevant_docs else pooled(lists, depth)
        items += [_item(query.query_id, chunks[name], ranks) for name, ranks in wanted.items()]
        if progress is not None:
            progress("pool", at, len(queries))
    names = tuple(sorted({name for one in every for name in one.lists}))
    return Pool(tuple(items), names, depth, judged_share(queries, every))


def _searched(
    workspace: Workspace, query: GoldenQuery, depth: int
) -> tuple[dict[str, list[str]], dict[str, Chunk]]:
    """The lists of the components and of their fusion, with the chunks behind them."""
    prepared = workspace.searcher.prepare(
        query.query_text,
        k=depth,
        depth=max(depth, workspace.searcher.defaults.depth),
        rerank=False,
        filters=_filters(query),
        component_timeout_ms=PATIENCE_MS,
    )
    if prepared.answers.failures:
        reasons = "; ".join(prepared.answers.reasons.values())
        raise SearchUnavailableError(
            f"{', '.join(prepared.answers.errors)}: a pool without it would be unfair: {reasons}",
            hint="assay doctor says what is missing; the setting components leaves one out",
        )
    best = {name: hits[:depth] for name, hits in prepared.answers.lists.items()}
    lists = {name: [hit.chunk_id for hit in hits] for name, hits in best.items()}
    fused = prepared.fuse_again(k=depth).results
    lists[HYBRID] = [hit.chunk.chunk_id for hit in fused]
    keys = {hit.key for hits in best.values() for hit in hits}
    chunks = {one.chunk_id: one for one in prepared.chunks(sorted(keys)).values()}
    return lists, {**chunks, **{hit.chunk.chunk_id: hit.chunk for hit in fused}}


def _from_runs(
    workspace: Workspace, query: GoldenQuery, runs: Iterable[StoredRun], depth: int
) -> tuple[dict[str, list[str]], dict[str, Chunk]]:
    """What stored runs found for the same question, as far as those chunks are still there."""
    lists: dict[str, list[str]] = {}
    chunks: dict[str, Chunk] = {}
    words = words_of(query.query_text)
    for run in runs:
        same = next((one for one in run.queries if words_of(one.query_text) == words), None)
        if same is None:
            continue
        present = []
        for result in run.by_query[same.query_id].results[:depth]:
            chunk = _present(workspace, result.chunk_id, result.chunker_version)
            if chunk is not None:
                present.append(chunk.chunk_id)
                chunks[chunk.chunk_id] = chunk
        lists[f"run {run.name}"] = present
    return lists, chunks


def _present(workspace: Workspace, chunk_id: str, version: str) -> Chunk | None:
    """The chunk of this id, if it is still the one that the run found."""
    found = [row.chunk for row in workspace.store.find(chunk_id) if row.chunk.chunk_id == chunk_id]
    if not found or (version and found[0].chunker_version != version):
        return None
    return found[0]


def _newest(workspace: Workspace, count: int) -> list[StoredRun]:
    if not count:
        return []
    page = workspace.runs.runs(RunFilter(status=RunStatus.COMPLETE), limit=count)
    return [workspace.stored_run(info.run_id) for info in page.runs]


def _filters(query: GoldenQuery) -> Filters:
    everyone = query.speaker_filter is SpeakerFilter.ALL
    return Filters(
        speaker_role=() if everyone else (SpeakerRole(query.speaker_filter.value),),
        ingestion_mode=() if query.ingestion_mode is None else (query.ingestion_mode,),
    )


def _item(query_id: str, chunk: Chunk, ranks: Mapping[str, int]) -> Item:
    return Item(
        query_id=query_id,
        chunk_id=chunk.chunk_id,
        doc_id=chunk.doc_id,
        text=chunk.text,
        title=chunk.title,
        section_label=chunk.section_label,
        table_html=chunk.table_html,
        spans=chunk.spans,
        chunker_version=chunk.chunker_version,
        found_by=dict(ranks),
    )
