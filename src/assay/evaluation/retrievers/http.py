"""How is a search service over HTTP asked, and where in its answer are the results?

A small YAML file says it; without one, the service is taken for another assay
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

``params`` instead of ``body`` goes into the address. Known in braces: ``query_text``,
``query_id``, ``k``, ``speaker``, ``ingestion_mode``; a parameter without a value is left out.

The state of the service is not known, so its runs never answer a later call from the cache.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from assay import limits
from assay.errors import ConfigError, InputError, UsageError
from assay.model.ranking import RankBy
from assay.model.system import System
from assay.model.testset import GoldenQuery, SpeakerFilter
from assay.strict_json import values as json_values
from assay.strict_yaml import MappingNode, Node, ScalarNode, SequenceNode, load_yaml

_NAME = re.compile(r"\{([a-z_]+)\}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
SHOWN_ERROR = 200
TIMEOUT_S = 30.0
MAX_TIMEOUT_S = 600.0
METHODS = ("GET", "POST")
ASSAY_PARAMS: Mapping[str, str] = {
    "q": "{query_text}",
    "k": "{k}",
    "speaker": "{speaker}",
    "ingestion_mode": "{ingestion_mode}",
}
TEXTS = ("results", "id", "score", "doc_id")


@dataclass(frozen=True, slots=True)
class HttpMapping:
    """How to ask, and where the results are; see the module's docstring."""

    method: str = "GET"
    headers: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=lambda: dict(ASSAY_PARAMS))
    body: Any = None
    results: str = "results"
    id: str = "chunk_id"
    score: str | None = "score"
    doc_id: str | None = "doc_id"
    rank_by: str | None = None
    timeout_s: float = TIMEOUT_S

    def to_dict(self) -> dict[str, Any]:
        """What can change an answer, as plain values; headers may hold secrets and stay out."""
        names = ("method", "params", "body", "results", "id", "score", "doc_id", "rank_by")
        return {name: getattr(self, name) for name in names}


KEYS = tuple(each.name for each in fields(HttpMapping))


def http_system(url: str, mapping: HttpMapping | None = None, *, k: int = 100) -> System:
    """The system behind an address, asked for ``k`` results at a time."""
    import httpx2

    mapping = mapping or HttpMapping()
    headers = {name: _expanded(str(value)) for name, value in mapping.headers.items()}
    client = httpx2.Client(timeout=mapping.timeout_s, headers=headers, follow_redirects=False)

    def answer(query: GoldenQuery) -> dict[str, Any]:
        known = _known(query, k)
        params = {
            key: value for key, value in filled(mapping.params, known).items() if value is not None
        }
        body = None if mapping.body is None else filled(mapping.body, known)
        with client.stream(mapping.method, url, params=params, json=body) as response:
            data = bytearray()
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > limits.MAX_HTTP_ANSWER_BYTES:
                    raise InputError(f"more than {limits.MAX_HTTP_ANSWER_BYTES:,} bytes came back")
        if not response.is_success:
            text = data[:SHOWN_ERROR].decode(errors="replace")
            raise InputError(f"HTTP {response.status_code}: {text}")
        return read_answer(bytes(data), mapping)

    config = {"retriever": url, "k": k, **mapping.to_dict()}
    return System(answer, config, engine="http")


def read_answer(data: bytes, mapping: HttpMapping) -> dict[str, Any]:
    """The results of an answer, in the form in which retrievers may return them."""
    ((_, content),) = json_values(data, "answer")[:1]
    listed = at(content, mapping.results)
    if not isinstance(listed, list):
        raise InputError(f"the answer has no list at {mapping.results!r}", hint="see the mapping")
    return {
        "results": [
            one
            if isinstance(one, str)
            else {
                "id": at(one, mapping.id),
                "score": at(one, mapping.score) if mapping.score else None,
                "doc_id": at(one, mapping.doc_id) if mapping.doc_id else None,
            }
            for one in listed
        ],
        "rank_by": mapping.rank_by,
        "degraded": at(content, "degraded") is True,
    }


def _known(query: GoldenQuery, k: int) -> dict[str, Any]:
    speaker, mode = query.speaker_filter, query.ingestion_mode
    return {
        "query_text": query.query_text,
        "query_id": query.query_id,
        "k": k,
        "speaker": None if speaker is SpeakerFilter.ALL else speaker.value,
        "ingestion_mode": None if mode is None else mode.value,
    }


def filled(template: Any, known: Mapping[str, Any]) -> Any:
    """The template with every ``{name}`` replaced; a value that is only a name keeps its type."""
    if isinstance(template, Mapping):
        return {key: filled(value, known) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, known) for value in template]
    if not isinstance(template, str):
        return template
    whole = _NAME.fullmatch(template)
    if whole and whole[1] in known:
        return known[whole[1]]
    return _NAME.sub(lambda found: str(known.get(found[1], found[0])), template)


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


def _expanded(text: str) -> str:
    def value(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise UsageError(
                f"the environment variable {found[1]} is not set",
                hint="a header of the mapping needs it",
            )
        return os.environ[found[1]]

    return _VARIABLE.sub(value, text)


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
        values[key.text] = value = _plain(node)
        if key.text in TEXTS and not isinstance(value, str):
            raise ConfigError(f"{place} must be the path of a field")
        if key.text in ("headers", "params") and not isinstance(value, dict):
            raise ConfigError(f"{place} must hold names and values")
    if values.get("rank_by") not in (None, *(member.value for member in RankBy)):
        raise ConfigError(f"{path}: rank_by must be order or score")
    method = str(values.get("method", "POST" if "body" in values else "GET")).upper()
    if method not in METHODS:
        raise ConfigError(f"{path}: method must be one of {', '.join(METHODS)}")
    own: dict[str, Any] = {"params": {}} if "body" in values else {}
    return HttpMapping(
        **{**own, "doc_id": None, **values, "method": method, "timeout_s": _seconds(path, values)}
    )


def _seconds(path: Path, values: Mapping[str, Any]) -> float:
    given = values.get("timeout_s", TIMEOUT_S)
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        given = 0.0
    if not 0 < given <= MAX_TIMEOUT_S:
        raise ConfigError(f"{path}: timeout_s must be seconds, up to {MAX_TIMEOUT_S:g}")
    return float(given)


def _plain(node: Node) -> Any:
    """YAML as plain values: a bare number or true is one, everything else is text."""
    if isinstance(node, MappingNode):
        return {key.text: _plain(value) for key, value in node.entries}
    if isinstance(node, SequenceNode):
        return [_plain(value) for value in node.items]
    assert isinstance(node, ScalarNode)
    if node.quoted:
        return node.text
    if re.fullmatch(r"-?[0-9]{1,15}", node.text):
        return int(node.text)
    if re.fullmatch(r"-?[0-9]{1,15}\.[0-9]{1,15}", node.text):
        return float(node.text)
    return {"true": True, "false": False, "null": None}.get(node.text, node.text)
