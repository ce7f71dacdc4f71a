"""Are clients of search engines asked as they are, with an encoder or a template?

The real packages are tried where they are installed (the extra ``adapters``); of OpenSearch a
client is, with a transport of our own in place of a cluster.
"""

# mypy: disable-error-code="misc"

from __future__ import annotations

import asyncio
import json
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import assay
from assay.errors import ConfigError, InputError, TooManyErrorsError, UsageError
from assay.evaluation.engines import EngineQuery, vector_of
from assay.model.testset import GoldenQuery, Judgment, TestSet

QUERIES = TestSet("two", "v1", (
    GoldenQuery("q1", "itch", relevant_docs=(Judgment("d1", 1),)),
    GoldenQuery("q2", "fever", relevant_docs=(Judgment("d2", 1),)),
))  # fmt: skip
VECTORS = {"d1": [1.0, 0.0], "d2": [0.0, 1.0], "d3": [-1.0, -1.0]}
ASKED = {"itch": [0.9, 0.1], "fever": [0.1, 0.9]}


def encode(text: str) -> list[float]:
    return ASKED[text]


def measured(system: Any, **options: Any) -> float | None:
    result = assay.evaluate(system, QUERIES, "MRR", **options)
    assert result.warnings() == []  # such as scores that rise
    return result["MRR"]


def test_a_client_of_qdrant() -> None:
    qdrant = pytest.importorskip("qdrant_client")
    client = qdrant.QdrantClient(":memory:")
    client.create_collection(
        "papers", vectors_config=qdrant.models.VectorParams(size=2, distance="Cosine")
    )
    points = [
        qdrant.models.PointStruct(id=at, vector=vector, payload={"pmid": name})
        for at, (name, vector) in enumerate(VECTORS.items())
    ]
    client.upsert("papers", points)
    assert measured(assay.system(client, "papers", encode=encode, id_field="pmid")) == 1.0
    first = assay.system(client, "papers", encode=encode, k=1)("itch")
    assert [one.id for one in first.points] == [0]
    with pytest.raises(UsageError, match=r"which collection .*assay\.system\(client"):
        assay.evaluate(client, QUERIES)
    with pytest.raises(UsageError, match="qdrant is asked with vectors"):
        assay.system(client, "papers")


def test_what_langchain_wrote_into_qdrant() -> None:
    """Points have ids of its own, and the owner's stand in the metadata of their payload."""
    qdrant = pytest.importorskip("qdrant_client")
    client = qdrant.QdrantClient(":memory:")
    config = qdrant.models.VectorParams(size=2, distance="Cosine")
    client.create_collection("papers", vectors_config=config)
    points = [
        qdrant.models.PointStruct(
            id=str(uuid.uuid4()),
            vector=vector,
            payload={"page_content": "text", "metadata": {"doc_id": name, "chunk": at}},
        )
        for at, (name, vector) in enumerate(VECTORS.items())
    ]
    client.upsert("papers", points)
    for field in (None, "doc_id", "metadata.doc_id", "payload.metadata.doc_id"):
        papers = assay.system(client, "papers", encode=encode, id_field=field)
        assert measured(papers) == 1.0


def test_an_error_of_an_encoder_is_told() -> None:
    called: list[str] = []

    def busy(text: str) -> list[float]:
        called.append(text)
        raise ValueError("CUDA out of memory")

    with pytest.raises(ValueError, match="CUDA out of memory"):
        vector_of(busy, "itch")
    with pytest.raises(UsageError, match="no vector of finite numbers"):
        vector_of(lambda text: "no numbers", "itch")
    query = EngineQuery(encode=busy)
    with pytest.raises(TooManyErrorsError, match="ValueError: CUDA out of memory"):
        assay.evaluate(query.sent, QUERIES, "MRR")
    assert called == ["itch", "itch", "fever"]


def test_an_asynchronous_client_of_qdrant_is_asked_several_queries_at_once() -> None:
    qdrant = pytest.importorskip("qdrant_client")
    client = qdrant.AsyncQdrantClient(":memory:")

    async def fill() -> None:
        config = qdrant.models.VectorParams(size=2, distance="Dot")
        await client.create_collection("papers", vectors_config=config)
        points = [
            qdrant.models.PointStruct(id=at, vector=vector, payload={"pmid": name})
            for at, (name, vector) in enumerate(VECTORS.items())
        ]
        await client.upsert("papers", points)

    asyncio.run(fill())
    papers = assay.system(client, "papers", encode=encode, id_field="pmid")
    assert measured(papers, concurrency=2) == 1.0


@pytest.mark.filterwarnings("ignore")
def test_a_client_and_a_collection_of_chroma(tmp_path: Path) -> None:
    chromadb = pytest.importorskip("chromadb")

    class Embedding(chromadb.EmbeddingFunction):  # type: ignore[name-defined,unused-ignore]
        def __init__(self) -> None: ...

        def __call__(self, input: Any) -> Any:  # noqa: A002 - Chroma's own name
            return [np.array(ASKED[text], "f4") for text in input]

    client = chromadb.PersistentClient(str(tmp_path))
    collection = client.create_collection("papers", embedding_function=Embedding())
    collection.add(
        ids=list(VECTORS),
        embeddings=list(VECTORS.values()),
        metadatas=[{"pmid": name[1:]} for name in VECTORS],
    )
    assert measured(assay.system(client, "papers", encode=encode)) == 1.0
    assert measured(collection) == 1.0  # which encodes by itself
    by_number = assay.system(collection, id_field="pmid")("itch")
    assert [one["chunk_id"] for one in by_number] == ["1", "2", "3"]


def test_a_table_of_lancedb(tmp_path: Path) -> None:
    lancedb = pytest.importorskip("lancedb")
    database = lancedb.connect(str(tmp_path))
    rows = [{"id": name, "vector": vector, "pmid": name} for name, vector in VECTORS.items()]
    table = database.create_table("papers", rows)
    assert measured(assay.system(table, encode=encode)) == 1.0
    assert measured(assay.system(database, "papers", encode=encode, id_field="pmid")) == 1.0
    with pytest.raises(InputError, match=r"a result has no doi \(dict with id, vector, pmid"):
        assay.system(table, encode=encode, id_field="doi")("itch")

    async def later() -> Any:
        return await (await lancedb.connect_async(str(tmp_path))).open_table("papers")

    assert measured(assay.system(asyncio.run(later()), encode=encode)) == 1.0


def test_a_client_of_opensearch_is_sent_a_template() -> None:
    opensearchpy = pytest.importorskip("opensearchpy")
    bodies: list[Any] = []
    hits = {"itch": ["d1", "d2"], "fever": ["d3", "d2"]}

    class Cluster(opensearchpy.Connection):  # type: ignore[name-defined,unused-ignore]
        def perform_request(self, method: str, url: str, params: Any = None, body: Any = None,
                            *rest: Any, **more: Any) -> Any:  # fmt: skip
            sent = self_serializer.loads(body)
            bodies.append((url, sent))
            text = str(sent)
            found = next(names for word, names in hits.items() if word in text)
            listed = [{"_id": one, "_score": 2.0 - at} for at, one in enumerate(found)]
            return 200, {}, self_serializer.dumps({"hits": {"hits": listed}})

    self_serializer = opensearchpy.serializer.JSONSerializer()
    client = opensearchpy.OpenSearch(connection_class=Cluster)
    assert measured(assay.system(client, "papers")) == 0.75
    assert bodies[0][0] == "/papers/_search"
    assert bodies[0][1]["size"] == 100
    assert bodies[0][1]["query"]["multi_match"]["query"] == "itch"
    template = {"query": {"match": {"abstract": "{query_text}"}}, "size": "{k}"}
    assert measured(assay.system(client, "papers", query=template, k=7)) == 0.75
    assert bodies[-1][1] == {"query": {"match": {"abstract": "fever"}}, "size": 7}
    nearest = {"query": {"knn": {"v": {"vector": "{vector}", "k": "{k}"}}}, "note": "{query_text}"}
    assay.system(client, "papers", encode=encode, query=nearest, k=3)("itch")
    assert bodies[-1][1]["query"] == {"knn": {"v": {"vector": [0.9, 0.1], "k": 3}}}
    with pytest.raises(UsageError, match="in which field are the vectors"):
        assay.system(client, "papers", encode=encode)


def test_a_client_of_elasticsearch_is_asked_in_the_same_way() -> None:
    elasticsearch = pytest.importorskip("elasticsearch")
    import elastic_transport as transport
    from elastic_transport._node import NodeApiResponse

    sent: list[Any] = []

    class Cluster(transport.BaseNode):
        def perform_request(self, method: str, target: str, body: Any = None, headers: Any = None,
                            request_timeout: Any = None) -> Any:  # fmt: skip
            sent.append((target, json.loads(body)))
            answer = {"hits": {"hits": [{"_id": "d1", "_score": 1.0, "_source": {"pmid": "d2"}}]}}
            told = {"content-type": "application/json", "x-elastic-product": "Elasticsearch"}
            meta = transport.ApiResponseMeta(
                200, "1.1", transport.HttpHeaders(told), 0.0, self.config
            )
            return NodeApiResponse(meta, json.dumps(answer).encode())

    client = elasticsearch.Elasticsearch("http://127.0.0.1:9200", node_class=Cluster)
    template = {"query": {"match": {"abstract": "{query_text}"}}, "_source": ["pmid"]}
    papers = assay.system(client, "papers", query=template, k=3)
    assert measured(papers) == 0.5
    assert sent[0][0].startswith("/papers/_search")
    assert sent[0][1] == {"query": {"match": {"abstract": "itch"}}, "_source": ["pmid"], "size": 3}
    found = assay.system(client, "papers", query=template, id_field="pmid")("fever")
    assert [one["chunk_id"] for one in found] == ["d2"]


def test_answers_of_clients_are_read_as_they_come() -> None:
    hits = {"hits": {"hits": [{"_id": "c1", "_score": 1.5, "_source": {"doc_id": "d1"}}]}}
    points = SimpleNamespace(points=[SimpleNamespace(id=7, score=0.5, payload={"doc_id": "d1"})])
    nested = {"ids": [["c1"]], "distances": [[0.25]], "metadatas": [[{"doc_id": "d1"}]]}
    node = SimpleNamespace(node_id="c1", ref_doc_id="d1")
    nodes = [SimpleNamespace(node=node, score=0.5)]
    for answer in (hits, points, nested, nodes):
        result = assay.evaluate(lambda text, found=answer: found, QUERIES, "MRR", match="doc")
        assert result["MRR"] == 0.5, answer
        assert result.outcomes[0].results[0].doc_id == "d1"


@pytest.mark.parametrize(
    "encoder",
    [
        encode,
        SimpleNamespace(encode=lambda text: np.array([ASKED[text]], "f4")),
        SimpleNamespace(embed_query=encode),
        SimpleNamespace(get_query_embedding=encode),
    ],
)
def test_functions_and_models_encode(encoder: Any) -> None:
    assert vector_of(encoder, "itch") == pytest.approx([0.9, 0.1])


@pytest.mark.parametrize("given", [[], [[1.0], [2.0]], [float("nan")], "text", None])
def test_what_is_no_vector_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match="no vector of finite numbers"):
        vector_of(lambda text: given, "itch")


def test_what_an_engine_cannot_be_asked_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'\{words\}' is not known"):
        EngineQuery("papers", query={"match": "{words}"})
    with pytest.raises(UsageError, match="k is 0"):
        EngineQuery("papers", k=0)
    with pytest.raises(UsageError, match="takes no collection, limit"):
        assay.system(encode, "papers", limit=3)
    with pytest.raises(UsageError, match="cannot encode a text"):
        vector_of(7, "itch")


def test_fields_of_ones_own_hold_the_ids() -> None:
    rows = [{"pmid": 1, "score": 2.0}, {"pmid": 2, "metadata": {"paper": "d2"}}]
    found = assay.system(lambda text: rows, id_field="pmid", doc_field="paper")("itch")
    assert [(one["chunk_id"], one.get("doc_id")) for one in found] == [(1, None), (2, "d2")]
    documents = [(SimpleNamespace(id=None, metadata={"pmid": "d1"}), 0.3)]
    answer = {"results": documents, "cost": 0.5, "usage": {"total_tokens": 3}}
    papers = assay.system(lambda text: answer, id_field="pmid")
    result = assay.evaluate(papers, QUERIES, "MRR")
    assert result["MRR"] == 0.5
    assert result.usage is not None
    assert (result.usage.cost, result.usage.tokens) == (1.0, 6)
