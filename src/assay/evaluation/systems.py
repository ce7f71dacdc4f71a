"""How is a retrieval system of another library asked, without glue?

``assay.evaluate`` takes functions, and these as they are: retrievers and chains of LangChain,
retrievers and query engines of LlamaIndex, pipelines and retrievers of Haystack, and a pair of an
encoder and an index of faiss. Systems are told by their library and their methods; none is imported
here. What is none of these is refused with what was seen.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from assay.errors import UsageError

Ask: TypeAlias = Callable[[Any], Any]
COMPONENT = "__haystack_input__"  # which any class may become
QUERY_INPUTS = ("query", "text", "question")  # of components of a pipeline


def asked(system: Any) -> Ask:
    """A function that asks the system for a text."""
    if inspect.isroutine(system) or inspect.isclass(system):
        return system
    for fits, ask in (
        (_is_of(system, "langchain"), _langchain),
        (_is_of(system, "llama_index"), _llama_index),
        (_is_of(system, "haystack") or hasattr(system, COMPONENT), _haystack),
        (_is_faiss_pair(system), _faiss),
    ):
        if fits and (found := ask(system)) is not None:
            return found
    if callable(system):
        return system  # type: ignore[no-any-return]
    raise UsageError(
        f"{type(system).__module__}.{type(system).__qualname__} cannot be asked for a text",
        hint="give a function that takes a query and returns results: "
        "lambda text: client.search(text)",
    )


def _is_of(system: Any, library: str) -> bool:
    """Whether its class, or one above it, comes from this library or its packages."""
    roots = (one.__module__.partition(".")[0] for one in type(system).__mro__)
    return any(root == library or root.startswith(f"{library}_") for root in roots)


def _langchain(system: Any) -> Ask | None:
    return system.invoke if hasattr(system, "invoke") else None


def _llama_index(system: Any) -> Ask | None:
    if hasattr(system, "query"):  # an engine; its retrieve may only raise
        return lambda text: [_of_node(one) for one in system.query(text).source_nodes]
    if hasattr(system, "retrieve"):
        return lambda text: [_of_node(one) for one in system.retrieve(text)]
    return None


def _of_node(found: Any) -> dict[str, Any]:
    """A node with its score; it knows the document that it was cut from."""
    node = found.node
    document = getattr(node, "ref_doc_id", None)
    return {
        "chunk_id": node.node_id,
        "score": found.score,
        **({"doc_id": document} if document else {}),
    }


def _haystack(system: Any) -> Ask | None:
    if not hasattr(system, "run"):
        return None
    if hasattr(system, "inputs"):  # a pipeline
        return lambda text: _documents(system.run(_inputs(system.inputs(), text)))
    return lambda text: _documents(system.run(query=text))


def _inputs(wanted: Mapping[str, Mapping[str, Any]], text: str) -> dict[str, dict[str, str]]:
    """The text for every component that waits for a query."""
    given = {
        component: {name: text for name in QUERY_INPUTS if name in sockets}
        for component, sockets in wanted.items()
    }
    found = {component: inputs for component, inputs in given.items() if inputs}
    if not found:
        sockets = ", ".join(f"{one}.{name}" for one, names in wanted.items() for name in names)
        raise UsageError(
            f"no component of the pipeline takes a query (inputs: {sockets:.200})",
            hint="give a function that runs it and returns the documents",
        )
    return found


def _documents(answer: Any) -> Any:
    """The documents in an answer: of the last component that gave some."""
    lists = list(_lists(answer))
    if not lists:
        raise UsageError(
            f"the answer holds no documents ({', '.join(map(str, answer))[:200]})",
            hint="give a function that runs the pipeline and returns the documents",
        )
    return lists[-1]


def _lists(answer: Mapping[str, Any]) -> Iterator[Any]:
    for name, value in answer.items():
        if name == "documents":
            yield value
        elif isinstance(value, Mapping):
            yield from _lists(value)


def _is_faiss_pair(system: Any) -> bool:
    """An encoder and an index, with the ids of its rows where these are not numbers."""
    return (
        isinstance(system, tuple)
        and len(system) in (2, 3)
        and hasattr(system[0], "encode")
        and hasattr(system[1], "ntotal")
    )


def _faiss(system: tuple[Any, ...]) -> Ask:
    encoder, index = system[:2]
    ids: Sequence[Any] | None = system[2] if len(system) == 3 else None

    def ask(text: str, depth: int = 100) -> list[tuple[Any, float]]:
        """The nearest rows; their scores may be distances, so their order counts."""
        vectors = encoder.encode([text])
        scores, rows = index.search(vectors, min(depth, index.ntotal))
        found = zip(rows[0].tolist(), scores[0].tolist(), strict=True)
        return [(row if ids is None else ids[row], score) for row, score in found if row >= 0]

    return ask
