"""How does each engine store passages and answer one hybrid query?

``build`` writes everything into a folder, ``open`` reads it in a fresh process, ``search`` gives
the ids of the ten best of what up to 100 candidates of each component make. With models, encoding
the question is part of a search. Everything heavy is imported where it is used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from bench.index_data import DIMENSION, VOCABULARY, Workload
from bench.search_data import DENSE_MODEL, HINTS, SECTIONS, SPLADE_MODEL, Models, Questions

DEPTH, RESULTS = 100, 10
GRAPH_FROM = 200_000  # ours is exact below; peers get a graph from here on, too
EFFORT = 160
BATCH = 1_000
PATIENCE_MS = 10_000  # a busy machine must not turn a slow answer into a smaller one


class Engine(ABC):
    """What all engines share."""

    name: ClassVar[str]
    components: ClassVar[str]

    def __init__(self, data: Workload, questions: Questions) -> None:
        self.data = data
        self.questions = questions
        self.models: Models | None = None

    @property
    def graph(self) -> bool:
        """Whether dense search is approximate."""
        return self.data.spec.passages > GRAPH_FROM

    @abstractmethod
    def build(self, folder: Path) -> None: ...

    @abstractmethod
    def open(self, folder: Path, models: Models | None) -> None: ...

    @abstractmethod
    def search(self, number: int) -> Sequence[int]: ...

    def close(self) -> None:  # noqa: B027 - not every engine holds something
        """Let go of everything."""


class Assay(Engine):
    """A whole workspace: the store holds the texts, every hit is explained."""

    name = "assay"
    components = "words, splade, dense; boosts, account of every score"
    settings: Mapping[str, object] = MappingProxyType({})
    options: Mapping[str, Any] = MappingProxyType({})

    def build(self, folder: Path) -> None:
        from assay.index.writer import update

        workspace = self.workspace_in(folder)
        workspace.store_documents(self._documents())
        update(workspace.layout.index, workspace.store, self.encoders())
        workspace.close()

    def encoders(self) -> Any:
        """What looks vectors up, for one load of all passages."""
        from assay.index.writer import Encoders
        from assay.model.vectors import SparseVector

        table = self.data.sparse
        done = {"dense": 0, "splade": 0}  # passages come in the order in which they were ingested

        def dense(texts: list[str]) -> Any:
            start = done["dense"]
            done["dense"] += len(texts)
            return self.data.dense[start : done["dense"]]

        def sparse(texts: list[str]) -> list[SparseVector]:
            start = done["splade"]
            done["splade"] += len(texts)
            ends = table.indptr[start : done["splade"] + 1].tolist()
            parts = [slice(*pair) for pair in pairwise(ends)]
            return [SparseVector(table.indices[part], table.data[part]) for part in parts]

        return Encoders(dense, sparse, DENSE_MODEL, SPLADE_MODEL, VOCABULARY)

    def _documents(self) -> Iterator[Any]:
        from assay.model.document import Chunk, Document

        for row, text in enumerate(self.data.texts()):
            name = f"p{row}"
            chunk = Chunk(
                f"{name}:0",
                name,
                text,
                section_label=SECTIONS[row % len(SECTIONS)],
                intent_hint=HINTS[row % len(HINTS)],
                is_table=row % 10 == 0,
            )
            yield Document(name, text), (chunk,)

    def workspace_in(self, folder: Path) -> Any:
        """The workspace, under the settings of this engine."""
        from assay.app.workspace import Workspace
        from assay.settings import configure

        folder.mkdir(parents=True, exist_ok=True)
        settings = {"home": folder, **self.settings}
        return Workspace(configure(settings, environ={}, folder=folder))

    def open(self, folder: Path, models: Models | None) -> None:
        from assay.testing.encoders import GivenModels

        self.workspace = self.workspace_in(folder)
        # where the workspace would load models, it finds what looks vectors up
        self.workspace.__dict__["opened_models"] = GivenModels(
            GivenDense(self.questions, models), GivenSparse(self.questions, models)
        )
        self.searcher = self.workspace.searcher
        self.timings: list[dict[str, float]] = []

    def search(self, number: int) -> Sequence[int]:
        found = self.searcher.search(
            self.questions.texts[number],
            k=RESULTS,
            depth=DEPTH,
            component_timeout_ms=PATIENCE_MS,
            **self.options,
        )
        if found.degraded:
            raise RuntimeError(f"degraded: {found.warnings}")
        self.timings.append(dict(found.timings_ms))
        return [int(hit.chunk.doc_id[1:]) for hit in found.results]

    def close(self) -> None:
        self.workspace.close()


class GivenDense:
    """Encodes where there are models, and answers with the vector that is searched for."""

    model_id = DENSE_MODEL
    dimension = DIMENSION

    def __init__(self, questions: Questions, models: Models | None) -> None:
        self._questions = questions
        self._model = None if models is None else models.dense

    def encode(self, texts: list[str], kind: str) -> Any:
        import numpy as np

        numbers = [self._questions.numbers.get(text, 0) for text in texts]
        if self._model is not None:
            self._model.encode([self._questions.spoken[number] for number in numbers], "query")
        return np.stack([self._questions.dense(number) for number in numbers])


class GivenSparse:
    model_id = SPLADE_MODEL
    vocabulary = VOCABULARY

    def __init__(self, questions: Questions, models: Models | None) -> None:
        self._questions = questions
        self._model = None if models is None else models.sparse

    def encode(self, texts: list[str], kind: str) -> Any:
        from assay.model.vectors import SparseVector

        numbers = [self._questions.numbers.get(text, 0) for text in texts]
        if self._model is not None:
            self._model.encode([self._questions.spoken[number] for number in numbers], "query")
        return [SparseVector(*self._questions.sparse(number)) for number in numbers]


class QdrantEdge(Engine):
    name = "qdrant-edge"
    components = "words, splade, dense"

    def build(self, folder: Path) -> None:
        import qdrant_edge as q

        folder.mkdir(parents=True)
        config = q.EdgeConfig(
            vectors={"dense": q.EdgeVectorParams(size=DIMENSION, distance=q.Distance.Dot)},
            sparse_vectors={
                "words": q.EdgeSparseVectorParams(modifier=q.Modifier.Idf),
                "splade": q.EdgeSparseVectorParams(),
            },
            hnsw_config=q.HnswIndexConfig(m=32, ef_construct=100, full_scan_threshold=10),
            optimizers=q.EdgeOptimizersConfig(
                indexing_threshold=100 if self.graph else 0, default_segment_number=1
            ),
        )
        shard = q.EdgeShard.create(str(folder), config)
        words, table = q.Bm25(), self.data.sparse
        ends = table.indptr.tolist()
        batch: list[Any] = []
        for row, text in enumerate(self.data.texts()):
            part = slice(ends[row], ends[row + 1])
            vectors = {
                "dense": self.data.dense[row].tolist(),
                "words": words.embed_document(text),
                "splade": q.SparseVector(table.indices[part].tolist(), table.data[part].tolist()),
            }
            batch.append(q.Point(row, vectors, {"text": text}))
            if len(batch) == BATCH:
                shard.update(q.UpdateOperation.upsert_points(batch))
                batch = []
        if batch:
            shard.update(q.UpdateOperation.upsert_points(batch))
        shard.optimize()
        shard.flush()
        shard.close()

    def open(self, folder: Path, models: Models | None) -> None:
        import qdrant_edge as q

        self._q, self.models = q, models
        self._shard = q.EdgeShard.load(str(folder))
        self._words = q.Bm25()

    def search(self, number: int) -> Sequence[int]:
        q = self._q
        if self.models is not None:
            self.models.encode(number, sparse=True)
        terms, weights = self.questions.sparse(number)
        near = q.SearchParams(hnsw_ef=EFFORT) if self.graph else q.SearchParams(exact=True)
        asked = {
            "words": self._words.embed_query(self.questions.texts[number]),
            "splade": q.SparseVector(terms.tolist(), weights.tolist()),
            "dense": self.questions.dense(number).tolist(),
        }
        lists = [
            q.Prefetch(
                DEPTH,
                query=q.Query.Nearest(vector, using=name),
                params=near if name == "dense" else None,
            )
            for name, vector in asked.items()
        ]
        request = q.QueryRequest(
            limit=RESULTS, prefetches=lists, query=q.Fusion.Rrf(60), with_payload=True
        )
        return [point.id for point in self._shard.query(request)]

    def close(self) -> None:
        self._shard.close()


class Lance(Engine):
    name = "LanceDB"
    components = "words, dense"

    def build(self, folder: Path) -> None:
        import lancedb
        import pyarrow as pa

        flat = pa.array(self.data.dense.reshape(-1))
        columns = {
            "id": pa.array(range(self.data.spec.passages)),
            "text": pa.array(self.data.texts()),
            "vector": pa.FixedSizeListArray.from_arrays(flat, DIMENSION),
        }
        table = lancedb.connect(str(folder)).create_table("t", pa.table(columns))
        table.create_fts_index("text", with_position=False, stem=True, remove_stop_words=True)
        if self.graph:
            table.create_index(
                metric="dot", index_type="IVF_HNSW_SQ", num_partitions=1, m=32, ef_construction=100
            )

    def open(self, folder: Path, models: Models | None) -> None:
        import lancedb
        from lancedb.rerankers import RRFReranker

        self.models = models
        self._table = lancedb.connect(str(folder)).open_table("t")
        self._fusion = RRFReranker(60)

    def search(self, number: int) -> Sequence[int]:
        if self.models is not None:
            self.models.encode(number, sparse=False)
        asked: Any = self._table.search(query_type="hybrid")
        asked = asked.vector(self.questions.dense(number)).text(self.questions.texts[number])
        asked = asked.distance_type("dot").rerank(self._fusion).select(["id"]).limit(DEPTH)
        asked = asked.ef(EFFORT).refine_factor(1) if self.graph else asked.bypass_vector_index()
        found: list[int] = asked.to_arrow()["id"].to_pylist()[:RESULTS]
        return found


ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in (Assay, QdrantEdge, Lance)}
