"""What does one project have: which stores, models, index, search and answers?"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.app import encoders as encoding
from assay.app import engine as searching
from assay.app import index as indexing
from assay.app import systems as evaluating
from assay.app.encoders import Progress
from assay.app.index import silent
from assay.config import Configuration, configure
from assay.errors import MissingFileError
from assay.model.run_store import RunStore

if TYPE_CHECKING:
    from assay.evaluation.match import LookUp
    from assay.evaluation.stored_run import StoredRun
    from assay.index.manifest import Manifest
    from assay.index.reader import Generation
    from assay.model.answers import Answer, Answerer
    from assay.model.document import Chunk, ChunkPlace, Document
    from assay.model.query import Component
    from assay.model.runs import RunInfo
    from assay.model.system import System
    from assay.model.testset import TestSet
    from assay.model.vectors import DenseEncoder, SparseEncoder
    from assay.opensearch.cluster import Cluster
    from assay.search.options import SearchOptions
    from assay.search.response import SearchResponse
    from assay.search.searcher import Searcher
    from assay.search.snapshot import Snapshot
    from assay.store.annotations import AnnotationStore
    from assay.store.corpus import CorpusStore, Written

SQLITE = "sqlite"


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

    # What is stored

    @cached_property
    def store(self) -> CorpusStore:
        """Documents and chunks."""
        from assay.store.corpus import CorpusStore

        store = CorpusStore(self.database)
        self._stack.callback(store.close)
        return store

    @cached_property
    def runs(self) -> RunStore:
        """Evaluations."""
        from assay.store.runs import SqlRunStore

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

    def archived(self, chunk_ids: Iterable[str], versions: frozenset[str]) -> dict[str, ChunkPlace]:
        """Where chunks of these chunkers stood, also those that have been replaced since."""
        return self.store.places.as_cut(chunk_ids, versions)

    def places_of(self, info: RunInfo) -> LookUp:
        """Tells where chunks stood in the index that a run was made with."""
        versions = frozenset(info.chunker_versions)
        return lambda chunk_ids: self.archived(chunk_ids, versions) if versions else {}

    def present(self, ids: Collection[str]) -> frozenset[str]:
        """Which of these chunks and documents are in the corpus."""
        return self.store.places.present(ids)

    # Models, documents and the index

    @cached_property
    def dense_encoder(self) -> DenseEncoder | None:
        """The dense model, or None where the configuration wants none."""
        return encoding.dense_encoder(self.config)

    @cached_property
    def sparse_encoder(self) -> SparseEncoder | None:
        """The SPLADE model, or None where the configuration wants none."""
        return encoding.sparse_encoder(self.config)

    def open_encoders(self) -> None:
        """Load the models now, so that one that is missing is known at once."""
        _ = self.dense_encoder, self.sparse_encoder

    @cached_property
    def cluster(self) -> Cluster | None:
        """The OpenSearch cluster that holds the index; None where the workspace does."""
        if self.config.engine != "opensearch":
            return None
        return indexing.open_cluster(self.config, self._stack)

    def ingest(
        self,
        documents: Iterable[tuple[Document, tuple[Chunk, ...]]],
        progress: Progress = silent,
    ) -> Written:
        """Store documents in batches; each batch is durable when the next one begins."""
        return indexing.ingest(self.store, documents, progress)

    def update_index(self, progress: Progress = silent, *, fresh: bool = False) -> Manifest:
        """Bring the index up to the store, encoding only texts that no model has seen."""
        return indexing.update_index(self, progress, fresh=fresh)

    def index_info(self) -> dict[str, Any]:
        """The index card: what is in it, how fresh it is, which models made it."""
        return indexing.index_info(self)

    def changes_behind(self) -> int:
        """How many changes of the documents the index does not have yet."""
        return indexing.changes_behind(self)

    def check_index(self) -> list[str]:
        """What is wrong with the index; nothing where the list is empty."""
        return indexing.check_index(self)

    def generation(self) -> Generation:
        """The current generation of the index, opened."""
        return indexing.generation(self)

    # Search and answers

    def components(self, generation: Generation) -> dict[str, Component]:
        """The components that this index and configuration have, by name."""
        return searching.components(self, generation)

    def snapshot(self) -> Snapshot:
        """The newest generation with its components, and why others are absent."""
        return searching.snapshot(self)

    @cached_property
    def searcher(self) -> Searcher:
        """Search over this workspace; it lives as long as the workspace is open."""
        searcher = searching.open_searcher(self)
        self._stack.callback(searcher.close)
        return searcher

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
        return evaluating.open_answerer(self.config)

    def answer(
        self, question: str, options: SearchOptions | None = None, **changes: Any
    ) -> tuple[Answer, SearchResponse]:
        """What the corpus says to a question, and the search that the answer rests on."""
        from assay.search.passages import passages_of

        response = self.search(question, options, **changes)
        return self.answerer.answer(question, passages_of(response)), response

    # What is evaluated

    def system(self, *, answers: bool = False, **changes: Any) -> System:
        """The search of this workspace as something to evaluate; ``changes`` replace options."""
        return evaluating.system(self, answers=answers, **changes)

    def system_of(self, config: Mapping[str, Any]) -> System:
        """The same under the configuration that a stored run was made with."""
        return evaluating.system_of(self, config)


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
