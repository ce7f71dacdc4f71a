"""How does each engine build, open and search an index?

One class an engine, one method an act, all with the same meaning: ``build`` writes an index of one
kind into a folder and may take what it needs; ``open`` reads it back in a fresh process; ``search``
gives the ids of the best 100 passages for one query. ``effort`` is how hard a graph is searched.
What an engine cannot do it leaves out of ``kinds``. Everything heavy is imported where it is used.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from bench.index_data import DIMENSION, VOCABULARY, K, Workload

KINDS = ("bm25", "splade", "dense", "graph")


class Engine(ABC):
    """What all engines share."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    efforts: ClassVar[tuple[int, ...]] = (0,)  # 0: as the engine comes

    def __init__(self, kind: str, data: Workload) -> None:
        self.kind = kind
        self.data = data

    def load(self) -> None:  # noqa: B027 - not every engine has something to import
        """Import what the engine is made of."""

    @abstractmethod
    def build(self, folder: Path) -> None: ...

    @abstractmethod
    def open(self, folder: Path) -> None: ...

    @abstractmethod
    def search(self, query: int, *, filtered: bool, effort: int = 0) -> Sequence[int]: ...


class Assay(Engine):
    name = "assay"
    kinds = KINDS

    def load(self) -> None:
        import faiss  # noqa: F401
        import scipy.sparse  # noqa: F401

        import assay.index.reader
        import assay.index.writer  # noqa: F401

    def build(self, folder: Path) -> None:
        from assay.index.writer import update

        source = _Passages(self.kind, self.data)
        graph_from = 0 if self.kind == "graph" else 1 << 40
        update(folder, source, self._encoders(), graph_from_rows=graph_from)

    def _encoders(self) -> Any:
        """What looks up the vectors of passages; the text of a passage is then its number."""
        import numpy as np

        from assay.index.writer import Encoders
        from assay.model.vectors import SparseVector

        if self.kind == "bm25":
            return Encoders()
        if self.kind != "splade":
            return Encoders(
                dense=lambda texts: np.array(self.data.dense[[int(text) for text in texts]]),
                dense_model="made",
            )
        table = self.data.sparse

        def sparse(texts: list[str]) -> list[SparseVector]:
            parts = [slice(table.indptr[int(t)], table.indptr[int(t) + 1]) for t in texts]
            return [SparseVector(table.indices[part], table.data[part]) for part in parts]

        return Encoders(sparse=sparse, sparse_model="made", vocabulary=VOCABULARY)

    def open(self, folder: Path) -> None:
        from assay.index.reader import open_generation
        from assay.model.query import Filters

        generation = open_generation(folder)
        if self.kind == "bm25":
            self._component = generation.bm25()
        elif self.kind == "splade":
            self._component = generation.splade(_Sparse(self.data))
        else:
            self._component = generation.dense(_Dense(self.data))
        self._filters = {False: None, True: Filters(source=("0",))}

    def search(self, query: int, *, filtered: bool, effort: int = 0) -> Sequence[int]:
        text = self.data.questions[query] if self.kind == "bm25" else str(query)
        return [hit.key for hit in self._component.search(text, K, self._filters[filtered])]


class _Passages:
    """The workload as the store would hand it over; only bm25 reads the texts."""

    def __init__(self, kind: str, data: Workload) -> None:
        self._kind, self._data = kind, data

    def last_change(self) -> int:
        return 1

    def mark(self, seq: int) -> str:
        return self._kind

    def newest(self, seq: int) -> list[Any]:
        return []

    def added_since(self, seq: int, until: int) -> Iterator[list[Any]]:
        from assay.model.document import Chunk, KeyedChunk

        count = self._data.spec.passages
        texts = self._data.texts() if self._kind == "bm25" else map(str, range(count))
        yield [
            KeyedChunk(row, Chunk(f"p{row}:0", f"p{row}", text, source=str(group)))
            for row, (text, group) in enumerate(zip(texts, self._data.groups, strict=True))
        ]

    def count_since(self, seq: int, until: int) -> int:
        return self._data.spec.passages

    def change_within(self, seq: int, until: int, many: int) -> int:
        return until

    def removed_since(self, seq: int, until: int) -> list[int]:
        return []

    def chunks_by_key(self, keys: Sequence[int]) -> dict[int, Any]:
        return {}


class _Dense:
    """Looks vectors up, so that search is measured without a model."""

    model_id = "made"
    dimension = DIMENSION

    def __init__(self, data: Workload) -> None:
        self._vectors = data.dense_queries

    def encode(self, texts: list[str], kind: str) -> Any:
        return self._vectors[[int(text) for text in texts]]


class _Sparse:
    model_id = "made"
    vocabulary = VOCABULARY

    def __init__(self, data: Workload) -> None:
        from assay.model.vectors import SparseVector

        self._vectors = [SparseVector(terms, weights) for terms, weights in data.sparse_queries]

    def encode(self, texts: list[str], kind: str) -> Any:
        return [self._vectors[int(text)] for text in texts]


class Bm25s(Engine):
    """No stemmer, since it has none of its own."""

    name = "bm25s"
    kinds = ("bm25",)

    def load(self) -> None:
        import bm25s  # noqa: F401

    def build(self, folder: Path) -> None:
        import bm25s

        tokens = bm25s.tokenize(list(self.data.texts()), stopwords="en", show_progress=False)
        index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        index.index(tokens, show_progress=False)
        index.save(str(folder))

    def open(self, folder: Path) -> None:
        import bm25s
        import numpy as np

        self._bm25s = bm25s
        self._index = bm25s.BM25.load(str(folder), mmap=True)
        self._mask = (np.asarray(self.data.groups) == 0).astype(np.float32)

    def search(self, query: int, *, filtered: bool, effort: int = 0) -> Sequence[int]:
        words = self._bm25s.tokenize(
            [self.data.questions[query]], stopwords="en", show_progress=False
        )
        mask = self._mask if filtered else None
        found = self._index.retrieve(
            words, k=K, show_progress=False, n_threads=0, weight_mask=mask, return_as="documents"
        )
        ids: list[int] = found[0].tolist()
        return ids


class Lance(Engine):
    name = "LanceDB"
    kinds = ("bm25", "dense", "graph")
    efforts = (100, 150, 250, 400)

    def load(self) -> None:
        import lancedb  # noqa: F401

    def build(self, folder: Path) -> None:
        import lancedb
        import pyarrow as pa

        base = lancedb.connect(str(folder))
        count = self.data.spec.passages
        columns: dict[str, Any] = {"id": pa.array(range(count)), "g": pa.array(self.data.groups)}
        if self.kind == "bm25":
            columns["text"] = pa.array(self.data.texts())
        else:
            flat = pa.array(self.data.dense.reshape(-1))
            columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, DIMENSION)
        table = base.create_table("t", pa.table(columns))
        table.create_scalar_index("g", index_type="BITMAP")
        if self.kind == "bm25":
            table.create_fts_index("text", with_position=False, stem=True, remove_stop_words=True)
        elif self.kind == "graph":
            table.create_index(
                metric="dot",
                index_type="IVF_HNSW_SQ",
                num_partitions=max(1, count >> 20),
                m=32,
                ef_construction=100,
            )

    def open(self, folder: Path) -> None:
        import lancedb

        self._table = lancedb.connect(str(folder)).open_table("t")

    def search(self, query: int, *, filtered: bool, effort: int = 0) -> Sequence[int]:
        asked: Any
        if self.kind == "bm25":
            asked = self._table.search(self.data.questions[query], query_type="fts")
        else:
            asked = self._table.search(self.data.dense_queries[query]).distance_type("dot")
            asked = (
                asked.ef(effort).refine_factor(1)
                if self.kind == "graph"
                else asked.bypass_vector_index()
            )
        if filtered:
            asked = asked.where("g = 0", prefilter=True)
        found: list[int] = asked.select(["id"]).limit(K).to_arrow()["id"].to_pylist()
        return found


class QdrantEdge(Engine):
    name = "qdrant-edge"
    kinds = KINDS
    efforts = (100, 130, 160, 200, 300)

    def load(self) -> None:
        import qdrant_edge  # noqa: F401

    def build(self, folder: Path) -> None:
        import qdrant_edge as q

        folder.mkdir(parents=True)
        links = q.HnswIndexConfig(m=32, ef_construct=100, full_scan_threshold=10)
        config = (
            q.EdgeConfig(
                vectors={"v": q.EdgeVectorParams(size=DIMENSION, distance=q.Distance.Dot)},
                hnsw_config=links,
                optimizers=q.EdgeOptimizersConfig(
                    indexing_threshold=100 if self.kind == "graph" else 0,
                    default_segment_number=1,
                ),
            )
            if self.kind in {"dense", "graph"}
            else q.EdgeConfig(
                sparse_vectors={
                    "v": q.EdgeSparseVectorParams(
                        modifier=q.Modifier.Idf if self.kind == "bm25" else None
                    )
                },
                optimizers=q.EdgeOptimizersConfig(default_segment_number=1),
            )
        )
        shard = q.EdgeShard.create(str(folder), config)
        shard.update(q.UpdateOperation.create_field_index("g", q.PayloadSchemaType.Integer))
        batch: list[Any] = []
        for row, vector in enumerate(self._vectors()):
            batch.append(q.Point(row, {"v": vector}, {"g": int(self.data.groups[row])}))
            if len(batch) == 1_000:
                shard.update(q.UpdateOperation.upsert_points(batch))
                batch = []
        if batch:
            shard.update(q.UpdateOperation.upsert_points(batch))
        shard.optimize()
        shard.flush()
        shard.close()

    def _vectors(self) -> Iterator[Any]:
        import qdrant_edge as q

        if self.kind == "bm25":
            model = q.Bm25()
            yield from (model.embed_document(text) for text in self.data.texts())
        elif self.kind == "splade":
            table = self.data.sparse
            for row in range(self.data.spec.passages):
                part = slice(table.indptr[row], table.indptr[row + 1])
                yield q.SparseVector(table.indices[part].tolist(), table.data[part].tolist())
        else:
            yield from (row.tolist() for row in self.data.dense)

    def open(self, folder: Path) -> None:
        import qdrant_edge as q

        self._q = q
        self._shard = q.EdgeShard.load(str(folder))
        self._model = q.Bm25() if self.kind == "bm25" else None
        self._filters = {
            False: None,
            True: q.Filter(must=[q.FieldCondition(key="g", match=q.MatchValue(0))]),
        }

    def search(self, query: int, *, filtered: bool, effort: int = 0) -> Sequence[int]:
        q = self._q
        vector: Any
        if self._model is not None:
            vector = self._model.embed_query(self.data.questions[query])
        elif self.kind == "splade":
            terms, weights = self.data.sparse_queries[query]
            vector = q.SparseVector(terms.tolist(), weights.tolist())
        else:
            vector = self.data.dense_queries[query].tolist()
        params = (
            q.SearchParams(hnsw_ef=effort)
            if self.kind == "graph"
            else q.SearchParams(exact=self.kind == "dense")
        )
        request = q.QueryRequest(
            limit=K,
            query=q.Query.Nearest(vector, using="v"),
            filter=self._filters[filtered],
            params=params,
        )
        return [int(point.id) for point in self._shard.query(request)]


class Chroma(Engine):
    name = "Chroma"
    kinds = ("graph",)
    efforts = (100, 150, 250, 400)
    BATCH = 5_000

    def load(self) -> None:
        import chromadb  # noqa: F401

    def build(self, folder: Path) -> None:
        self._client(folder)
        settings = {"hnsw": {"space": "ip", "ef_construction": 100, "max_neighbors": 32}}
        collection = self._base.create_collection("passages", configuration=settings)
        for start in range(0, self.data.spec.passages, self.BATCH):
            rows = range(start, min(start + self.BATCH, self.data.spec.passages))
            collection.add(
                ids=[str(row) for row in rows],
                embeddings=self.data.dense[rows.start : rows.stop],
                metadatas=[{"g": int(self.data.groups[row])} for row in rows],
            )

    def open(self, folder: Path) -> None:
        self._client(folder)
        self._collection = self._base.get_collection("passages")
        self._effort = 0

    def _client(self, folder: Path) -> None:
        import chromadb
        from chromadb.config import Settings

        os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
        self._base = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))

    def search(self, query: int, *, filtered: bool, effort: int = 0) -> Sequence[int]:
        if effort != self._effort:
            self._collection.modify(configuration={"hnsw": {"ef_search": effort}})
            self._effort = effort
        found = self._collection.query(
            query_embeddings=self.data.dense_queries[query : query + 1],
            n_results=K,
            where={"g": 0} if filtered else None,
            include=[],
        )
        return [int(name) for name in found["ids"][0]]


ENGINES: dict[str, type[Engine]] = {
    engine.name: engine for engine in (Assay, Bm25s, Lance, QdrantEdge, Chroma)
}
