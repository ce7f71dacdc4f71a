"""How is a retrieval system of another library asked, without glue?

``assay.evaluate`` takes functions, and these as they are: retrievers, chains and vector stores of
LangChain, retrievers, engines and indexes of LlamaIndex, pipelines and retrievers of
Haystack, a pair of an encoder and an index of faiss, and collections of Chroma and tables of
LanceDB that encode by themselves. ``assay.system`` adds what the others need: the collection of a
client, an encoder, a template, the field that holds the ids. Systems are told by their library and
their methods; none is imported here. What is none of these is refused with what was seen.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from assay.errors import UsageError
from assay.evaluation.engines import (
    DEPTH,
    ENCODERS,
    Ask,
    EngineQuery,
    engine_ask,
    is_of,
    then,
    vector_of,
)
from assay.evaluation.returned import USAGE_NAMES, renamed
from assay.plural import counted

COMPONENT = "__haystack_input__"  # which any class may become
QUERY_INPUTS = ("query", "text", "question")  # of components of a pipeline
TEXTS = (str, Any)  # types of inputs that the text of a query may fill, such as those of a prompt
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
CONTEXTS = ("context", "documents", "source_documents")  # where chains of LangChain keep documents
ANSWERS = ("answer", "result")
HOW_MANY = ("k", "top_k", "topk", "n", "limit", "size", "num_results", "n_results", "max_results")
"""What functions call the number of results that they must be told."""
CHAIN_INPUTS = ("input", "query", "question")  # under which chains of LangChain want the text
ANY_INPUT = "root"  # the name in a schema of LangChain that tells nothing
_NO_TEXT = (AssertionError, AttributeError, KeyError, TypeError, ValueError)
"""What chains raise that want a dict."""


@dataclass(frozen=True, slots=True)
class RetrievalSystem:
    """A system with what it takes to ask it; ``assay.system`` makes one.

    It can be called with a text, and goes into ``assay.evaluate`` or, by its name in a module,
    into ``assay eval run --retriever``.
    """

    ask: Ask
    name: str
    id_field: str | None = None
    doc_field: str | None = None

    def __call__(self, text: str) -> Any:
        """What the system answers, with the ids that were asked for."""
        answer = self.ask(text)
        if self.id_field is None and self.doc_field is None:
            return answer
        return then(answer, lambda found: renamed(found, self.id_field, self.doc_field))


def system(
    engine: Any,
    collection: str | None = None,
    *,
    encode: Any = None,
    query: Any = None,
    k: int = DEPTH,
    id_field: str | None = None,
    doc_field: str | None = None,
    input_key: str | None = None,
    **options: Any,
) -> RetrievalSystem:
    """A system to evaluate, with how its queries become calls.

    ``engine`` is a client of qdrant, Chroma, LanceDB or OpenSearch (or a collection or table), or
    anything that ``assay.evaluate`` takes. ``collection`` names what a client should search.
    ``encode`` is a function or a model that makes a vector of a text; ``query`` what the client is
    sent instead: a template with ``{query_text}``, ``{k}`` and ``{vector}``, or a function of the
    text. ``id_field`` and ``doc_field`` name the fields of a result that hold the id and the
    document, also among its metadata or as a path (``metadata.id``). ``input_key`` is the name
    under which a chain of LangChain takes the text, where its schema does not say. Other
    ``options`` go to the client's call.

    >>> papers = [{"pmid": 7, "title": "Aspirin"}]
    >>> system(lambda text: papers, id_field="pmid")("aspirin")[0]["chunk_id"]
    7
    """
    if input_key is not None:
        if not (is_of(engine, "langchain") and hasattr(engine, "invoke")):
            hint = "it is for chains of LangChain"
            raise UsageError(f"{name_of(engine)} takes no input_key", hint=hint)
        return RetrievalSystem(_Chain(engine, input_key), name_of(engine), id_field, doc_field)
    asked_for = EngineQuery(collection, encode, query, k, options)
    found = engine_ask(engine, asked_for)
    if found is None:
        given = [name for name in ("collection", "encode", "query") if getattr(asked_for, name)]
        if given or options:
            raise UsageError(
                f"{name_of(engine)} takes no {', '.join([*given, *options])}",
                hint="these are for clients of qdrant, Chroma, LanceDB and OpenSearch",
            )
        found = asked(engine, k)
    return RetrievalSystem(found, name_of(engine), id_field, doc_field)


def asked(system: Any, k: int = DEPTH) -> Ask:
    """A function that asks the system for a text, for ``k`` results where it can be told so."""
    if inspect.isroutine(system):
        return _with_k(system, k)
    if inspect.isclass(system):
        return system
    for fits, ask in (
        (is_of(system, "assay"), _own),
        (is_of(system, "langchain"), _langchain),
        (is_of(system, "llama_index"), _llama_index),
        (is_of(system, "haystack") or hasattr(system, COMPONENT), _haystack),
        (_is_faiss_pair(system), _faiss),
        (True, _engine),
    ):
        if fits and (found := ask(system, k)) is not None:
            return found
    if callable(system):
        return _with_k(system, k)
    raise UsageError(
        f"{name_of(system)} cannot be asked for a text",
        hint="give (model, index, ids)"
        if hasattr(system, "ntotal")
        else "give a function that takes a query and returns results: "
        "lambda text: client.search(text)",
    )


def _own(system: Any, k: int) -> Ask | None:
    """A workspace or the client of a service."""
    return partial(system.search, k=k) if hasattr(system, "search") else None


def _with_k(function: Callable[..., Any], k: int) -> Ask:
    """The function, told the number of results where it cannot be called without."""
    try:
        _, *others = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # it has no parameter, or is not of Python
        return function
    needed = [one for one in others if one.default is one.empty and one.kind not in _VARIADIC]
    if len(needed) != 1 or needed[0].name not in HOW_MANY:
        return function
    if needed[0].kind is inspect.Parameter.POSITIONAL_ONLY:
        return lambda text: function(text, k)
    return partial(function, **{needed[0].name: k})


def name_of(system: Any) -> str:
    """The module and name of a function, or of the class of a system."""
    if isinstance(system, tuple):
        return " and ".join(map(name_of, system[:2]))
    kind = system if inspect.isroutine(system) or inspect.isclass(system) else type(system)
    return f"{kind.__module__}.{kind.__qualname__}"


def _engine(system: Any, k: int) -> Ask | None:
    return engine_ask(system, EngineQuery(k=k))


def _langchain(system: Any, k: int) -> Ask | None:
    if hasattr(system, "invoke"):
        return _Chain(system)
    if hasattr(system, "similarity_search"):  # a vector store
        return lambda text: system.similarity_search(text, k=k)
    return None


class _Chain:
    """A retriever or chain of LangChain, asked in the form that it takes: the text, or a dict.

    Its schema tells the name in the dict. Where it tells nothing, the text is tried, then the usual
    names; what was answered first is used from then on.
    """

    def __init__(self, chain: Any, key: str | None = None) -> None:
        self._chain = chain
        known = key or _input_key(chain)
        self._keys: tuple[str, ...] = ("", *CHAIN_INPUTS) if known is None else (known,)

    def __call__(self, text: str) -> Any:
        """What the chain answers."""
        problem: Exception | None = None
        for key in self._keys:
            try:
                answer = self._chain.invoke({key: text} if key else text)
            except _NO_TEXT as refused:
                problem = problem or refused
            else:
                self._keys = (key,)
                return _of_chain(answer)
        assert problem is not None
        raise problem


def _input_key(chain: Any) -> str | None:
    """The name under which a chain takes the text; empty for the text itself, None if unknown."""
    try:
        schema: Any = chain.get_input_jsonschema()
        kind = schema.get("type")
        names = [name for name in schema.get("properties", ()) if name != ANY_INPUT]
    except Exception:  # schemas are made from the caller's own code
        return None
    if kind == "string":
        return ""
    usual = [name for name in CHAIN_INPUTS if name in names]
    return next(iter(usual or (names if len(names) == 1 else ())), None)


def _of_chain(answer: Any) -> Any:
    """The documents that a chain hands on beside its answer, and what the answer cost."""
    if not isinstance(answer, Mapping):
        return answer
    listed = next((answer[name] for name in CONTEXTS if isinstance(answer.get(name), list)), None)
    if listed is None:
        return answer
    said = [answer[name] for name in ANSWERS if name in answer]
    usage = (getattr(one, "usage_metadata", None) for one in said)
    told = {"answer": said[0]} if said else {}
    return {"results": listed, "usage": next(filter(None, usage), None), **told}


def _llama_index(system: Any, k: int) -> Ask | None:
    if hasattr(system, "as_retriever"):  # an index, a graph; some engines have it, too
        return system.as_retriever(similarity_top_k=k).retrieve  # type: ignore[no-any-return]
    asking = ("query", "chat", "retrieve")  # of engines, whose retrieve may only raise; retrievers
    return next((getattr(system, name) for name in asking if hasattr(system, name)), None)


def _haystack(system: Any, k: int) -> Ask | None:
    if not hasattr(system, "run"):
        return None
    if hasattr(system, "inputs"):  # a pipeline; what a generator is given counts, too
        every = system.outputs(include_components_with_connected_outputs=True)
        giving = {name for name, sockets in every.items() if "documents" in sockets}
        return lambda text: _documents(
            system.run(_inputs(system.inputs(), text), include_outputs_from=giving)
        )
    return lambda text: _documents(system.run(query=text))


def _inputs(wanted: Mapping[str, Mapping[str, Any]], text: str) -> dict[str, dict[str, str]]:
    """The text for every component that waits for a query, or cannot run without a text."""
    given = {
        component: {
            name: text
            for name, socket in sockets.items()
            if name in QUERY_INPUTS or (socket.get("is_mandatory") and socket.get("type") in TEXTS)
        }
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
    """The documents in an answer, of the last component that gave some, and what it all cost."""
    lists = list(_held(answer, ("documents",)))
    if not lists:
        raise UsageError(
            f"the answer holds no documents ({', '.join(map(str, answer))[:200]})",
            hint="give a function that runs the pipeline and returns the documents",
        )
    return {"results": lists[-1], "usage": _summed(_held(answer, USAGE_NAMES))}


def _held(answer: Any, names: Sequence[str]) -> Iterator[Any]:
    """What stands under these names, at any depth; replies keep it in ``meta``."""
    if isinstance(answer, list):
        for one in answer:
            yield from _held(getattr(one, "meta", one) if not isinstance(one, str) else None, names)
    elif isinstance(answer, Mapping):
        for name, value in answer.items():
            if name in names:
                yield value
            else:
                yield from _held(value, names)


def _summed(usages: Iterator[Any]) -> dict[str, Any] | None:
    """The tokens of every component together."""
    found: dict[str, Any] = {}
    for usage in usages:
        for name, count in usage.items() if isinstance(usage, Mapping) else ():
            if isinstance(count, (int, float)) and not isinstance(count, bool):
                found[name] = found.get(name, 0) + count
    return found or None


def _is_faiss_pair(system: Any) -> bool:
    """An encoder and an index, with the ids of its rows where these are not numbers."""
    return (
        isinstance(system, tuple)
        and len(system) in (2, 3)
        and hasattr(system[1], "ntotal")
        and (callable(system[0]) or any(hasattr(system[0], name) for name in ENCODERS))
    )


def _faiss(system: tuple[Any, ...], k: int) -> Ask:
    encoder, index = system[:2]
    if not index.ntotal:
        raise UsageError("the index is empty", hint="add the vectors of the documents to it")
    ids: Sequence[Any] | None = system[2] if len(system) == 3 else None
    if ids is not None and len(ids) < index.ntotal:
        raise UsageError(
            f"the index has {counted(index.ntotal, 'row')}, but there are {len(ids):,} ids",
            hint="give an id for each row, in the order in which they were added",
        )

    def ask(text: str) -> list[tuple[Any, float]]:
        """The nearest rows; their scores may be distances, so their order counts."""
        if hasattr(encoder, "encode"):
            vectors = encoder.encode([text])
        else:
            vectors = np.asarray([vector_of(encoder, text)], dtype=np.float32)
        if (length := np.shape(vectors)[-1]) != index.d:
            raise UsageError(
                f"the encoder makes vectors of {length} numbers, but the index holds {index.d}",
                hint="give the model that made the vectors of the index",
            )
        scores, rows = index.search(vectors, min(k, index.ntotal))
        found = zip(rows[0].tolist(), scores[0].tolist(), strict=True)
        return [(row if ids is None else ids[row], score) for row, score in found if row >= 0]

    return ask
