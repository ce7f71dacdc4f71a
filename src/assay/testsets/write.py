"""How is a test set written so that it reads back as the same set, here and in any other tool?

Text is in double quotes unless it consists of plain words, since other YAML readers take ``NO`` for
false and ``012`` for ten. Only values other than the default are written, one judgment per line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from assay.model.answers import Expect
from assay.model.testset import GoldenQuery, HeldOut, Judgment, Level, SpeakerFilter, TestSet

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?: [A-Za-z0-9][A-Za-z0-9_-]*)*")
_TAKEN = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_BREAKS = {char: f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029\ufeff"}


def as_yaml(test_set: TestSet) -> str:
    """The set in our own form."""
    return "\n".join(_lines(test_set)) + "\n"


def as_plain(test_set: TestSet) -> dict[str, Any]:
    """The set in our own form, as values for JSON."""
    rows: dict[str, Any] = {"name": test_set.name, "version": test_set.version}
    if test_set.description:
        rows["description"] = test_set.description
    if test_set.provenance:
        rows["provenance"] = dict(test_set.provenance)
    if test_set.held_out is not None:
        rows["held_out"] = {
            "seed": test_set.held_out.seed,
            "query_ids": list(test_set.held_out.query_ids),
        }
    if test_set.skipped:
        rows["skipped"] = list(test_set.skipped)
    rows["queries"] = [query_as_plain(query) for query in test_set.queries]
    return rows


def query_as_plain(query: GoldenQuery) -> dict[str, Any]:
    """One query, without the fields that have their default."""
    kind, mode = query.query_type, query.ingestion_mode
    everyone = query.speaker_filter is SpeakerFilter.ALL
    rows: dict[str, Any] = {
        "query_id": query.query_id,
        "query_text": query.query_text,
        "query_type": None if kind is None else kind.value,
        "expect": None if query.expect is Expect.EVIDENCE else query.expect.value,
        "relevant_docs": [judgment_as_plain(item) for item in query.relevant_docs],
        "speaker_filter": None if everyone else query.speaker_filter.value,
        "ingestion_mode": None if mode is None else mode.value,
        "must_contain": list(query.must_contain),
        "forbidden": list(query.forbidden),
        "group": query.group,
        "reference": query.reference,
        "nuggets": [
            one.text if one.vital else {"text": one.text, "vital": False} for one in query.nuggets
        ],
        "synthetic": query.synthetic,
    }
    return {name: value for name, value in rows.items() if value is not None and value != []}


def judgment_as_plain(judgment: Judgment) -> dict[str, Any]:
    """One judgment."""
    rows: dict[str, Any]
    if judgment.level is Level.CHUNK:
        rows = {"chunk_id": judgment.id}
    elif judgment.owner is None:
        rows = {"doc_id": judgment.id}
    else:
        rows = {"doc_id": judgment.owner, "chunk_id": judgment.id}
    rows["grade"] = judgment.grade
    if judgment.level is Level.DOCUMENT:
        rows["level"] = judgment.level.value
    if judgment.spans:
        rows["spans"] = [list(span) for span in judgment.spans]
    return rows


def held_out_block(held_out: HeldOut) -> list[str]:
    """The lines that store a split in a file."""
    return [
        "held_out:",
        f"  seed: {held_out.seed}",
        f"  query_ids: {_flow(list(held_out.query_ids))}",
    ]


def query_block(query: GoldenQuery) -> str:
    """The lines of one query, as they appear under ``queries``."""
    return "\n".join(_query(query)) + "\n"


def _lines(test_set: TestSet) -> Iterator[str]:
    yield f"name: {quoted(test_set.name)}"
    yield f"version: {quoted(test_set.version)}"
    if test_set.description:
        yield f"description: {quoted(test_set.description)}"
    if test_set.provenance:
        yield "provenance:"
        yield from (
            f"  {quoted(key)}: {_flow(value)}" for key, value in test_set.provenance.items()
        )
    if test_set.held_out is not None:
        yield from held_out_block(test_set.held_out)
    if test_set.skipped:
        yield f"skipped: {_flow(test_set.skipped)}  # nobody judged these"
    yield "queries:"
    for query in test_set.queries:
        yield from _query(query)


def _query(query: GoldenQuery) -> Iterator[str]:
    lead = "  - "
    for key, value in query_as_plain(query).items():
        if key == "relevant_docs":
            yield f"{lead}{key}:"
            yield from (f"      - {_flow(item)}" for item in value)
        else:
            yield f"{lead}{key}: {_flow(value)}"
        lead = "    "


def quoted(text: str) -> str:
    """A text, quoted so that every YAML reader reads it unchanged."""
    if _WORD.fullmatch(text) and not _TAKEN & set(text.lower().split()):
        return text
    written = json.dumps(text, ensure_ascii=False)
    for char, escape in _BREAKS.items():
        written = written.replace(char, escape)
    return written


def _flow(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted(str(k))}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return json.dumps(value, allow_nan=False)
