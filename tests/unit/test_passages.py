"""Do LangChain, LlamaIndex and Haystack search with assay as with any retriever of theirs?

The real packages are tried where they are installed (the extra ``adapters``).
"""

# mypy: disable-error-code="misc, untyped-decorator"

from __future__ import annotations

import asyncio
import importlib
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.app.workspace import Workspace
from assay.errors import MissingDependencyError, MissingFileError, UsageError
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.passages import found, opened
from assay.settings import configure
from tests.unit.http.process import ServiceProcess

WORDS_ONLY = {"splade_model": "none", "dense_model": "none", "components": "bm25"}
ROWS = [
    {"doc_id": "d1", "title": "Zolpidem", "text": "Zolpidem is taken at bedtime, 5 mg.",
     "metadata": {"year": 2019, "doc_id": "forged", "score": 99}},
    {"doc_id": "d2", "text": "Cetirizine relieves itching; 10 mg a day.",
     "metadata": {"title": "Of itch", "section": "S9"}},
]  # fmt: skip
QUERIES = TestSet("two", "v1", (
    GoldenQuery("q1", "zolpidem at bedtime", relevant_docs=(Judgment("d1", 1),)),
    GoldenQuery("q2", "cetirizine itching", relevant_docs=(Judgment("d2", 1),)),
))  # fmt: skip


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    home = tmp_path_factory.mktemp("passages") / "home"
    with Workspace(configure({"home": home, **WORDS_ONLY})) as made:
        made.add(ROWS)
        yield made


def test_metadata_of_a_document_cannot_pass_for_ours(workspace: Workspace) -> None:
    (first, *_) = found(workspace, "zolpidem", 3, {})
    assert first.metadata["doc_id"] == first.doc_id == "d1"
    assert first.metadata["score"] == first.score != 99
    assert (first.metadata["year"], first.metadata["title"]) == (2019, "Zolpidem")
    assert len(found(workspace, "mg", 1, {})) == 1


def test_title_and_section_of_the_metadata_come_back(workspace: Workspace) -> None:
    (first,) = found(workspace, "cetirizine", 1, {})
    assert (first.metadata["title"], first.metadata["section"]) == ("Of itch", "S9")


def test_a_place_is_a_folder_an_address_or_what_was_opened(
    workspace: Workspace, tmp_path: Path
) -> None:
    assert opened(workspace) is workspace
    assert getattr(opened("http://127.0.0.1:1"), "address", "") == "http://127.0.0.1:1"
    with pytest.raises(MissingFileError, match="there is no workspace"):
        opened(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["langchain", "llamaindex", "haystack"])
def test_a_library_that_is_not_there_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package = {"langchain": "langchain_core", "llamaindex": "llama_index"}.get(name, name)
    for module in [one for one in sys.modules if one.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"assay.{name}", raising=False)
    with pytest.raises(MissingDependencyError, match="pip install"):
        importlib.import_module(f"assay.{name}")


def test_a_retriever_for_langchain(workspace: Workspace) -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.runnables import RunnableLambda

    from assay.langchain import AssayRetriever

    retriever = AssayRetriever(assay=workspace, k=1)
    (document,) = retriever.invoke("zolpidem")
    assert document.metadata["doc_id"] == "d1"
    assert document.page_content.startswith("Zolpidem")
    (again,) = asyncio.run(retriever.ainvoke("zolpidem"))
    assert again == document
    chain = retriever | RunnableLambda(lambda found: [one.id for one in found])
    assert chain.invoke("cetirizine") == ["d2:chunk_0"]
    assert assay.evaluate(retriever, QUERIES, "MRR")["MRR"] == 1.0
    with pytest.raises(UsageError):
        AssayRetriever(assay=workspace, options={"colour": "red"})
    assert len(AssayRetriever(assay=workspace).invoke("mg", k=1)) == 1
    with pytest.raises(UsageError, match="'kk' is not a search option"):
        retriever.invoke("mg", kk=1)
    mistyped: dict[str, Any] = {"kk": 1}
    with pytest.raises(ValueError, match="kk"):
        AssayRetriever(assay=workspace, **mistyped)


def test_a_retriever_for_llama_index(workspace: Workspace) -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.llms.mock import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine

    from assay.llamaindex import AssayRetriever

    retriever = AssayRetriever(workspace, k=1, collapse=True)
    (node,) = retriever.retrieve("zolpidem")
    assert (node.node.ref_doc_id, node.node_id) == ("d1", "d1:chunk_0")
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    for system in (retriever, engine):
        assert assay.evaluate(system, QUERIES, "MRR")["MRR"] == 1.0
    with pytest.raises(UsageError, match="'kk' is not a search option"):
        AssayRetriever(workspace, kk=1)


def test_a_component_for_haystack(workspace: Workspace) -> None:
    pytest.importorskip("haystack")
    from haystack import Pipeline

    from assay.haystack import AssayRetriever

    component = AssayRetriever(workspace, k=1)
    pipeline = Pipeline()
    pipeline.add_component("retriever", component)
    (document,) = pipeline.run({"query": "zolpidem"})["retriever"]["documents"]
    assert (document.id, document.meta["doc_id"]) == ("d1:chunk_0", "d1")
    assert assay.evaluate(pipeline, QUERIES, "MRR")["MRR"] == 1.0
    assert len(component.run("mg", top_k=2)["documents"]) == 2
    assert component.run("mg", filters={"doc_id": "d2"})["documents"][0].meta["doc_id"] == "d2"
    with pytest.raises(UsageError, match="cannot be written"):
        component.to_dict()
    with pytest.raises(UsageError, match="is not a search option"):
        AssayRetriever(workspace, options={"kk": 1})


CONDITION = {"field": "meta.year", "operator": ">=", "value": 2019}


@pytest.mark.parametrize(
    ("filters", "found_ids"),
    [
        (CONDITION, ["d1"]),
        ({"field": "year", "operator": ">", "value": 2019}, []),
        ({"field": "meta.title", "operator": "in", "value": ["Of itch", "x"]}, ["d2"]),
        ({"field": "meta.year", "operator": "not in", "value": [2019, 2020]}, ["d2"]),
        ({"operator": "AND", "conditions": [
            CONDITION, {"field": "meta.year", "operator": "==", "value": 2019}]}, ["d1"]),
        ({"field": "meta.doc_id", "operator": "==", "value": "d2"}, ["d2"]),
        ({"doc_id": ["d2"]}, ["d2"]),
        (None, ["d1", "d2"]),
    ],
)  # fmt: skip
def test_filters_of_haystack_are_those_of_a_search(
    workspace: Workspace, filters: dict[str, Any] | None, found_ids: list[str]
) -> None:
    pytest.importorskip("haystack")
    from assay.haystack import AssayRetriever

    given = AssayRetriever(workspace).run("mg", filters=filters)["documents"]
    assert sorted(one.meta["doc_id"] for one in given) == found_ids


@pytest.mark.parametrize(
    "filters",
    [
        {"operator": "OR", "conditions": [CONDITION]},
        {"operator": "AND", "conditions": [{"operator": "NOT", "conditions": [CONDITION]}]},
        {"field": "meta.doc_id", "operator": "!=", "value": "d2"},
        {"field": "meta.year", "operator": "=>", "value": 2019},
        {"field": "meta.year", "operator": ">="},
    ],
)
def test_filters_of_haystack_that_a_search_does_not_have_are_refused(
    workspace: Workspace, filters: dict[str, Any]
) -> None:
    pytest.importorskip("haystack")
    from assay.haystack import AssayRetriever

    with pytest.raises(UsageError, match="filter"):
        AssayRetriever(workspace).run("mg", filters=filters)


def test_a_retriever_of_langchain_goes_to_another_process_by_its_place(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langchain_core")
    from assay.langchain import AssayRetriever

    for name, value in WORDS_ONLY.items():
        monkeypatch.setenv(f"ASSAY_{name.upper()}", value)
    made = AssayRetriever(assay=workspace.home, k=1)
    again = pickle.loads(pickle.dumps(made))
    assert again.assay is not made.assay
    assert again.invoke("zolpidem") == made.invoke("zolpidem")
    again.assay.close()
    made.assay.close()
    with pytest.raises(UsageError, match="cannot be written"):
        pickle.dumps(AssayRetriever(assay=workspace))


def test_a_pipeline_of_haystack_is_written_and_loaded(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("haystack")
    from haystack import Pipeline

    from assay.haystack import AssayRetriever

    for name, value in WORDS_ONLY.items():
        monkeypatch.setenv(f"ASSAY_{name.upper()}", value)
    pipeline = Pipeline()
    made: Any = AssayRetriever(workspace.home, k=1, options={"collapse": True})
    pipeline.add_component("retriever", made)
    again = Pipeline.loads(pipeline.dumps())
    (document,) = again.run({"query": "zolpidem"})["retriever"]["documents"]
    assert document.meta["doc_id"] == "d1"
    loaded: Any = again.get_component("retriever")
    assert (loaded.k, loaded.place, loaded.options) == (1, str(workspace.home), {"collapse": True})
    made.assay.close()
    loaded.assay.close()


@pytest.mark.slow
def test_a_service_is_searched_as_a_workspace_is(workspace: Workspace) -> None:
    here = found(workspace, "zolpidem", 2, {})
    environ = {f"ASSAY_{name.upper()}": value for name, value in WORDS_ONLY.items()}
    with ServiceProcess(workspace.home, **environ) as process:
        service: Any = opened(process.address)
        try:
            assert found(service, "zolpidem", 2, {}) == here
        finally:
            service.close()
