"""What can be done with a workspace, whether it is here or behind a service?

``Workspace`` does it here, ``assay.client.Client`` asks a service; commands are written once, for
either. Verbs that need files or code of this machine (ingest a folder, judge passages, pull a
model) are functions of a ``Workspace`` alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Unpack

from assay.app.engine import Progress, silent

if TYPE_CHECKING:
    from pathlib import Path

    from assay.app.answers import Answered
    from assay.app.backup import BackupWritten
    from assay.app.corpus import DocumentPage, DocumentsWritten
    from assay.app.document_uses import DocumentUses
    from assay.app.evaluation import Evaluated, EvaluationProgress
    from assay.app.evaluation_request import EvaluationRequest
    from assay.app.index import Action, IndexWritten
    from assay.app.models import ModelRow
    from assay.app.schedule import ScheduleEntry
    from assay.app.search import Freshness
    from assay.app.testsets import TestSetEntry
    from assay.app.timetable import Timetable
    from assay.evaluation.stored_run import StoredRun
    from assay.model.document import ChunkPlace, Label, StoredDocument
    from assay.model.run_store import DeletedRun, RunLibrary
    from assay.model.runs import RunInfo, Timings
    from assay.search.changes import SearchChanges
    from assay.search.request import SearchOptions
    from assay.search.response import SearchResponse
    from assay.search.why import Why
    from assay.settings import Settings


class Assay(Protocol):
    """One workspace."""

    @property
    def settings(self) -> Settings:
        """The settings of whoever asks: how intervals are drawn, how output looks."""

    def require(self) -> None:
        """Refuse, with what to do, where there is no workspace."""

    # Search and answers

    def search(
        self, query: str, options: SearchOptions | None = None, **changes: Unpack[SearchChanges]
    ) -> SearchResponse:
        """The best chunks for a query; ``changes`` are options of a search by name."""

    def why(
        self,
        query: str,
        document: str,
        options: SearchOptions | None = None,
        **changes: Unpack[SearchChanges],
    ) -> Why:
        """Why a document or chunk is not among the results, or where it is."""

    def answer(
        self,
        question: str,
        options: SearchOptions | None = None,
        *,
        judged: bool = False,
        **changes: Unpack[SearchChanges],
    ) -> Answered:
        """What the corpus says to a question, with sources, or a refusal."""

    def sections(self) -> list[str]:
        """The labels of sections that there are."""

    def freshness(self) -> Freshness:
        """Whether there are documents, and whether the index has them."""

    # Documents, the index, models and backups

    def documents(self, *, limit: int = 50, offset: int = 0, text: str = "") -> DocumentPage:
        """A page of the documents by id; with ``text``, those that have it in id or title."""

    def document(self, doc_id: str) -> StoredDocument:
        """A document with its sections and chunks."""

    def document_uses(self, doc_id: str) -> DocumentUses:
        """Where a document was judged, and which queries of the newest runs found it."""

    def add(
        self,
        documents: Iterable[Mapping[str, Any]] | Mapping[str, Any] | Any,
        *,
        profile: str = "auto",
        keep_going: bool = False,
        progress: Progress = silent,
    ) -> DocumentsWritten:
        """Store documents and make them searchable: rows, an iterator, one row or a data frame."""

    def add_frame(
        self,
        frame: Any,
        *,
        text: str | Sequence[str],
        id: str,  # noqa: A002 - the word that users know
        title: str = "",
        profile: str = "auto",
        keep_going: bool = False,
        progress: Progress = silent,
    ) -> DocumentsWritten:
        """Store a data frame, a document per row; the columns that are not named are metadata."""

    def delete(self, doc_ids: str | Iterable[str], progress: Progress = silent) -> DocumentsWritten:
        """Delete one document or several, and bring the index up to date."""

    def index_card(self) -> dict[str, Any]:
        """What the index holds, how fresh it is and which models made it."""

    def check_index(self) -> list[str]:
        """What is wrong with the index; nothing where the list is empty."""

    def write_index(self, action: Action = "update", progress: Progress = silent) -> IndexWritten:
        """Update, compact or rebuild the index."""

    def models(self) -> tuple[ModelRow, ...]:
        """Every model, what it is for and whether it is there."""

    def backup(self, target: Path, *, vectors: bool = False) -> BackupWritten:
        """Copy the workspace into one checked file of this machine, while it is in use."""

    # Test sets and evaluation

    def test_sets(self) -> tuple[TestSetEntry, ...]:
        """Every test set that loads by name."""

    def carry_out(
        self, request: EvaluationRequest, progress: EvaluationProgress | None = None
    ) -> Evaluated:
        """Run a test set as a request says and keep the run, or find that it was run before."""

    def schedules(self) -> Timetable:
        """The evaluations that the clock starts while a service runs."""

    def schedule(
        self, when: str, request: EvaluationRequest, *, entry_id: str = ""
    ) -> ScheduleEntry:
        """Have the clock start an evaluation; ``when`` is a cron expression, in UTC.

        The request names one test set of the workspace. With an id, that entry is changed.
        """

    def unschedule(self, entry_id: str) -> ScheduleEntry:
        """Remove a scheduled evaluation; its runs stay."""

    # Runs

    @property
    def runs(self) -> RunLibrary:
        """Evaluations: read them, tag them, delete them."""

    def delete_run(self, ref: str, *, for_good: bool = False) -> RunInfo:
        """Delete a run; unless it goes ``for_good``, it can be restored."""

    def deleted_runs(self) -> tuple[DeletedRun, ...]:
        """The deleted runs that can be restored, the one deleted last first."""

    def restore_run(self, run_id: str) -> RunInfo:
        """Bring back a deleted run, with the tags that no other run has got since."""

    def stored_run(self, ref: str, *, stages: bool = False, depth: int | None = None) -> StoredRun:
        """A run with its test set and the first ``depth`` results of each query."""

    def archived(self, chunk_ids: Iterable[str], versions: frozenset[str]) -> dict[str, ChunkPlace]:
        """Where chunks of these chunkers stood, also those that have been replaced since."""

    def present(self, ids: Collection[str]) -> frozenset[str]:
        """Which of these chunks and documents are in the corpus."""

    def labels(self, ids: Iterable[str]) -> dict[str, Label]:
        """Title and beginning of each of these chunks and documents that is known."""

    def timings(
        self, a: str, b: str, *, repeats: int, seed: int, progress: Progress = silent
    ) -> Timings:
        """How long the configurations of two runs take, asked in turn."""

    def figures(self) -> bytes:
        """The gauges of the newest runs that count, in the text form of Prometheus."""
