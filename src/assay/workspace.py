"""Where do corpus, models and index of one project live, and who wires them together?

A workspace is a folder: ``assay.db`` is the truth, ``index/`` is derived from it and can be
rebuilt, ``vectors/`` keeps what models made of texts so that nothing is encoded twice. This is the
only place that builds stores, encoders and indexes from configuration.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.config import Configuration, configure
from assay.errors import AssayError, EngineError, MissingFileError
from assay.index import check as checks
from assay.index.lock import write_lock
from assay.index.manifest import Manifest, Part, load
from assay.index.reader import Generation, open_generation
from assay.index.writer import Encoders, update
from assay.model.query import Component
from assay.model.run_store import RunStore
from assay.store.corpus import CorpusStore, Written
from assay.store.runs import SqlRunStore

if TYPE_CHECKING:
    from assay.engines.opensearch.cluster import Cluster
    from assay.evaluation.matching import Place
    from assay.evaluation.stored_run import StoredRun
    from assay.model.answers import Answer, Answerer
    from assay.model.document import Chunk, Document, KeyedChunk
    from assay.model.system import System
    from assay.model.testset import TestSet
    from assay.model.vectors import DenseEncoder, Reranker, SparseEncoder
    from assay.search.options import SearchOptions
    from assay.search.response import SearchResponse
    from assay.search.searcher import Searcher
    from assay.search.snapshot import Snapshot
    from assay.store.annotations import AnnotationStore

BATCH_DOCUMENTS = 200
NO_MODEL = "none"
SQLITE = "sqlite"
COMPONENTS = ("bm25", "splade", "dense")

Progress: TypeAlias = Callable[[str, int, int], None]  # stage, done, in all (0: not known)


def _silent(stage: str, done: int, total: int) -> None:
    """Nobody is looking."""


@dataclass(frozen=True)
class Workspace:
    """One project's folder, opened."""

    config: Configuration
    _stack: ExitStack = field(default_factory=ExitStack, repr=False, compare=False)
    _test_sets: dict[str, TestSet] = field(default_factory=dict, repr=False, compare=False)

    @property
    def home(self) -> Path:
        """The workspace folder."""
        return self.config.home

    @property
    def index_folder(self) -> Path:
        """Where the index lives."""
        return self.home / "index"

    @property
    def database(self) -> Path | str:
        """The file or the URL of the database."""
        named = self.config.database
        return self.home / "assay.db" if named == SQLITE else named

    @cached_property
    def store(self) -> CorpusStore:
        """Documents and chunks."""
        store = CorpusStore(self.database)
        self._stack.callback(store.close)
        return store

    @cached_property
    def runs(self) -> RunStore:
        """Evaluations."""
        runs = SqlRunStore(self.database)
        self._stack.callback(runs.close)
        return runs

    @cached_property
    def annotations(self) -> AnnotationStore:
        """Rounds of judging."""
        from assay.store.annotations import AnnotationStore

        annotations = AnnotationStore(self.database)
        self._stack.callback(annotations.close)
        return annotations

    def stored_run(self, ref: str, *, stages: bool = False, depth: int | None = None) -> StoredRun:
        """A run with its test set and the first ``depth`` results of each query."""
        from assay.evaluation.stored_run import read_run

        return read_run(self.runs, ref, self._test_sets, stages=stages, depth=depth)

    def archived(self, chunk_ids: Iterable[str], versions: frozenset[str]) -> dict[str, Place]:
        """Where chunks of these chunkers stood, also those that have been replaced since."""
        return self.store.places.as_cut(chunk_ids, versions)

    def exists(self) -> bool:
        """Whether anything was ever stored here; of a server we think so."""
        place = self.database
        return isinstance(place, str) or place.exists()

    def require(self) -> None:
        """Refuse, with what to do, where there is no workspace."""
        if not self.exists():
            raise MissingFileError(
                f"there is no workspace at {self.home}",
                hint="assay ingest PATH makes one; --home or ASSAY_HOME names another",
            )

    def close(self) -> None:
        """Let go of every file."""
        self._stack.close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    @cached_property
    def dense_encoder(self) -> DenseEncoder | None:
        """The dense model, or None where the configuration wants none."""
        from assay.encode.encoders import open_dense
        from assay.encode.shelf import shelf_of

        name, threads = self.config.dense_model, self.config.threads
        return (
            None if name == NO_MODEL else open_dense(name, shelf_of(self.config), threads=threads)
        )

    @cached_property
    def sparse_encoder(self) -> SparseEncoder | None:
        """The SPLADE model, or None where the configuration wants none."""
        from assay.encode.encoders import open_sparse
        from assay.encode.shelf import shelf_of

        name, threads = self.config.splade_model, self.config.threads
        return (
            None if name == NO_MODEL else open_sparse(name, shelf_of(self.config), threads=threads)
        )

    def open_encoders(self) -> None:
        """Load the models now, so that one that is missing is known at once."""
        _ = self.dense_encoder, self.sparse_encoder

    def ingest(
        self,
        documents: Iterable[tuple[Document, tuple[Chunk, ...]]],
        progress: Progress = _silent,
    ) -> Written:
        """Store documents in batches; each batch is durable when the next one begins."""
        total = Written()
        seen = 0
        for batch in _batches(documents, BATCH_DOCUMENTS):
            total += self.store.put(batch)
            seen += len(batch)
            progress("read", seen, 0)
        return total

    @cached_property
    def cluster(self) -> Cluster | None:
        """The OpenSearch cluster that holds the index; None where the workspace does."""
        if self.config.engine != "opensearch":
            return None
        from assay.engines.opensearch.cluster import Cluster, Shape
        from assay.engines.opensearch.transport import Transport

        config = self.config
        transport = Transport(config.opensearch_url)
        self._stack.callback(transport.close)
        shape = Shape(
            config.opensearch_prefix,
            config.opensearch_shards,
            config.opensearch_replicas,
            config.opensearch_refresh,
        )
        return Cluster(transport, shape)

    def update_index(self, progress: Progress = _silent, *, fresh: bool = False) -> Manifest:
        """Bring the index up to the store, encoding only texts that no model has seen."""
        with ExitStack() as stack:
            encoders = self._encoders(stack, progress)
            if self.cluster is not None:
                stack.enter_context(write_lock(self.index_folder))
                size = 0 if self.dense_encoder is None else self.dense_encoder.dimension
                now = self.cluster.update(
                    self.store, encoders, size, fresh=fresh, progress=progress
                )
                whole = Part(now.index, self.cluster.count(now.index), {})
                return Manifest(now.generation, now.applied, segments=(whole,), models=now.models)
            return update(
                self.index_folder,
                self.store,
                encoders,
                fresh=fresh,
                progress=progress,
                graph_from_rows=self.config.graph_from,
            )

    def _encoders(self, stack: ExitStack, progress: Progress) -> Encoders:
        from assay.encode.cache import VectorCache
        from assay.encode.corpus import EncodeProgress, encode_dense, encode_sparse

        def told(stage: str) -> Callable[[EncodeProgress], None]:
            return lambda state: progress(stage, state.done, state.total)

        def cache(model: str) -> VectorCache:
            return stack.enter_context(VectorCache(self.home / "vectors", model))

        dense, sparse = self.dense_encoder, self.sparse_encoder
        parts: dict[str, Any] = {}
        if dense is not None:
            held = cache(dense.model_id)
            parts |= {
                "dense": lambda texts: encode_dense(dense, texts, held, progress=told("dense")),
                "dense_model": dense.model_id,
            }
        if sparse is not None:
            kept = cache(sparse.model_id)
            parts |= {
                "sparse": lambda texts: encode_sparse(sparse, texts, kept, progress=told("splade")),
                "sparse_model": sparse.model_id,
                "vocabulary": sparse.vocabulary,
            }
        return Encoders(**parts)

    def generation(self) -> Generation:
        """The current generation of the index, opened."""
        self.require()
        return open_generation(self.index_folder)

    def components(self, generation: Generation) -> dict[str, Component]:
        """The components that this index and configuration have, by name."""
        wanted = ["bm25", *(name for name in COMPONENTS if name in generation.manifest.models)]
        every = {name: self._component(name, generation) for name in wanted}
        return {name: component for name, component in every.items() if component is not None}

    @cached_property
    def searcher(self) -> Searcher:
        """Search over this workspace; it lives as long as the workspace is open."""
        from assay.encode.catalog import requires_gpu
        from assay.search.boost import load_lexicon
        from assay.search.options import configured
        from assay.search.rerank import Rerankers
        from assay.search.searcher import Searcher, Source
        from assay.search.synonyms import read_synonyms

        self.require()
        lexicon, synonyms = self.config.lexicon, self.config.synonyms
        searcher = Searcher(
            Source(self._generation_name, self.snapshot),
            Rerankers(self._open_reranker, requires_gpu),
            defaults=configured(self.config),
            lexicon=load_lexicon(lexicon) if isinstance(lexicon, Path) else None,
            synonyms=read_synonyms(synonyms) if isinstance(synonyms, Path) else None,
        )
        self._stack.callback(searcher.close)
        return searcher

    def _generation_name(self) -> str:
        if self.cluster is not None:
            return self.cluster.current().name
        return str(load(self.index_folder).generation)

    def _models(self) -> Mapping[str, str]:
        """The models that made the index, by component."""
        if self.cluster is not None:
            return self.cluster.current().models
        return load(self.index_folder).models

    def snapshot(self) -> Snapshot:
        """The newest generation with its components, and why others are absent."""
        from assay.search.snapshot import Snapshot

        if self.cluster is not None:
            return self._cluster_snapshot(self.cluster)
        generation = self.generation()
        found, absent = self._present(lambda name: self._component(name, generation))

        def find(name: str) -> list[KeyedChunk]:
            return [row for row in self.store.find(name) if row.key in generation.chunk_ids]

        return Snapshot(
            generation=str(generation.manifest.generation),
            components=found,
            chunks=self.store.chunks_by_key,
            labels=partial(generation.labels, older=self.store.labels_by_key),
            find=find,
            absent=absent,
            size=len(generation.chunk_ids),
        )

    def _cluster_snapshot(self, cluster: Cluster) -> Snapshot:
        from assay.search.snapshot import Snapshot

        self.require()
        current = cluster.current()
        if not current.generation:
            raise EngineError("there is no index on the cluster yet", hint="assay index update")
        found, absent = self._present(
            lambda name: cluster.component(name, current, self.sparse_encoder, self.dense_encoder)
        )

        def find(name: str) -> list[KeyedChunk]:
            rows = self.store.find(name)
            there = cluster.keys(current.index, [row.key for row in rows]) if rows else set()
            return [row for row in rows if row.key in there]

        return Snapshot(
            generation=current.name,
            components=found,
            chunks=self.store.chunks_by_key,
            labels=self.store.labels_by_key,
            find=find,
            absent=absent,
            size=cluster.count(current.index),
        )

    @staticmethod
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

    def _component(self, name: str, generation: Generation) -> Component | None:
        """One component; None where the configuration wants no model for it."""
        if name == "bm25":
            return generation.bm25()
        if name == "splade" and self.sparse_encoder is not None:
            return generation.splade(self.sparse_encoder)
        if name == "dense" and self.dense_encoder is not None:
            return generation.dense(self.dense_encoder)
        return None

    def _open_reranker(self, name: str) -> Reranker:
        from assay.encode.encoders import open_reranker
        from assay.encode.shelf import shelf_of

        return open_reranker(name, shelf_of(self.config), threads=self.config.threads)

    def search(
        self, query: str, options: SearchOptions | None = None, **changes: Any
    ) -> SearchResponse:
        """The best chunks for a query, from the newest generation: see ``SearchOptions``."""
        self.searcher.refresh()
        return self.searcher.search(query, options, **changes)

    async def asearch(
        self, query: str, options: SearchOptions | None = None, **changes: Any
    ) -> SearchResponse:
        """The same from a coroutine; a new generation is opened on the side."""
        searcher = await asyncio.to_thread(lambda: self.searcher)
        return await searcher.asearch(query, options, **changes)

    @cached_property
    def answerer(self) -> Answerer:
        """Who turns results into an answer, as configured."""
        from assay.answers.opening import open_answerer

        config = self.config
        return open_answerer(
            config.answerer,
            dense_model=config.dense_model,
            model=config.answer_model,
            key_variable=config.answer_key_variable,
            seconds=config.answer_seconds,
        )

    def answer(
        self, question: str, options: SearchOptions | None = None, **changes: Any
    ) -> tuple[Answer, SearchResponse]:
        """What the corpus says to a question, and the search that the answer rests on."""
        from assay.search.passages import passages_of

        response = self.search(question, options, **changes)
        return self.answerer.answer(question, passages_of(response)), response

    def system(self, *, answers: bool = False, **changes: Any) -> System:
        """The search of this workspace as something to evaluate; ``changes`` replace options."""
        from assay.search.recorded import evaluation_options

        return self._system(evaluation_options(self.searcher.defaults, **changes), answers)

    def system_of(self, config: Mapping[str, Any]) -> System:
        """The same under the configuration that a stored run was made with."""
        from assay.search.recorded import options_from

        options = options_from(config, self.searcher.defaults)
        return self._system(options, answers="answerer" in config)

    def _system(self, options: SearchOptions, answers: bool) -> System:
        from assay.search.recorded import recorded_system

        return recorded_system(
            self.searcher,
            options,
            self.store.places,
            models=self._models(),
            engine=self.config.engine,
            answerer=self.answerer if answers else None,
        )

    def index_info(self) -> dict[str, Any]:
        """The index card: what is in it, how fresh it is, which models made it."""
        self.require()
        if self.cluster is not None:
            current = self.cluster.current()
            return {
                "home": str(self.home),
                "generation": current.generation,
                "changes_behind": self.store.last_change() - current.applied,
                **self.store.counts(),
                **self.cluster.card(current),
            }
        manifest = load(self.index_folder)
        behind = self.store.last_change() - manifest.applied
        return {
            "home": str(self.home),
            "generation": manifest.generation,
            "changes_behind": behind,
            **self.store.counts(),
            **checks.card(self.index_folder, manifest),
        }

    def check_index(self) -> list[str]:
        """What is wrong with the index; nothing where the list is empty."""
        self.require()
        chunks, last = self.store.counts()["chunks"], self.store.last_change()
        if self.cluster is not None:
            return self.cluster.problems(chunks, last)
        return checks.problems(self.index_folder, chunks, last)


def open_workspace(folder: str | Path | None = None, **settings: Any) -> Workspace:
    """The workspace in a folder; without one, the nearest ``.assay`` upwards.

    Settings come from keyword arguments, ``ASSAY_*`` variables and the ``assay.yaml`` nearest to
    the folder. Close it, or use it in a ``with`` statement.
    """
    if folder is None:
        return Workspace(configure(settings))
    home = Path(folder).expanduser().absolute()
    workspace = Workspace(configure({"home": home, **settings}, folder=home.parent))
    workspace.require()
    return workspace


def _batches(
    documents: Iterable[tuple[Document, tuple[Chunk, ...]]], size: int
) -> Iterator[list[tuple[Document, tuple[Chunk, ...]]]]:
    waiting = iter(documents)
    while batch := list(islice(waiting, size)):
        yield batch
