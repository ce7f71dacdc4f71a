"""How does a query become a request, and where in the answer are the results?

A small YAML file says it; without one, the service is taken for another assay
(``GET /v1/search?q=...&k=...``)::

    method: POST
    headers: {Authorization: "Bearer ${SEARCH_TOKEN}"}    # ${NAME} comes from the environment
    body: {query: {match: {text: "{query_text}"}}, size: "{k}"}
    results: hits.hits          # where the list is
    id: _id                     # where each result has its id, score, document
    score: _score
    doc_id: _source.doc_id
    timeout_s: 10

``params`` instead of ``body`` goes into the address. Known in braces: ``query_text``,
``query_id``, ``k``, ``speaker``, ``ingestion_mode``; a parameter without a value is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay import limits
from assay.errors import ConfigError
from assay.strict_yaml import MappingNode, Node, ScalarNode, SequenceNode, load_yaml

TIMEOUT_S = 30.0
MAX_TIMEOUT_S = 600.0
METHODS = ("GET", "POST")
ASSAY_PARAMS: Mapping[str, str] = {
    "q": "{query_text}",
    "k": "{k}",
    "speaker": "{speaker}",
    "ingestion_mode": "{ingestion_mode}",
}


@dataclass(frozen=True, slots=True)
class HttpMapping:
    """How to ask and what to read; see the module's docstring."""

    method: str = "GET"
    headers: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=lambda: dict(ASSAY_PARAMS))
    body: Any = None
    results: str = "results"
    id: str = "chunk_id"
    score: str | None = "score"
    doc_id: str | None = "doc_id"
    timeout_s: float = TIMEOUT_S

    def to_dict(self) -> dict[str, Any]:
        """What can change an answer, as plain values; headers may hold secrets and stay out."""
        names = ("method", "params", "body", "results", "id", "score", "doc_id")
        return {name: getattr(self, name) for name in names}


KEYS = ("method", "headers", "params", "body", "results", "id", "score", "doc_id", "timeout_s")
TEXTS = ("results", "id", "score", "doc_id")


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
