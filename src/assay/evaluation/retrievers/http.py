"""How is a search service over HTTP asked, and where in its answer are the results?

A small YAML file says it; without one, the service is asked as another assay is
(``GET /v1/search?q=...&k=...``)::

    method: POST
    headers: {Authorization: "Bearer ${SEARCH_TOKEN}"}    # ${NAME} comes from the environment
    body: {query: {match: {text: "{query_text}"}}, size: "{k}"}
    results: hits.hits          # where the list is
    id: _id                     # where each result has its id, score, document
    score: _score
    doc_id: _source.doc_id
    rank_by: score              # the highest score first; the list's own order otherwise
    timeout_s: 10
    cost: usage.cost            # where the answer says what it cost, and how many tokens
    tokens: usage.total_tokens
    answer: answer.text         # where a system that answers has its answer, what it cites,
    citations: answer.sources   # and the text of each result
    text: _source.text

``params`` instead of ``body`` goes into the address. Known in braces: ``query_text``,
``query_id``, ``k``, ``speaker``, ``ingestion_mode``; another name is refused, and ``{{name}}`` is
sent as ``{name}``. A parameter without a value is left out. ``timeout_s`` is for the whole answer.
What the file does not name is looked for where results of functions have it (``returned.py``).

The state of the service is not known, so its runs never answer a later call from the cache.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from assay import limits
from assay.errors import ConfigError, InputError, UnreachableError
from assay.evaluation.returned import opened, require_whole
from assay.evaluation.templates import check_names, filled, require_variables, variable_values
from assay.model.ranking import RankBy
from assay.model.secrets_of import (
    hidden_address,
    hidden_values,
    secrets_of_address,
    secrets_of_values,
    without_secrets,
)
from assay.model.system import System
from assay.model.testset import GoldenQuery, SpeakerFilter
from assay.strict_json import values as json_values
from assay.strict_yaml import MappingNode, load_yaml, plain_value

SHOWN_ERROR = 200
TIMEOUT_S = 30.0
METHODS = ("GET", "POST")
BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers that may be others when the service is asked again."""
ASSAY_PARAMS: Mapping[str, str] = {
    "q": "{query_text}",
    "k": "{k}",
    "speaker": "{speaker}",
    "ingestion_mode": "{ingestion_mode}",
}
TEXTS = (
    *("results", "id", "score", "doc_id", "cost", "tokens"),
    *("answer", "citations", "text", "refusal_reason"),
)
OF_ANSWERS = ("answer", "citations", "text", "refusal_reason")
FILLED = ("headers", "params", "body")
NAMES = ("query_text", "query_id", "k", "speaker", "ingestion_mode")
"""What a mapping may name in braces."""


@dataclass(frozen=True, slots=True)
class HttpMapping:
    """How to ask, and where the results are; see the module's docstring."""

    method: str = "GET"
    headers: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=lambda: dict(ASSAY_PARAMS))
    body: Any = None
    results: str | None = None
    id: str | None = None
    score: str | None = None
    doc_id: str | None = None
    rank_by: str | None = None
    timeout_s: float = TIMEOUT_S
    cost: str | None = None
    tokens: str | None = None
    answer: str | None = None
    citations: str | None = None
    text: str | None = None
    refusal_reason: str | None = None

    def __post_init__(self) -> None:
        for part in FILLED:
            check_names(getattr(self, part), NAMES, part)

    def to_dict(self) -> dict[str, Any]:
        """What can change an answer, as plain values; headers may hold secrets and stay out."""
        names = ("method", "params", "body", "results", "id", "score", "doc_id", "rank_by")
        told = {name: value for name in OF_ANSWERS if (value := getattr(self, name)) is not None}
        return {**{name: getattr(self, name) for name in names}, **told}


KEYS = tuple(each.name for each in fields(HttpMapping))


def http_system(url: str, mapping: HttpMapping | None = None, *, k: int = 100) -> System:
    """The system behind an address, asked for ``k`` results at a time."""
    import httpx2

    mapping = mapping or HttpMapping()
    require_variables([mapping.headers, mapping.params, mapping.body])
    secrets = {
        *secrets_of_address(url),
        *secrets_of_values([mapping.headers, mapping.params, mapping.body]),
        *variable_values([mapping.headers, mapping.params, mapping.body]),
    }
    client = httpx2.Client(timeout=mapping.timeout_s, follow_redirects=False)

    def answer(query: GoldenQuery) -> dict[str, Any]:
        try:
            return asked(query)
        except httpx2.InvalidURL as problem:
            raise InputError(without_secrets(str(problem), secrets)) from None
        except httpx2.HTTPError as problem:
            said = without_secrets(f"{type(problem).__name__}: {problem}", secrets)
            raise UnreachableError(said) from None

    def asked(query: GoldenQuery) -> dict[str, Any]:
        known = _known(query, k)
        params = _with_values(filled(mapping.params, known))
        body = None if mapping.body is None else filled(mapping.body, known)
        headers = _with_values(filled(mapping.headers, known))
        told = {name: str(value) for name, value in headers.items()}
        deadline = time.monotonic() + mapping.timeout_s
        with client.stream(mapping.method, url, params=params, json=body, headers=told) as response:
            data = bytearray()
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > limits.MAX_HTTP_ANSWER_BYTES:
                    raise InputError(f"more than {limits.MAX_HTTP_ANSWER_BYTES:,} bytes came back")
                if time.monotonic() > deadline:
                    raise TimeoutError(f"no whole answer within {mapping.timeout_s:g} s")
        if not response.is_success:
            whole = data[: SHOWN_ERROR * 10].decode(errors="replace")
            text = without_secrets(whole, secrets)[:SHOWN_ERROR]
            if response.status_code in BUSY:
                raise UnreachableError(
                    f"HTTP {response.status_code}: {text}",
                    retry_after=_seconds_said(response.headers.get("retry-after")),
                )
            raise InputError(f"HTTP {response.status_code}: {text}")
        return read_answer(bytes(data), mapping)

    told = {
        name: hidden_values(value) if name in ("headers", "params", "body") else value
        for name, value in mapping.to_dict().items()
    }
    config = {"retriever": hidden_address(url), "k": k, **told}
    return System(answer, config, engine="http", keeps_time=True)


def _seconds_said(header: str | None) -> float | None:
    """What a service says after which to ask again; a date says too little to wait for it."""
    return float(header) if header and re.fullmatch(r"[0-9]{1,6}", header) else None


def _with_values(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if value is not None}


def read_answer(data: bytes, mapping: HttpMapping) -> dict[str, Any]:
    """The results of an answer, in the form in which retrievers may return them."""
    ((_, content),) = json_values(data, "answer")[:1]
    require_whole(content)
    whole = content if isinstance(content, dict) else {}
    if mapping.results is None:
        listed = opened(whole.get("results", content))
        place = f"of results ({_seen(content)})"
    else:
        listed, place = at(content, mapping.results), f"at {mapping.results!r}"
    if not isinstance(listed, list):
        raise InputError(f"the answer has no list {place}", hint="see the mapping")
    return {
        "results": [_result(one, mapping, rank) for rank, one in enumerate(listed, 1)],
        **_said(content, mapping),
        "rank_by": mapping.rank_by,
        "degraded": whole.get("degraded") is True,
        "cost": at(content, mapping.cost) if mapping.cost else None,
        "tokens": at(content, mapping.tokens) if mapping.tokens else None,
    }


def _result(one: Any, mapping: HttpMapping, rank: int) -> Any:
    """A result with what the mapping names; where it names no id, its own fields count, too."""
    if not isinstance(one, dict):
        return one
    paths = {
        "chunk_id": mapping.id,
        "score": mapping.score,
        "doc_id": mapping.doc_id,
        "text": mapping.text,
    }
    named = {name: at(one, path) for name, path in paths.items() if path is not None}
    if mapping.id is None:
        return {**one, **named}
    if named["chunk_id"] is None:
        raise InputError(
            f"result {rank} has nothing at {mapping.id!r} ({_seen(one)})",
            hint="set id in the mapping to where results have their ids",
        )
    return {"score": one.get("score"), **named}


def _seen(content: Any) -> str:
    """What an answer or a result holds, in a few words."""
    if not isinstance(content, dict):
        return f"it is a {type(content).__name__}"
    return f"it has {', '.join(map(str, content)) or 'nothing':.200}"


def _said(content: Any, mapping: HttpMapping) -> dict[str, Any]:
    """The answer of a system that answers, where the mapping says that it does."""
    if mapping.answer is None:
        return {}
    places = {name: getattr(mapping, name) for name in ("answer", "citations", "refusal_reason")}
    return {name: at(content, path) if path else None for name, path in places.items()}


def _known(query: GoldenQuery, k: int) -> dict[str, Any]:
    speaker, mode = query.speaker_filter, query.ingestion_mode
    values = (
        query.query_text,
        query.query_id,
        k,
        None if speaker is SpeakerFilter.ALL else speaker.value,
        None if mode is None else mode.value,
    )
    return dict(zip(NAMES, values, strict=True))


def at(content: Any, path: str) -> Any:
    """What stands at a dotted path; None where nothing does."""
    for part in path.split("."):
        if isinstance(content, list) and part.isdigit() and int(part) < len(content):
            content = content[int(part)]
        elif isinstance(content, dict):
            content = content.get(part)
        else:
            return None
    return content


def load_mapping(path: Path) -> HttpMapping:
    """Read a mapping file; a mistake is refused with its line."""
    root = load_yaml(path, max_bytes=limits.MAX_CONFIG_BYTES)
    if not isinstance(root, MappingNode):
        raise ConfigError(f"{path}: a mapping has lines such as 'results: hits'")
    values: dict[str, Any] = {}
    for key, node in root.entries:
        place = f"{path}:{key.line}: {key.text!r:.40}"
        if key.text not in KEYS:
            raise ConfigError(f"{place} is not known", hint=f"known: {', '.join(KEYS)}")
        values[key.text] = value = plain_value(node)
        if key.text in TEXTS and not isinstance(value, str):
            raise ConfigError(f"{place} must be the path of a field")
        if key.text in ("headers", "params") and not isinstance(value, dict):
            raise ConfigError(f"{place} must hold names and values")
        if key.text in FILLED:
            check_names(value, NAMES, place)
    if values.get("rank_by") not in (None, *(member.value for member in RankBy)):
        raise ConfigError(f"{path}: rank_by must be order or score")
    method = str(values.get("method", "POST" if "body" in values else "GET")).upper()
    if method not in METHODS:
        raise ConfigError(f"{path}: method must be one of {', '.join(METHODS)}")
    own: dict[str, Any] = {"params": {}} if "body" in values else {}
    return HttpMapping(**{**own, **values, "method": method, "timeout_s": _seconds(path, values)})


def _seconds(path: Path, values: Mapping[str, Any]) -> float:
    given = values.get("timeout_s", TIMEOUT_S)
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        given = 0.0
    if not 0 < given <= limits.MAX_QUERY_SECONDS:
        raise ConfigError(f"{path}: timeout_s must be seconds, up to {limits.MAX_QUERY_SECONDS:g}")
    return float(given)
