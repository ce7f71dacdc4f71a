"""Where do corpus, models and index of one project live, and who wires them together?

A workspace is a folder: ``assay.db`` is the truth, ``index/`` is derived from it and can be
rebuilt, ``vectors/`` keeps what models made of texts so that nothing is encoded twice. This is the
only place that builds stores, encoders and indexes from configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.config import Configuration
from assay.errors import MissingFileError
from assay.index import check as checks
from assay.index.manifest import Manifest, load
from assay.index.reader import Generation, open_generation
from assay.index.writer import Encoders, update
from assay.model.query import Component
from assay.model.run_store import RunStore
from assay.store.corpus import CorpusStore, Written
from assay.store.runs import SqlRunStore

if TYPE_CHECKING:
    from assay.model.document import Chunk, Document
    from assay.model.vectors import DenseEncoder, SparseEncoder

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
        from assay.encode.shelf import shelf

        name = self.config.dense_model
        return None if name == NO_MODEL else open_dense(name, shelf(self.home))

    @cached_property
    def sparse_encoder(self) -> SparseEncoder | None:
        """The SPLADE model, or None where the configuration wants none."""
        from assay.encode.encoders import open_sparse
        from assay.encode.shelf import shelf

        name = self.config.splade_model
        return None if name == NO_MODEL else open_sparse(name, shelf(self.home))

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

    def update_index(self, progress: Progress = _silent, *, fresh: bool = False) -> Manifest:
        """Bring the index up to the store, encoding only texts that no model has seen."""
        with ExitStack() as stack:
            encoders = self._encoders(stack, progress)
            return update(self.index_folder, self.store, encoders, fresh=fresh, progress=progress)

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
        found: dict[str, Component] = {"bm25": generation.bm25()}
        models = generation.manifest.models
        if self.sparse_encoder is not None and "splade" in models:
            found["splade"] = generation.splade(self.sparse_encoder)
        if self.dense_encoder is not None and "dense" in models:
            found["dense"] = generation.dense(self.dense_encoder)
        return found

    def index_info(self) -> dict[str, Any]:
        """The index card: what is in it, how fresh it is, which models made it."""
        self.require()
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
        return checks.problems(
            self.index_folder, self.store.counts()["chunks"], self.store.last_change()
        )


def _batches(
    documents: Iterable[tuple[Document, tuple[Chunk, ...]]], size: int
) -> Iterator[list[tuple[Document, tuple[Chunk, ...]]]]:
    waiting = iter(documents)
    while batch := list(islice(waiting, size)):
        yield batch
