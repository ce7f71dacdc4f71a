"""What does one project have: stores, models, an index, and what can be done with them?

``Workspace`` opens each part when it is first used and closes them all. Its methods are the verbs
of this package, for Python; ``assay.app`` has them by noun.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from assay import limits
from assay.app import engine
from assay.app.engine import Progress, silent
from assay.app.layout import SQLITE, Layout
from assay.app.verbs import Verbs
from assay.cache import Cache
from assay.errors import MissingFileError
from assay.model.run_store import DeletedRun, RunStore
from assay.settings import Settings, configure

if TYPE_CHECKING:
    from assay.app.annotation import Desk
    from assay.app.answers import Answered
    from assay.app.backup import BackupWritten
    from assay.app.corpus import DocumentPage, DocumentsWritten
    from assay.app.document_uses import DocumentUses
    from assay.app.evaluation import Evaluated, EvaluationProgress
    from assay.app.evaluation_request import EvaluationRequest
    from assay.app.first_set import FinishedSet, NewSetOptions
    from assay.app.index import Action, IndexWritten
    from assay.app.judges import ClaimDesk
    from assay.app.models import ModelRow
    from assay.app.pool import PassagePool
    from assay.app.schedule import ScheduleEntry
    from assay.app.search import Freshness
    from assay.app.suggestions import Suggested
    from assay.app.testsets import Reading, TestSetEntry
    from assay.app.timetable import Timetable
    from assay.app.vectors import CorpusEncoded
    from assay.evaluation.judge_quality import JudgeQuality
    from assay.evaluation.stored_run import StoredRun
    from assay.index.manifest import Manifest
    from assay.index.reader import Generation
    from assay.model.answers import Answerer
    from assay.model.document import Chunk, ChunkPlace, Document, Label, StoredDocument
    from assay.model.judges import GivenJudge, Judge
    from assay.model.query import Component
    from assay.model.runs import RunInfo, Timings
    from assay.model.system import System
    from assay.model.testset import TestSet
    from assay.model.vectors import DenseEncoder, SparseEncoder
    from assay.opensearch.cluster import Cluster
    from assay.search.changes import SearchChanges
    from assay.search.own_components import OwnComponent
    from assay.search.request import SearchOptions
    from assay.search.response import SearchResponse
    from assay.search.searcher import Searcher
    from assay.search.snapshot import Snapshot
    from assay.search.why import Why
    from assay.store.annotations import AnnotationStore
    from assay.store.corpus import CorpusStore, Written
    from assay.store.opinions import SqlOpinionStore


@dataclass(frozen=True)
class Workspace(Verbs):
    """One project's folder, opened."""

    settings: Settings
    _stack: ExitStack = field(default_factory=ExitStack, repr=False, compare=False)
    _test_sets: Cache[str, TestSet] = field(
        default_factory=lambda: Cache(limits.MAX_CACHED_TEST_SETS), repr=False, compare=False
    )

    @property
    def home(self) -> Path:
        """The workspace folder."""
        return self.settings.home

    @property
    def layout(self) -> Layout:
        """Where everything lies."""
        return Layout(self.home)

    @property
    def database(self) -> Path | str:
        """The file or the URL of the database."""
        named = self.settings.database
        return self.layout.database if named == SQLITE else named

    def exists(self) -> bool:
        """Whether anything was ever stored here; a database server is taken to exist."""
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
        """Close every store, index and model."""
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

    @cached_property
    def opinions(self) -> SqlOpinionStore:
        """What judges said of tasks, and people of claims."""
        from assay.store.opinions import SqlOpinionStore

        opinions = SqlOpinionStore(self.database)
        self._stack.callback(opinions.close)
        return opinions

    def stored_run(self, ref: str, *, stages: bool = False, depth: int | None = None) -> StoredRun:
        """A run with its test set and the first ``depth`` results of each query."""
        from assay.evaluation.stored_run import read_run

        return read_run(self.runs, ref, self._test_sets, stages=stages, depth=depth)

    def archived(self, chunk_ids: Iterable[str], versions: frozenset[str]) -> dict[str, ChunkPlace]:
        """Where chunks of these chunkers stood, also those that have been replaced since."""
        return self.store.inventory.as_cut(chunk_ids, versions)

    def sections(self) -> list[str]:
        """The labels of sections that there are."""
        return list(self.store.inventory.sections())

    def present(self, ids: Collection[str]) -> frozenset[str]:
        """Which of these chunks and documents are in the corpus."""
        return self.store.inventory.present(ids)

    def labels(self, ids: Iterable[str]) -> dict[str, Label]:
        """Title and beginning of each of these chunks and documents that is known."""
        return self.store.inventory.labels(ids)

    # Models, documents and the index

    @cached_property
    def opened_models(self) -> engine.OpenModels:
        """The encoders that were opened, by the names of their models."""
        return engine.OpenModels(self.settings, self.layout.machine)

    def encoders(
        self, made: Mapping[str, str] | None = None
    ) -> tuple[DenseEncoder | None, SparseEncoder | None]:
        """The dense and the sparse model, None where the settings want none.

        ``made`` are the models of the index, by default of the present one.
        """
        used = engine.made_by(self) if made is None else made
        dense, sparse = (engine.model_for(self, role, used) for role in engine.SIGNALS)
        return self.opened_models.dense(dense), self.opened_models.sparse(sparse)

    @property
    def dense_encoder(self) -> DenseEncoder | None:
        """The dense model, or None where the settings want none."""
        return self.encoders()[0]

    def open_encoders(self) -> None:
        """Load the models now, so that a missing one is known at once."""
        self.encoders()

    @cached_property
    def own_components(self) -> Mapping[str, OwnComponent]:
        """The components that the settings bring, by name."""
        from assay.search.own_components import load_components

        return load_components(self.settings.own_components)

    @cached_property
    def cluster(self) -> Cluster | None:
        """The OpenSearch cluster that holds the index; None where the workspace does."""
        if self.settings.engine != "opensearch":
            return None
        return engine.open_cluster(self.settings, self._stack)

    def documents(self, *, limit: int = 50, offset: int = 0, text: str = "") -> DocumentPage:
        """A page of the documents by id; with ``text``, those that have it in id or title."""
        from assay.app import corpus

        return corpus.list_documents(self, limit=limit, offset=offset, text=text)

    def document(self, doc_id: str) -> StoredDocument:
        """A document with its sections and chunks."""
        from assay.app import corpus

        return corpus.document(self, doc_id)

    def document_uses(self, doc_id: str) -> DocumentUses:
        """Where a document was judged, and which queries of the newest runs found it."""
        from assay.app import document_uses

        return document_uses.document_uses(self, doc_id)

    def delete(self, doc_ids: str | Iterable[str], progress: Progress = silent) -> DocumentsWritten:
        """Delete one document or several, and bring the index up to date.

        An unknown id is refused before anything is deleted.
        """
        from assay.app import corpus

        return corpus.delete(self, doc_ids, progress)

    def ingest(self, path: str | Path, **options: Any) -> DocumentsWritten:
        """Read a file or folder and make it searchable: see ``assay.app.corpus.ingest``."""
        from assay.app import corpus

        return corpus.ingest(self, path, **options)

    def encode_corpus(self, path: str | Path, folder: str | Path, **options: Any) -> CorpusEncoded:
        """Encode a corpus for a workspace elsewhere: see ``assay.app.vectors.encode_corpus``."""
        from assay.app import vectors

        return vectors.encode_corpus(self, path, folder, **options)

    def add(
        self,
        documents: Iterable[Mapping[str, Any]] | Mapping[str, Any] | Any,
        *,
        profile: str = "auto",
        keep_going: bool = False,
        progress: Progress = silent,
    ) -> DocumentsWritten:
        """Store documents and make them searchable: rows, an iterator, one row or a data frame."""
        from assay.app import corpus

        return corpus.add(
            self, documents, profile=profile, keep_going=keep_going, progress=progress
        )

    def store_documents(
        self,
        documents: Iterable[tuple[Document, tuple[Chunk, ...]]],
        progress: Progress = silent,
    ) -> Written:
        """Store documents in batches; each batch is durable when the next one begins."""
        from assay.app import corpus

        return corpus.store_documents(self, documents, progress)

    def write_index(self, action: Action = "update", progress: Progress = silent) -> IndexWritten:
        """Update, compact or rebuild the index."""
        from assay.app import index

        return index.write_index(self, action, progress)

    def update_index(self, progress: Progress = silent, *, fresh: bool = False) -> Manifest:
        """Bring the index up to the store, encoding only texts that no model has seen."""
        from assay.app import index

        return index.update_index(self, progress, fresh=fresh)

    def index_card(self) -> dict[str, Any]:
        """The index card: what is in it, how fresh it is, which models made it."""
        from assay.app import index

        return index.index_card(self)

    def changes_behind(self) -> int:
        """How many changes of the documents the index does not have yet."""
        from assay.app import index

        return index.changes_behind(self)

    def check_index(self) -> list[str]:
        """What is wrong with the index; nothing where the list is empty."""
        from assay.app import index

        return index.check_index(self)

    def models(self) -> tuple[ModelRow, ...]:
        """Every model, what it is for and whether it is here."""
        from assay.app import models

        return models.list_models(self.settings)

    def backup(self, target: Path, *, vectors: bool = False) -> BackupWritten:
        """Copy the workspace into one checked file, while it is in use."""
        from assay.app import backup

        return backup.back_up(self, target, vectors=vectors)

    def generation(self) -> Generation:
        """The current generation of the index, opened."""
        return engine.generation(self)

    # Search and answers

    def components(self, generation: Generation) -> dict[str, Component]:
        """The components that this index and these settings have, by name."""
        return engine.components(self, generation)

    def snapshot(self) -> Snapshot:
        """The newest generation with its components, and why others are absent."""
        return engine.snapshot(self)

    @cached_property
    def searcher(self) -> Searcher:
        """Search over this workspace; it lives as long as the workspace is open."""
        searcher = engine.open_searcher(self)
        self._stack.callback(searcher.close)
        return searcher

    def search(
        self, query: str, options: SearchOptions | None = None, **changes: Unpack[SearchChanges]
    ) -> SearchResponse:
        """The best chunks for a query, from the newest generation: see ``SearchOptions``."""
        return self.searcher.search(query, options, **changes)

    async def asearch(
        self, query: str, options: SearchOptions | None = None, **changes: Unpack[SearchChanges]
    ) -> SearchResponse:
        """The same from a coroutine."""
        searcher = await asyncio.to_thread(lambda: self.searcher)
        return await searcher.asearch(query, options, **changes)

    def why(
        self,
        query: str,
        document: str,
        options: SearchOptions | None = None,
        **changes: Unpack[SearchChanges],
    ) -> Why:
        """Why a document or chunk is not among the results, or where it is."""
        return self.searcher.why(query, document, options, **changes)

    def freshness(self) -> Freshness:
        """Whether there are documents, and whether the index has them."""
        from assay.app import search

        return search.freshness(self)

    @cached_property
    def answerer(self) -> Answerer:
        """What turns results into an answer, as configured."""
        return engine.open_answerer(self)

    def judge(self, judge: str | GivenJudge = engine.CONFIGURED) -> Judge:
        """Who says whether passages support claims; its opinions are kept, and asked for once.

        A name, a function of kind, text and passage, or a ``Judge`` of one's own.
        """
        return engine.open_judge(self, judge)

    def answer(
        self,
        question: str,
        options: SearchOptions | None = None,
        *,
        judged: bool = False,
        **changes: Unpack[SearchChanges],
    ) -> Answered:
        """What the corpus says to a question, and the search that the answer rests on.

        With ``judged``, the configured judge says of each claim whether its sources support it.
        """
        from assay.app import answers

        return answers.answer(self, question, options, judged=judged, **changes)

    # Test sets

    def test_sets(self) -> tuple[TestSetEntry, ...]:
        """Every test set that loads by name."""
        from assay.app import testsets

        return testsets.list_sets(self.layout, self.read_set)

    def read_set(self, path: Path) -> Reading:
        """A test set as its file is now; it is parsed again only where it has changed."""
        from assay.app import testsets

        about = path.stat()
        key = (str(path), about.st_ino, about.st_mtime_ns, about.st_ctime_ns, about.st_size)
        if (known := self._readings.get(key)) is None:
            known = testsets.read(path)
            self._readings.put(key, known)
        return known

    @cached_property
    def _readings(self) -> Cache[tuple[str | int, ...], Reading]:
        return Cache(limits.MAX_READ_SETS)

    def new_test_set(
        self,
        name: str,
        questions: str | Path | Sequence[str | Mapping[str, Any]],
        annotators: str | Sequence[str] = "me",
        progress: Progress = silent,
        **options: Unpack[NewSetOptions],
    ) -> PassagePool:
        """Begin a first test set: pool passages for questions, for one person or two to judge.

        ``questions`` is a file in any form, or a list of texts or rows. ``options`` are those of
        ``assay.app.first_set.NewSet``.
        """
        from assay.app import first_set

        asked = first_set.new_set(name, questions, annotators, **options)
        return first_set.new(self, asked, progress)

    def suggest_questions(
        self,
        count: int = 20,
        *,
        kinds: Sequence[str] | None = None,
        seed: int = 13,
        by_model: bool = False,
        progress: Progress = silent,
    ) -> Suggested:
        """Questions made from the corpus where nobody has asked any; they stay marked synthetic."""
        from assay.app import suggestions

        return suggestions.suggest(
            self,
            count=count,
            kinds=suggestions.KINDS if kinds is None else kinds,
            seed=seed,
            by_model=by_model,
            progress=progress,
        )

    def desk(self, round_id: str = "latest") -> Desk:
        """Where the passages of a round are judged."""
        from assay.app import annotation

        return annotation.open_desk(self, round_id)

    def finish_test_set(self, round_id: str = "latest", *, close: bool = False) -> FinishedSet:
        """Write the judgments so far as a test set; judging can continue unless ``close``."""
        from assay.app import first_set

        return first_set.finish(self, round_id, close=close)

    def claims(
        self, run: str = "latest", *, answers: int = engine.GRADED_ANSWERS, seed: int = 0
    ) -> ClaimDesk:
        """Where people grade claims of a judged run, without what the judge said."""
        from assay.app import judges

        return judges.open_claims(self, run, answers=answers, seed=seed)

    def check_judge(self, run: str = "latest") -> JudgeQuality:
        """Compare the judge of a run with the people who graded its claims."""
        from assay.app import judges

        return judges.check(self, run)

    # Evaluation

    def carry_out(
        self, request: EvaluationRequest, progress: EvaluationProgress | None = None
    ) -> Evaluated:
        """Run a test set as a request says, and keep the run."""
        from assay.app import evaluation

        return evaluation.evaluate(self, request, progress or evaluation.unwatched)

    def schedules(self) -> Timetable:
        """The evaluations that the clock starts while a service runs."""
        from assay.app.timetable import timetable

        return timetable(self.settings, self.layout)

    def schedule(
        self, when: str, request: EvaluationRequest, *, entry_id: str = ""
    ) -> ScheduleEntry:
        """Have the clock start an evaluation; ``when`` is a cron expression, in UTC.

        The request names one test set of the workspace. With an id, that entry is changed.
        """
        from assay.app import timetable

        self.require()
        return timetable.schedule(self, when, request, entry_id=entry_id)

    def unschedule(self, entry_id: str) -> ScheduleEntry:
        """Remove a scheduled evaluation; its runs stay."""
        from assay.app import timetable

        return timetable.unschedule(self.layout, entry_id)

    def timings(
        self, a: str, b: str, *, repeats: int, seed: int, progress: Progress = silent
    ) -> Timings:
        """How long the configurations of two runs take, asked in turn."""
        from assay.app.latency import time_runs

        return time_runs(self, a, b, repeats=repeats, seed=seed, progress=progress)

    def delete_run(self, ref: str, *, for_good: bool = False) -> RunInfo:
        """Delete a run; unless it goes ``for_good``, it can be restored."""
        from assay.app.runs import move_out

        return move_out(self, ref, for_good=for_good)

    def deleted_runs(self) -> tuple[DeletedRun, ...]:
        """The deleted runs that can be restored, the one deleted last first."""
        from assay.store.deleted_runs import DeletedRuns

        return DeletedRuns(self.layout.deleted_runs).all()

    def restore_run(self, run_id: str) -> RunInfo:
        """Bring back a deleted run, with the tags that no other run has got since."""
        from assay.app.runs import move_back

        return move_back(self, run_id)

    def figures(self) -> bytes:
        """The gauges of the newest runs that count, in the text form of Prometheus."""
        from assay.app.prometheus import figures

        return figures(self)

    def system(
        self, *, answers: bool = False, judged: bool = False, **changes: Unpack[SearchChanges]
    ) -> System:
        """The search of this workspace as something to evaluate; ``changes`` replace options."""
        from assay.search.run_config import evaluation_options

        self.searcher.check_named(changes)
        options = evaluation_options(self.searcher.defaults, **changes)
        return engine.system(self, options, answers=answers or judged, judged=judged)


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
