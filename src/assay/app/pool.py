"""What should people judge next: which queries, and which passages for each of them?

Queries are drawn from what people really asked. For each, every component, their fusion, and stored
runs that asked the same question give their best results. A pool that lacks a component would be
unfair to it, so one that does not answer is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay import limits
from assay.annotation.candidates import QueryCandidate, gathered, read_candidates
from assay.annotation.draw import DEFAULT_SEED, Sample, Strategy, draw
from assay.annotation.pool import (
    DEFAULT_DEPTH,
    Lists,
    check_depth,
    holes,
    judged_share,
    pooled,
)
from assay.annotation.sample_file import read_sample, sample_lines, sample_row
from assay.annotation.similar import Encode, words_of
from assay.annotation.standing import HYBRID
from assay.app import testsets
from assay.app.annotation import read_limited
from assay.app.engine import Progress, silent
from assay.app.workspace import Workspace
from assay.errors import InputError, SearchUnavailableError, UsageError
from assay.evaluation.scores import rounded
from assay.evaluation.stored_run import StoredRun
from assay.model.annotation import Item, Purpose, Round, RoundQuery, check_people
from assay.model.arrays import FloatArray
from assay.model.document import Chunk, SpeakerRole, check_id
from assay.model.moments import now
from assay.model.query import Filters
from assay.model.run_store import RunFilter
from assay.model.runs import RunStatus
from assay.model.testset import GoldenQuery, SpeakerFilter, TestSet
from assay.search.query_type import classify
from assay.store.query_log import QueryLog
from assay.testsets.save import write_text

DEFAULT_COUNT = 30  # twenty to replace, and half as many to spare: some have no relevant passage
PATIENCE_MS = 60_000.0
POOLED_RUNS = 10


# Which queries


def sample(
    workspace: Workspace,
    test_set: TestSet,
    *,
    source: Path | Sequence[str] | None = None,
    strategy: str = Strategy.RANDOM,
    count: int = DEFAULT_COUNT,
    seed: int = DEFAULT_SEED,
    since: str = "",
    dense: bool = True,
    output: Path | None = None,
) -> Sample:
    """Draw queries from the log of this workspace, or from a file; or take all of a list.

    ``dense`` compares meanings too, where the workspace has a model for it. ``output`` is a file
    of JSON lines to write, for a person to look through.
    """
    if strategy not in list(Strategy):
        raise UsageError(f"there is no strategy {strategy!r:.40}", hint=", ".join(Strategy))
    typed = source is not None and not isinstance(source, Path)
    candidates = _candidates(workspace, source, since)
    drawn = draw(
        candidates,
        test_set,
        classify,
        count=count,
        strategy=Strategy(strategy),
        seed=seed,
        encode=_encode(workspace) if dense else None,
        taken=ids_in_rounds(workspace),
        every=typed,
    )
    if output is not None:
        write_text(output, sample_lines(drawn))
    return drawn


def _candidates(
    workspace: Workspace, source: Path | Sequence[str] | None, since: str
) -> tuple[QueryCandidate, ...]:
    if source is None:
        return logged(workspace, since)
    if isinstance(source, Path):
        return read_candidates(source)
    return gathered(QueryCandidate(text) for text in source)


def logged(workspace: Workspace, since: str) -> tuple[QueryCandidate, ...]:
    """What was searched for, without what a degraded search answered."""
    workspace.require()
    log = QueryLog(workspace.layout.database)
    try:
        rows = log.wordings(since=since, limit=limits.MAX_CANDIDATES, degraded=False)
    finally:
        log.close()
    return gathered(
        QueryCandidate(row.query, row.times, row.zero_results, row.mean_top_score) for row in rows
    )


def ids_in_rounds(workspace: Workspace) -> list[str]:
    """The ids that open and past rounds use; a new query gets none of them."""
    if not workspace.exists():
        return []
    store = workspace.annotations
    return [query.query_id for about in store.rounds() for query in store.queries(about.round_id)]


def _encode(workspace: Workspace) -> Encode | None:
    encoder = workspace.dense_encoder
    if encoder is None:
        return None

    def encode(texts: list[str]) -> FloatArray:
        return encoder.encode(texts, "query").astype("float64")

    return encode


# Which passages


@dataclass(frozen=True, slots=True)
class PassagePool:
    """What is to be judged, which lists brought it, and the round that was opened for it.

    ``judged`` is the share of each list's first ten results that has a judgment already,
    ``absent`` how many results of another engine are not in the corpus, or the same chunk twice.
    """

    items: tuple[Item, ...]
    lists: tuple[str, ...]
    depth: int
    judged: Mapping[str, float | None]
    round: Round | None = None
    absent: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without the texts."""
        return {
            "round_id": self.round and self.round.round_id,
            "annotators": self.round and list(self.round.annotators),
            "depth": self.depth,
            "lists": list(self.lists),
            "passages": len(self.items),
            "judged_at_10": {name: rounded(value) for name, value in self.judged.items()},
            "absent": dict(self.absent),
            "items": [
                {
                    "query_id": item.query_id,
                    "chunk_id": item.chunk_id,
                    "found_by": dict(item.found_by),
                }
                for item in self.items
            ],
        }


def pool(
    workspace: Workspace,
    test_set: TestSet,
    drawn: Path | Sequence[RoundQuery] | None = None,
    *,
    annotators: tuple[str, str] | None = None,
    round_id: str | None = None,
    depth: int = DEFAULT_DEPTH,
    runs: int = POOLED_RUNS,
    seed: int = DEFAULT_SEED,
    progress: Progress = silent,
) -> PassagePool:
    """Gather the passages to judge, and open a round where two people are named.

    ``drawn`` is a sample or the file of one; without it, what searches bring up for the evaluation
    queries of the set and nobody has judged. ``runs`` is how many stored runs are pooled, too.
    """
    if drawn is None:
        queries = _round_queries(test_set)
        golden = [query for query in test_set.evaluation_queries if query.relevant_docs]
        if not golden:
            raise InputError(f"no query of {test_set.name} has a judgment")
    else:
        queries = _drawn(drawn)
        golden = [GoldenQuery(one.query_id, one.query_text, one.query_type) for one in queries]
    made = gather(workspace, golden, depth, newest_runs(workspace, runs), progress=progress)
    if annotators is None:
        return made
    opened = Round(
        round_id=round_id or f"{test_set.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}",
        purpose=Purpose.HOLES if drawn is None else Purpose.REFRESH,
        test_set=test_set.name,
        version=test_set.version,
        checksum=test_set.checksum,
        annotators=annotators,
        seed=seed,
        created_at=now(),
        source={**_source(drawn, queries), "pool": list(made.lists), "depth": depth},
    )
    return replace(made, round=open_round(workspace, opened, queries, made))


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRequest:
    """A round to open over a test set; without queries, over results that nobody has judged."""

    test_set: str
    annotators: tuple[str, str]
    queries: tuple[RoundQuery, ...] | None = None
    round_id: str | None = None
    depth: int = DEFAULT_DEPTH
    runs: int = POOLED_RUNS
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        check_people(self.annotators, Purpose.REFRESH)
        check_depth(self.depth)
        if self.round_id is not None:
            check_id(self.round_id, "round")


def pool_requested(
    workspace: Workspace, asked: RoundRequest, progress: Progress = silent
) -> PassagePool:
    """Open the round that was asked for."""
    return pool(
        workspace,
        testsets.load(workspace.layout, asked.test_set),
        asked.queries,
        annotators=asked.annotators,
        round_id=asked.round_id,
        depth=asked.depth,
        runs=asked.runs,
        seed=asked.seed,
        progress=progress,
    )


def round_queries(sample: Sample) -> tuple[RoundQuery, ...]:
    """A sample as the queries of a round."""
    return tuple(
        RoundQuery(one.query_id, one.query_text, one.query_type, sample_row(one, sample)["origin"])
        for one in sample.queries
    )


def open_round(
    workspace: Workspace, opened: Round, queries: Sequence[RoundQuery], made: PassagePool
) -> Round:
    """Enter the round; queries without any pooled passage are left out."""
    answered = {item.query_id for item in made.items}
    kept = [query for query in queries if query.query_id in answered]
    return workspace.annotations.create(opened, kept, made.items)


def _round_queries(test_set: TestSet) -> tuple[RoundQuery, ...]:
    return tuple(
        RoundQuery(query.query_id, query.query_text, query.query_type) for query in test_set.queries
    )


def _drawn(given: Path | Sequence[RoundQuery]) -> tuple[RoundQuery, ...]:
    if isinstance(given, Path):
        return read_sample(read_limited(given), str(given))
    if not given:
        raise InputError("no question is chosen", hint="choose at least one, or draw others")
    return tuple(given)


def _source(
    given: Path | Sequence[RoundQuery] | None, queries: Sequence[RoundQuery]
) -> dict[str, Any]:
    """Where the queries of a round come from, and how they were drawn."""
    if given is None:
        return {}
    origin = queries[0].origin
    drawn = {name: origin[name] for name in ("strategy", "seed") if name in origin}
    return {"queries": given.name if isinstance(given, Path) else "given", **drawn}


def gather(
    workspace: Workspace,
    queries: Sequence[GoldenQuery],
    depth: int,
    runs: Sequence[StoredRun] = (),
    *,
    others: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    progress: Progress = silent,
) -> PassagePool:
    """What is to be judged for these queries.

    ``others`` are runs of other engines by name: for each query the ids of chunks or documents.
    """
    check_depth(depth)
    workspace.searcher.refresh()
    items: list[Item] = []
    every: list[Lists] = []
    absent = dict.fromkeys(others or {}, 0)
    for number, query in enumerate(queries, 1):
        lists, chunks = _searched(workspace, query, depth)
        earlier, more = _from_runs(workspace, query, runs, depth)
        chunks = {**more, **chunks}
        lists = {**earlier, **lists}
        for name, run in (others or {}).items():
            brought = _from_another(workspace, run.get(query.query_id, ()), lists, depth)
            chunks = {**brought, **chunks}
            lists[engine_list(name)] = list(brought)
            absent[name] += len(list(run.get(query.query_id, ()))[:depth]) - len(brought)
        every.append(Lists(query.query_id, lists))
        wanted = holes(query, lists, depth) if query.relevant_docs else pooled(lists, depth)
        items += [_item(query.query_id, chunks[name], ranks) for name, ranks in wanted.items()]
        progress("pool", number, len(queries))
    names = tuple(sorted({name for brought in every for name in brought.lists}))
    lacking = {name: count for name, count in absent.items() if count}
    return PassagePool(tuple(items), names, depth, judged_share(queries, every), absent=lacking)


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
            hint="assay doctor says what is missing; the setting components can leave one out",
        )
    best = {name: hits[:depth] for name, hits in prepared.answers.lists.items()}
    lists = {name: [hit.chunk_id for hit in hits] for name, hits in best.items()}
    fused = prepared.fuse_again(k=depth).results
    lists[HYBRID] = [hit.chunk.chunk_id for hit in fused]
    keys = {hit.key for hits in best.values() for hit in hits}
    chunks = {one.chunk_id: one for one in prepared.index.chunks(sorted(keys)).values()}
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
        for result in run.outcome(same.query_id).results[:depth]:
            chunk = _present(workspace, result.chunk_id, result.chunker_version)
            if chunk is not None:
                present.append(chunk.chunk_id)
                chunks[chunk.chunk_id] = chunk
        lists[f"run {run.name}"] = present
    return lists, chunks


def engine_list(name: str) -> str:
    """What the list of another engine is called, apart from ours."""
    return f"engine {name}"


def _from_another(
    workspace: Workspace, ids: Sequence[str], lists: Mapping[str, Sequence[str]], depth: int
) -> dict[str, Chunk]:
    """The chunks that another engine means, best first.

    Where it names a document, the chunk of it that a list of ours has highest, else its first.
    """
    places: dict[str, int] = {}
    for found in lists.values():
        for rank, chunk_id in enumerate(found):
            places[chunk_id] = min(rank, places.get(chunk_id, rank))
    chunks: dict[str, Chunk] = {}
    for name in list(ids)[:depth]:
        rows = [row.chunk for row in workspace.store.find(name)]
        own = [chunk for chunk in rows if chunk.chunk_id == name] or rows
        if own:
            best = min(own, key=lambda chunk: places.get(chunk.chunk_id, len(places) + depth))
            chunks.setdefault(best.chunk_id, best)
    return chunks


def _present(workspace: Workspace, chunk_id: str, version: str) -> Chunk | None:
    """The chunk of this id, if it is still the one that the run found."""
    found = [row.chunk for row in workspace.store.find(chunk_id) if row.chunk.chunk_id == chunk_id]
    if not found or (version and found[0].chunker_version != version):
        return None
    return found[0]


def newest_runs(workspace: Workspace, count: int) -> list[StoredRun]:
    """The newest complete runs, with their results."""
    if not count:
        return []
    page = workspace.runs.runs(RunFilter(status=RunStatus.COMPLETE), limit=count)
    kept = (info.run_id for info in page.runs if not info.figures_only)
    return [workspace.stored_run(run_id) for run_id in kept]


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
