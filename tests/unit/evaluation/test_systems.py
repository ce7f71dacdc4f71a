"""Are systems of other libraries asked as they are?

The real packages are tried where they are installed (the extra ``adapters``).
"""

# mypy: disable-error-code="misc, untyped-decorator"

from __future__ import annotations

import asyncio
from operator import itemgetter
from types import SimpleNamespace
from typing import Any

import faiss
import numpy as np
import pytest

import assay
from assay.errors import TooManyErrorsError, UsageError
from assay.evaluation.retrievers.python import given_system
from assay.evaluation.systems import asked
from assay.model.answers import Usage
from assay.model.testset import GoldenQuery, Judgment, TestSet

QUERIES = TestSet("two", "v1", (
    GoldenQuery("q1", "itch", relevant_docs=(Judgment("d1", 1),)),
    GoldenQuery("q2", "fever", relevant_docs=(Judgment("d2", 1),)),
))  # fmt: skip
FOUND = {"itch": ["d2", "d1"], "fever": ["d2"]}
MRR = 0.75


def measured(system: Any) -> float | None:
    return assay.evaluate(system, QUERIES, "MRR")["MRR"]


def test_functions_are_asked_as_they_are() -> None:
    async def later(text: str) -> list[str]:
        await asyncio.sleep(0)
        return FOUND[text]

    class Engine:
        def __call__(self, text: str) -> list[str]:
            return FOUND[text]

    assert measured(FOUND.__getitem__) == measured(later) == measured(Engine()) == MRR


def test_an_encoder_and_an_index_are_asked_together() -> None:
    class Encoder:
        def encode(self, texts: list[str]) -> Any:
            return np.array([[1.0, 0.2] if text == "itch" else [0.0, 1.0] for text in texts], "f4")

    index = faiss.IndexFlatIP(2)
    index.add(np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]], "f4"))
    assert asked((Encoder(), index))("itch")[0][0] == 1
    assert measured((Encoder(), index, ["d7", "d1", "d2"])) == 1.0
    assert measured((lambda text: Encoder().encode([text]), index, ["d7", "d1", "d2"])) == 1.0
    with pytest.raises(UsageError, match="the index has 3 rows, but there are 2 ids"):
        measured((Encoder(), index, ["d1", "d2"]))
    with pytest.raises(UsageError, match=r"give \(model, index, ids\)"):
        measured(index)
    with pytest.raises(UsageError, match="the index is empty"):
        measured((Encoder(), faiss.IndexFlatIP(2)))
    other = faiss.IndexFlatIP(3)
    other.add(np.ones((1, 3), "f4"))
    with pytest.raises(TooManyErrorsError, match=r"vectors of 2 numbers, but the index holds 3"):
        measured((Encoder(), other))


def test_a_function_that_wants_the_number_of_results_is_told_it() -> None:
    class Engine:
        def __call__(self, text: str, top_k: int) -> list[str]:
            return FOUND[text][:top_k]

    def by_name(query: str, *, limit: int) -> list[str]:
        return FOUND[query][:limit]

    def by_place(query: str, k: int, /) -> list[str]:
        return FOUND[query][:k]

    def its_own(query: str, k: int = 1) -> list[str]:
        return FOUND[query][:k]

    def whole(query: GoldenQuery, k: int) -> list[str]:
        return FOUND[query.query_text][:k]

    assert measured(by_name) == measured(by_place) == measured(Engine()) == MRR
    assert asked(by_place, 1)("itch") == asked(by_name, 1)("itch") == ["d2"]
    assert measured(its_own) == 0.5  # the default of its owner stays
    assert given_system(whole).retrieve(QUERIES.queries[0]) == FOUND["itch"]


def test_what_cannot_be_asked_is_refused_with_what_it_is() -> None:
    with pytest.raises(UsageError, match=r"types\.SimpleNamespace cannot be asked"):
        measured(SimpleNamespace(search=1))


def test_a_retriever_of_langchain() -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.messages import AIMessage
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableLambda, RunnableParallel

    class Retriever(BaseRetriever):
        def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
            return [Document(page_content="x", metadata={"id": one}) for one in FOUND[query]]

    assert measured(Retriever()) == MRR
    assert measured(RunnableLambda(str) | Retriever()) == MRR

    def answer(found: dict[str, Any]) -> AIMessage:
        usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
        return AIMessage("an answer", usage_metadata=usage)

    chain = RunnableParallel(context=Retriever()).assign(answer=RunnableLambda(answer))
    result = assay.evaluate(chain, QUERIES, "MRR")
    assert result["MRR"] == MRR
    assert result.usage == Usage(None, 14, 10, 4)


def test_chains_of_langchain_that_take_a_dict() -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    def retrieve(text: str) -> list[dict[str, str]]:
        return [{"id": one} for one in FOUND[text]]

    for name in ("input", "query", "question"):
        context = RunnableLambda(lambda given, name=name: retrieve(given[name]))
        chain = RunnablePassthrough.assign(context=context).assign(answer=lambda given: "yes")
        assert measured(chain) == MRR
    context = RunnableLambda(lambda given: retrieve(given["words"]))
    picked = itemgetter("query") | RunnableLambda(retrieve)
    assert measured(RunnablePassthrough.assign(context=picked)) == MRR
    own = RunnablePassthrough.assign(context=context)
    assert measured(assay.system(own, input_key="words")) == MRR


ROOT = {"type": "object", "properties": {"root": {"title": "Root"}}, "required": ["root"]}


class Chain:
    """What a chain of LangChain is to us: it takes a dict with the text under one name."""

    __module__ = "langchain_core.runnables"

    def __init__(self, key: str, schema: dict[str, Any] | None) -> None:
        self.key, self.schema, self.calls = key, schema, 0

    def get_input_jsonschema(self) -> dict[str, Any]:
        """What it takes, where it knows."""
        if self.schema is None:
            raise NotImplementedError
        return self.schema

    def invoke(self, given: Any) -> dict[str, Any]:
        """The documents beside an answer."""
        self.calls += 1
        assert isinstance(given, dict), "The input must be a dict."
        return {**given, "context": [{"id": one} for one in FOUND[given[self.key]]], "answer": "a"}


@pytest.mark.parametrize("key", ["input", "query", "question"])
@pytest.mark.parametrize("schema", [None, {}, {"type": "object"}, ROOT])
def test_a_chain_that_does_not_say_what_it_takes_is_tried(
    key: str, schema: dict[str, Any] | None
) -> None:
    chain = Chain(key, schema)
    assert measured(chain) == MRR
    assert chain.calls <= 5


def test_a_chain_says_or_is_told_under_which_name_it_takes_the_text() -> None:
    for names in (["words"], ["question", "history"]):
        schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
        chain = Chain(names[0], schema)
        assert measured(chain) == MRR
        assert chain.calls == len(QUERIES.queries)
    own = Chain("prompt", None)
    with pytest.raises(TooManyErrorsError, match="must be a dict"):
        measured(own)
    assert measured(assay.system(own, input_key="prompt")) == MRR
    with pytest.raises(UsageError, match="takes no input_key"):
        assay.system(FOUND.__getitem__, input_key="prompt")


def test_a_vector_store_of_langchain() -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    class Words(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [self.embed_query(text) for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return [1.0, 0.1] if "itch" in text else [0.1, 1.0]

    store = InMemoryVectorStore(Words())
    papers = {"d1": "itching", "d2": "a fever"}
    store.add_documents([Document(text, metadata={"pmid": one}) for one, text in papers.items()])
    assert measured(assay.system(store, id_field="pmid")) == 1.0
    assert len(asked(store, 1)("itch")) == 1
    assert measured(store) == measured(store.as_retriever()) == 1.0  # not by the ids that it made
    own = InMemoryVectorStore(Words())
    own.add_documents([Document(text, metadata={"id": one}) for one, text in papers.items()])
    for system in (
        own,
        assay.system(own, id_field="id"),
        assay.system(own, id_field="metadata.id"),
    ):
        result = assay.evaluate(system, QUERIES, "MRR")
        assert result["MRR"] == 1.0
    assert any("metadata.id" in said for said in assay.evaluate(own, QUERIES, "MRR").warnings())


def test_a_retriever_and_an_engine_of_llama_index() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.base.response.schema import Response
    from llama_index.core.chat_engine.types import AgentChatResponse
    from llama_index.core.query_engine import CustomQueryEngine
    from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode

    def nodes(text: str) -> list[NodeWithScore]:
        return [
            NodeWithScore(score=1.0, node=TextNode(
                id_=f"{one}-part", text="x",
                relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=one)},
            ))
            for one in FOUND[text]
        ]  # fmt: skip

    class Retriever(BaseRetriever):
        def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
            return nodes(query_bundle.query_str)

    class Engine(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Response:
            return Response("an answer", source_nodes=nodes(query_str))

    class Chat:  # as chat engines are asked
        __module__ = "llama_index.core.chat_engine"

        def chat(self, message: str) -> AgentChatResponse:
            return AgentChatResponse("an answer", source_nodes=nodes(message))

    async def later(text: str) -> Any:
        return await Engine().aquery(text)

    every = (Retriever(), Engine(), Engine().query, Engine().aquery, later, Chat())
    for system in every:
        result = assay.evaluate(system, QUERIES, "MRR", match="doc")
        assert result["MRR"] == MRR
    assert all(result.outcomes[0].answer for result in (
        assay.evaluate(system, QUERIES, "MRR", match="doc") for system in every[1:]
    ))  # fmt: skip


@pytest.mark.parametrize("name", ["id", "pmid", "doc_id"])
def test_an_index_of_llama_index_with_ids_in_its_metadata(name: str) -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core import Document, VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding

    class Words(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return [1.0, 0.1] if "itch" in text else [0.1, 1.0]

        _get_query_embedding = _get_text_embedding

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    papers = [Document(text=f"{text} is treated", metadata={name: one})
              for one, text in (("d1", "itch"), ("d2", "fever"))]  # fmt: skip
    index = VectorStoreIndex.from_documents(papers, embed_model=Words())
    assert measured(index) == 1.0


@pytest.mark.parametrize("name", ["id", "pmid", "doc_id"])
def test_a_pipeline_of_haystack_with_ids_in_its_metadata(name: str) -> None:
    pytest.importorskip("haystack")
    from haystack import Document, Pipeline
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents([
        Document(content=f"{text} is treated", meta={name: one})
        for one, text in (("d1", "itch"), ("d2", "fever"))
    ])  # fmt: skip
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store))
    assert measured(pipeline) == measured(assay.system(pipeline, id_field=f"meta.{name}")) == 1.0


def test_a_pipeline_of_haystack() -> None:
    pytest.importorskip("haystack")
    from haystack import Document, Pipeline, component

    @component
    class Retriever:
        @component.output_types(documents=list[Document])
        def run(self, query: str) -> dict[str, Any]:
            return {"documents": [Document(id=one, content="x") for one in FOUND[query]]}

    @component
    class Generator:
        def __init__(self) -> None:
            component.set_input_types(self, documents=list[Document], asked=str)

        @component.output_types(replies=list[str], meta=list[dict[str, Any]])
        def run(self, **given: Any) -> dict[str, Any]:
            usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
            return {"replies": ["an answer"], "meta": [{"usage": usage}]}

    pipeline = Pipeline()
    pipeline.add_component("retriever", Retriever())
    assert measured(pipeline) == MRR
    assert measured(Retriever()) == MRR
    pipeline.add_component("generator", Generator())
    pipeline.connect("retriever.documents", "generator.documents")
    result = assay.evaluate(pipeline, QUERIES, "MRR")
    assert result["MRR"] == MRR  # by the documents that the generator was given
    assert result.usage == Usage(None, 14, 10, 4)
