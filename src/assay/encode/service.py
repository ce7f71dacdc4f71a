"""How do vectors and scores come from a service over HTTP?

A model is named ``http+KIND:ADDRESS#MODEL?OPTIONS``. The kinds are ``openai`` (``/embeddings`` of
OpenAI and everything compatible), ``tei`` (Text Embeddings Inference: ``/embed`` and ``/rerank``)
and ``cohere`` (``/rerank`` of Cohere and everything compatible)::

    http+openai:https://api.openai.com/v1#text-embedding-3-small?dimensions=512
    http+tei:http://127.0.0.1:8080
    http+cohere:https://api.cohere.com/v2#rerank-v3.5

Texts go in batches, smaller ones where a service refuses so many. What may pass is tried again,
after the wait that the service asks for (``posting.py``). Vectors of passages are kept by the hash
of their text in the cache of the workspace (``cache.py``), those of queries and the scores of pairs
in memory. A vector of another length than the others is an error. The key comes from an environment
variable.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias, TypeVar
from urllib.parse import parse_qsl

import numpy as np
from numpy.typing import NDArray

from assay import limits
from assay.cache import Cache
from assay.encode.cache import text_key
from assay.encode.tokens import clipped
from assay.errors import LimitError, ModelServiceError, UsageError
from assay.model.vectors import DenseMatrix, Kind
from assay.plural import counted
from assay.posting import PostError, Reply, TooLongError, check_address, post

Service: TypeAlias = Literal["openai", "tei", "cohere"]

SCHEME = "http+"
_T = TypeVar("_T")
_TOO_MANY = re.compile(r"batch|too (?:many|large)|max", re.IGNORECASE)
_BATCHES: dict[Service, int] = {"openai": 64, "tei": 32, "cohere": 100}
_FORM = "http+openai:URL#MODEL, http+tei:URL or http+cohere:URL#MODEL"
_PATIENT, _PATIENT_S = 6, 300.0  # while an index is written
_QUICK, _QUICK_S = 2, 10.0  # while somebody waits
_PROBE = "Low-dose aspirin lowers the risk of a second heart attack."
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What an address may set: prefixes of texts, and how they are asked for.

    ``price`` is what a million tokens cost, in whatever currency; it changes no vector.
    """

    dimensions: int = 0
    query_prefix: str = ""
    passage_prefix: str = ""
    batch: int = 0
    price: float = 0.0


@dataclass(frozen=True, slots=True)
class Address:
    """A model behind a service, from its name."""

    name: str
    service: Service
    url: str
    model: str
    options: Options

    def identity(self) -> str:
        """The id of its vectors or scores: equal where all that can change them is equal.

        How many texts go in a request, and what they cost, changes none.
        """
        told = asdict(replace(self.options, batch=0, price=0.0))
        recipe = {"service": self.service, "url": self.url, "model": self.model, **told}
        digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
        named = f"{SCHEME}{self.service}:{self.url}" + (f"#{self.model}" if self.model else "")
        return f"{named}:0:{digest[:16]}"


@dataclass(frozen=True, slots=True)
class Usage:
    """What was asked of a service, and how often its answer was known."""

    requests: int = 0
    texts: int = 0
    tokens: int = 0
    known: int = 0
    cost: float = 0.0

    def __str__(self) -> str:
        said = f"{counted(self.requests, 'request')}, {counted(self.texts, 'text')}"
        said += f", {counted(self.tokens, 'token')}" if self.tokens else ""
        return said + (f", cost {self.cost:.4f}" if self.cost else "")


def is_address(name: str) -> bool:
    """Whether a model is named by an address."""
    return name.startswith(SCHEME)


def read_address(name: str) -> Address:
    """The model that a name means; anything unclear in it is refused."""
    kind, _, rest = name.removeprefix(SCHEME).partition(":")
    if kind not in _BATCHES:
        raise UsageError(f"there is no service {kind!r:.40}", hint=f"give {_FORM}")
    url, _, fragment = rest.partition("#")
    check_address(url, "a model", "http+tei:http://127.0.0.1:8080")
    model, _, options = fragment.partition("?")
    if not model and kind != "tei":
        raise UsageError(f"which model is asked at {url!r:.100}?", hint=f"give {_FORM}")
    return Address(name, kind, url.rstrip("/"), model, _options(options))


def _options(text: str) -> Options:
    values: dict[str, Any] = {}
    known: dict[str, Any] = {name: type(value) for name, value in asdict(Options()).items()}
    for name, value in parse_qsl(text, keep_blank_values=True):
        if name not in known or name in values:
            raise UsageError(
                f"{name!r:.40} is not an option of a model's address",
                hint=f"known, once each: {', '.join(known)}",
            )
        try:
            values[name] = known[name](value)
            right = known[name] is str or (0 <= values[name] <= 100_000)
        except ValueError:
            right = False
        if not right:
            raise UsageError(f"{name} cannot be {value!r:.40}", hint=f"give {_FORM}")
    return Options(**values)


class _TooManyError(Exception):
    """The service takes fewer texts in one request."""


def _is_too_many(problem: PostError) -> bool:
    told = problem.status in (400, 422) and _TOO_MANY.search(str(problem)) is not None
    return problem.status == 413 or told


class _Service:
    """What both uses of a service share: the address, its key, and what was used."""

    def __init__(self, address: Address, key_variable: str | None = None) -> None:
        self.address = address
        self._key_variable = key_variable
        self._usage = Usage()
        self._lock = threading.Lock()
        self._most = address.options.batch or _BATCHES[address.service]

    @property
    def model_id(self) -> str:
        """Identifies the service, the model and everything else known to affect a result."""
        return self.address.identity()

    @property
    def usage(self) -> Usage:
        """What was asked so far."""
        return self._usage

    @property
    def batch(self) -> int:
        """How many texts go in one request: fewer once the service has refused so many."""
        return self._most

    def _parts(self, items: list[Any]) -> list[list[Any]]:
        return [items[at : at + self.batch] for at in range(0, len(items), self.batch)]

    def _in_requests(self, texts: list[str], ask: Callable[[list[str]], Iterable[_T]]) -> list[_T]:
        """What the service says to each text, asked in halves where it refuses so many at once."""
        try:
            return list(ask(texts))
        except _TooManyError:
            half = (len(texts) + 1) // 2
            self._most = min(self._most, half)
            return [*self._in_requests(texts[:half], ask), *self._in_requests(texts[half:], ask)]

    def _ask(self, path: str, body: dict[str, Any], texts: int, *, patient: bool) -> Any:
        """The JSON that the service replies."""
        url = f"{self.address.url}{path}"
        try:
            reply = post(
                url,
                body,
                seconds=_PATIENT_S if patient else _QUICK_S,
                attempts=_PATIENT if patient else _QUICK,
                most_bytes=limits.MAX_SERVICE_REPLY_BYTES,
                key=os.environ.get(self._key_variable, "") if self._key_variable else "",
            )
        except TooLongError:
            raise ModelServiceError(f"{url} sent more than any answer holds") from None
        except PostError as problem:
            if texts > 1 and _is_too_many(problem):
                raise _TooManyError from None
            raise ModelServiceError(
                f"{url}: {problem}",
                hint=self._hint(problem.status),
                is_down=problem.status is None,
            ) from None
        try:
            value = json.loads(reply.data)
        except (ValueError, RecursionError):
            raise self._strange("no JSON") from None
        self._count(texts, _tokens(value, reply))
        return value

    def _hint(self, status: int | None) -> str | None:
        if status in (401, 403):
            named = self._key_variable
            return f"the key is read from {named}" if named else "name the variable with the key"
        if status is None:
            return "is it running? assay doctor asks it once"
        return "the address ends before /embeddings, /embed or /rerank" if status == 404 else None

    def _strange(self, why: str) -> ModelServiceError:
        return ModelServiceError(
            f"{self.address.url} did not answer in the form of {self.address.service}: {why}",
            hint="the address may be that of another kind of service",
        )

    def _by_number(self, entries: Any, part: str, count: int) -> list[Any]:
        """A part of each entry, in the order of their numbers, or as they come without any."""
        if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
            raise self._strange("no list of entries")
        if len(entries) != count:
            raise self._strange(f"{counted(len(entries), 'entry')} for {counted(count, 'text')}")
        if any(part not in one for one in entries):
            raise self._strange(f"an entry without {part}")
        numbers = [one.get("index", at) for at, one in enumerate(entries)]
        if any(type(one) is not int for one in numbers) or sorted(numbers) != list(range(count)):
            raise self._strange(f"its entries are not numbered from 0 to {count - 1}")
        found = dict(zip(numbers, entries, strict=True))
        return [found[at][part] for at in range(count)]

    def _count(self, texts: int, tokens: int) -> None:
        with self._lock:
            used, price = self._usage, self.address.options.price
            self._usage = replace(
                used,
                requests=used.requests + 1,
                texts=used.texts + texts,
                tokens=used.tokens + tokens,
                cost=used.cost + tokens * price / _MILLION,
            )

    def _count_known(self, texts: int) -> None:
        with self._lock:
            self._usage = replace(self._usage, known=self._usage.known + texts)


class ServiceDense(_Service):
    """A dense encoder behind a service; threads may share it."""

    def __init__(self, address: Address, key_variable: str | None = None) -> None:
        if address.service == "cohere":
            raise UsageError(
                f"{address.name!r:.80} gives scores, not vectors", hint=f"give {_FORM}"
            )
        super().__init__(address, key_variable)
        self._size = address.options.dimensions
        self._queries: Cache[bytes, NDArray[np.float32]] = Cache(limits.MAX_REMEMBERED_TEXTS)

    @property
    def dimension(self) -> int:
        """The length of a vector; the service is asked once if nobody knows."""
        if not self._size:
            self._vectors([_PROBE], patient=False)
        return self._size

    def probe(self) -> int:
        """The length of a vector, asked of the service now."""
        return int(self._vectors([_PROBE], patient=False).shape[1])

    def encode(self, texts: list[str], kind: Kind) -> DenseMatrix:
        """One row per text, in order."""
        options = self.address.options
        prefix = options.query_prefix if kind == "query" else options.passage_prefix
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        asked = [clipped(prefix + text) or " " for text in texts]
        if kind == "passage":
            return np.concatenate(
                [self._vectors(part, patient=True) for part in self._parts(asked)]
            )
        keys = [text_key(text, kind) for text in asked]
        wanted = dict(zip(keys, asked, strict=True))
        fetched: list[bytes] = []

        def fetch(missing: Any) -> dict[bytes, NDArray[np.float32]]:
            fetched.extend(missing)
            found: dict[bytes, NDArray[np.float32]] = {}
            for part in self._parts(list(dict.fromkeys(missing))):
                found |= zip(
                    part, self._vectors([wanted[key] for key in part], patient=False), strict=True
                )
            return found

        rows = self._queries.all_of(keys, fetch)
        self._count_known(len(keys) - len(fetched))
        return np.stack([rows[key] for key in keys])

    def _vectors(self, texts: list[str], *, patient: bool) -> DenseMatrix:
        return np.stack(self._in_requests(texts, partial(self._asked_vectors, patient=patient)))

    def _asked_vectors(self, texts: list[str], *, patient: bool) -> DenseMatrix:
        address = self.address
        if address.service == "tei":
            body: dict[str, Any] = {"inputs": texts, "normalize": True, "truncate": True}
            rows = self._ask("/embed", body, len(texts), patient=patient)
        else:
            body = {"model": address.model, "input": texts, "encoding_format": "float"}
            if address.options.dimensions:
                body["dimensions"] = address.options.dimensions
            value = self._ask("/embeddings", body, len(texts), patient=patient)
            entries = value.get("data") if isinstance(value, dict) else None
            rows = self._by_number(entries, "embedding", len(texts))
        return self._checked(rows, len(texts))

    def _checked(self, rows: Any, count: int) -> DenseMatrix:
        """Unit vectors; all have one length, for as long as the encoder lives."""
        try:
            matrix = np.asarray(rows, np.float32)
        except (TypeError, ValueError):
            raise self._strange("a vector is no list of numbers, or of another length") from None
        if matrix.ndim != 2 or not matrix.shape[1]:
            raise self._strange("a vector is no list of numbers")
        if len(matrix) != count:
            raise self._strange(f"{counted(len(matrix), 'vector')} for {counted(count, 'text')}")
        if self._size and matrix.shape[1] != self._size:
            raise ModelServiceError(
                f"{self.address.name} gives vectors of {matrix.shape[1]} numbers, not {self._size}",
                hint="another model may answer there now: assay doctor, assay index reencode",
            )
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.isfinite(matrix).all() or not lengths.all():
            raise ModelServiceError(f"{self.address.name} gave zeros, NaN or infinity")
        self._size = matrix.shape[1]
        unit: DenseMatrix = matrix / lengths
        return unit


class ServiceReranker(_Service):
    """A cross-encoder behind a service; a score depends on its pair alone."""

    def __init__(self, address: Address, key_variable: str | None = None) -> None:
        if address.service == "openai":
            raise UsageError(
                f"{address.name!r:.80} gives vectors, not scores", hint=f"give {_FORM}"
            )
        super().__init__(address, key_variable)
        self._pairs: Cache[bytes, float] = Cache(limits.MAX_REMEMBERED_TEXTS)

    def probe(self) -> float:
        """The score of one pair, asked of the service now."""
        return self._scores(_PROBE, [_PROBE])[0]

    def score(
        self, query: str, passages: list[str], *, stop: Callable[[], bool] | None = None
    ) -> NDArray[np.float32]:
        """One score per passage, in order; ``stop`` is called before every request."""
        if len(passages) > limits.MAX_RERANK_PASSAGES:
            raise LimitError(
                f"{len(passages)} passages to rerank, and {limits.MAX_RERANK_PASSAGES} are allowed"
            )
        asked = clipped(query) or " "
        texts = [clipped(passage) or " " for passage in passages]
        keys = [text_key(asked, "query") + text_key(text, "passage") for text in texts]
        known = {key: score for key in keys if (score := self._pairs.get(key)) is not None}
        self._count_known(sum(key in known for key in keys))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        for part in self._parts(list(missing)):
            if stop is not None and stop():
                raise TimeoutError("reranking was stopped")
            scores = self._in_requests([missing[key] for key in part], partial(self._scores, asked))
            for key, score in zip(part, scores, strict=True):
                known[key] = score
                self._pairs.put(key, score)
        return np.array([known[key] for key in keys], np.float32)

    def _scores(self, query: str, passages: list[str]) -> list[float]:
        address, count = self.address, len(passages)
        if address.service == "tei":
            body: dict[str, Any] = {"query": query, "texts": passages, "raw_scores": True}
            rows = self._ask("/rerank", {**body, "truncate": True}, count, patient=False)
            name = "score"
        else:
            body = {"model": address.model, "query": query, "documents": passages, "top_n": count}
            value = self._ask("/rerank", body, count, patient=False)
            rows = value.get("results") if isinstance(value, dict) else None
            name = "relevance_score"
        try:
            scores = [float(one) for one in self._by_number(rows, name, count)]
        except (TypeError, ValueError):
            raise self._strange("a score is no number") from None
        if not np.isfinite(scores).all():
            raise ModelServiceError(f"{address.name} returned NaN scores")
        return scores


def _tokens(value: Any, reply: Reply) -> int:
    """How many tokens a service counted, wherever it says so; 0 where it does not."""
    usage: Any = value.get("usage") if isinstance(value, dict) else None
    told: Any = usage.get("total_tokens") if isinstance(usage, dict) else None
    if told is None:
        told = reply.headers.get("x-compute-tokens", "")
        told = int(told) if told.isascii() and told.isdigit() else 0
    return told if type(told) is int and told >= 0 else 0
