"""How is a search service over HTTP asked?

The request and the way to the results come from an ``HttpMapping`` (``http_mapping.py``). The
service's state is not known, so its runs are never taken for the answer to a later call.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from assay import limits
from assay.errors import InputError, UsageError
from assay.evaluation.retrievers.http_mapping import HttpMapping
from assay.hits.strict_json import values as json_values
from assay.model.system import System
from assay.model.testset import GoldenQuery, SpeakerFilter

_NAME = re.compile(r"\{([a-z_]+)\}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
SHOWN_ERROR = 200


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
    """The template with every ``{name}`` replaced; one that is nothing else keeps its type."""
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
            raise UsageError(f"the environment has no {found[1]}", hint="a header needs it")
        return os.environ[found[1]]

    return _VARIABLE.sub(value, text)
