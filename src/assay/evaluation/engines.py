"""How does a query become a call of an engine's client: qdrant, Chroma, LanceDB, OpenSearch?

What is sent is a vector where there is an encoder, else the text; a template or a function of the
caller's own says otherwise. Clients are told by their library, which is never imported here; those
that answer with coroutines are waited for. ``returned.py`` reads what comes back.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from assay import limits
from assay.errors import UsageError
from assay.evaluation.templates import check_names, filled, require_variables

Ask: TypeAlias = Callable[[Any], Any]
DEPTH = 100
NAMES = ("query_text", "k", "vector")
"""What a template may name in braces."""
ENCODERS = ("encode", "embed_query", "get_query_embedding")
"""Methods that make a vector of a text: sentence-transformers, LangChain, LlamaIndex."""
EVERY_FIELD = {
    "query": {"multi_match": {"query": "{query_text}", "fields": ["*"], "lenient": True}}
}
"""What OpenSearch is sent where nobody says: the words, in any field."""


@dataclass(frozen=True, slots=True)
class EngineQuery:
    """What is asked of an engine for a text.

    ``collection`` is the name of the collection, table or index. ``encode`` is a function or a
    model that makes a vector of a text. ``query`` is what the client is sent instead: a template
    with ``{query_text}``, ``{k}`` and ``{vector}``, or a function of the text. ``options`` go to
    the client's call as they are.
    """

    collection: str | None = None
    encode: Any = None
    query: Any = None
    k: int = DEPTH
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 1 <= self.k <= limits.MAX_RESULTS:
            raise UsageError(f"k is {self.k}", hint=f"a number from 1 to {limits.MAX_RESULTS}")
        if not callable(self.query):
            check_names(self.query, NAMES, "query")
            require_variables(self.query)

    def sent(self, text: str, template: Any = None) -> Any:
        """What the client is sent; ``template`` where the caller gave none and has no encoder."""
        if callable(self.query):
            return self.query(text)
        vector = None if self.encode is None else vector_of(self.encode, text)
        wanted = template if self.query is None else self.query
        if wanted is not None:
            return filled(wanted, {"query_text": text, "k": self.k, "vector": vector})
        return text if vector is None else vector

    def named(self, what: str) -> str:
        """The collection, which this engine needs."""
        if self.collection is None:
            raise UsageError(
                f"which {what} should be asked?", hint=f'assay.system(client, "my_{what}")'
            )
        return self.collection


def engine_ask(client: Any, asked: EngineQuery) -> Ask | None:
    """A function that asks an engine's client; None where it is no client that we know."""
    for library, ask in _ENGINES.items():
        if is_of(client, library):
            return ask(client, asked)
    return None


def is_of(thing: Any, library: str) -> bool:
    """Whether its class, or one above it, comes from this library or its packages."""
    roots = (one.__module__.partition(".")[0] for one in type(thing).__mro__)
    return any(root == library or root.startswith(f"{library}_") for root in roots)


def then(value: Any, read: Callable[[Any], Any]) -> Any:
    """What ``read`` makes of a value, now or, where a coroutine brings the value, later."""
    return _later(value, read) if inspect.isawaitable(value) else read(value)


async def _later(value: Awaitable[Any], read: Callable[[Any], Any]) -> Any:
    found = read(await value)
    return await found if inspect.isawaitable(found) else found


def vector_of(encode: Any, text: str) -> list[float]:
    """The vector of a text, by a function or a model."""
    methods = (getattr(encode, name, None) for name in ENCODERS)
    method = next(filter(None, methods), encode)
    if not callable(method):
        raise UsageError(
            f"{type(encode).__qualname__} cannot encode a text",
            hint=f"give a function, or a model with {', '.join(ENCODERS)}",
        )
    made = method(text)
    try:
        vector = np.atleast_2d(np.asarray(made, dtype=np.float64))
    except (TypeError, ValueError):
        vector = np.empty((0, 0))
    if vector.ndim != 2 or len(vector) != 1 or not vector.size or not np.isfinite(vector).all():
        raise UsageError("encode gave no vector of finite numbers", hint="one vector for one text")
    found: list[float] = vector[0].tolist()
    return found


def _qdrant(client: Any, asked: EngineQuery) -> Ask:
    collection = asked.named("collection")
    if asked.encode is None and asked.query is None:
        raise UsageError(
            "qdrant is asked with vectors",
            hint="encode=model.encode, or query=... for its own form",
        )
    told = {"collection_name": collection, "limit": asked.k, "with_payload": True, **asked.options}
    return lambda text: client.query_points(query=asked.sent(text), **told)


def _chroma(client: Any, asked: EngineQuery) -> Ask:
    found = client if hasattr(client, "query") else client.get_collection(asked.named("collection"))
    found = _once(found)

    def ask(text: str) -> Any:
        sent = asked.sent(text)
        name = "query_texts" if isinstance(sent, str) else "query_embeddings"
        told = {name: [sent], "n_results": asked.k, **asked.options}
        return then(found(), lambda collection: collection.query(**told))

    return ask


def _lancedb(client: Any, asked: EngineQuery) -> Ask:
    found = client if hasattr(client, "search") else client.open_table(asked.named("table"))
    found = _once(found)

    def ask(text: str) -> Any:
        sent = asked.sent(text)
        query = then(found(), lambda table: table.search(sent, **asked.options))
        rows = then(query, lambda built: built.limit(asked.k).to_list())
        return then(rows, lambda listed: [_scored(row) for row in listed])

    return ask


def _scored(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of LanceDB with its score; distances rise, scores fall."""
    far = row.get("_distance")
    falling = next((row[n] for n in ("_relevance_score", "_score") if row.get(n) is not None), None)
    score = -far if falling is None and far is not None else falling
    return {**row, "score": score}


def _opensearch(client: Any, asked: EngineQuery) -> Ask:
    index = asked.named("index")
    if asked.encode is not None and asked.query is None:
        raise UsageError(
            "in which field are the vectors?",
            hint='query={"query": {"knn": {"my_field": {"vector": "{vector}", "k": "{k}"}}}}',
        )

    def ask(text: str) -> Any:
        body = {"size": asked.k, **asked.sent(text, EVERY_FIELD)}
        return client.search(index=index, body=body, **asked.options)

    return ask


def _once(found: Any) -> Callable[[], Any]:
    """What was opened, now or by a coroutine that the first call starts and others wait for."""
    started: list[asyncio.Future[Any]] = []

    async def later() -> Any:
        if not started:
            started.append(asyncio.ensure_future(found))
        return await started[0]

    return later if inspect.isawaitable(found) else lambda: found


_ENGINES: Mapping[str, Callable[[Any, EngineQuery], Ask]] = {
    "qdrant_client": _qdrant,
    "chromadb": _chroma,
    "lancedb": _lancedb,
    "opensearchpy": _opensearch,
    "elasticsearch": _opensearch,
}
