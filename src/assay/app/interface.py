"""What can be done with a workspace, whether it is here or behind a service?

``Workspace`` does it here, ``assay.client.Client`` asks a service; commands are written once, for
either. Verbs that need files or code of this machine (ingest a folder, judge passages, pull a
model) are functions of a ``Workspace`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from assay.app.answers import Answered
    from assay.app.evaluation import Evaluated, EvaluationProgress, EvaluationRequest
    from assay.evaluation.stored_run import StoredRun
    from assay.model.document import ChunkPlace
    from assay.model.run_store import RunLibrary
    from assay.model.runs import RunInfo
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

    def search(self, query: str, /, **changes: Any) -> SearchResponse:
        """The best chunks for a query; ``changes`` are options of a search by name."""

    def why(self, query: str, document: str, /, **changes: Any) -> Why:
        """Why a document or chunk is not among the results, or where it is."""

    def answer(self, question: str, /, **changes: Any) -> Answered:
        """What the corpus says to a question, with sources, or a refusal."""

    def sections(self) -> list[str]:
        """The labels of sections that there are."""

    # Index

    def index_card(self) -> dict[str, Any]:
        """What the index holds, how fresh it is and which models made it."""

    # Evaluation

    def evaluate(
        self, request: EvaluationRequest, progress: EvaluationProgress | None = None
    ) -> Evaluated:
        """Run a test set and keep the run, or find that it was run before."""

    # Runs

    @property
    def runs(self) -> RunLibrary:
        """Evaluations: read them, tag them, delete them."""

    def stored_run(self, ref: str, *, stages: bool = False, depth: int | None = None) -> StoredRun:
        """A run with its test set and the first ``depth`` results of each query."""

    def archived(self, chunk_ids: Iterable[str], versions: frozenset[str]) -> dict[str, ChunkPlace]:
        """Where chunks of these chunkers stood, also those that have been replaced since."""

    def places_of(self, info: RunInfo) -> Callable[[Iterable[str]], Mapping[str, ChunkPlace]]:
        """A function that says where chunks stood in the index that a run was made with."""

    def present(self, ids: Collection[str]) -> frozenset[str]:
        """Which of these chunks and documents are in the corpus."""
