"""What may a test set contain, as a JSON Schema that helps editors while one is written?

The schema covers form, not meaning: whether ids are unique or exist in the index is up to the
validator. ``assay testset schema`` prints it.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from assay import limits
from assay.model.answers import Expect
from assay.model.document import ID_FORM, IngestionMode
from assay.model.testset import Level, QueryType, SpeakerFilter

_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """The schema of our own form."""
    return {
        "$schema": _DRAFT,
        "title": "Assay test set",
        "description": "A named, versioned list of golden queries.",
        **_object(
            {
                "$schema": {"type": "string"},
                "name": _id("The name that loads it; the file is called NAME.yaml."),
                "version": _id("Changes whenever a query or judgment does."),
                "description": _text("What the set is about."),
                "provenance": {
                    "type": "object",
                    "description": "Where queries and judgments come from; free form.",
                },
                "held_out": _held_out(),
                "skipped": {
                    "type": "array",
                    "items": _id("A query."),
                    "uniqueItems": True,
                    "description": "Queries that were left out because nobody judged them.",
                },
                "queries": {"type": "array", "minItems": 1, "items": _query()},
            },
            ("name", "version", "queries"),
        ),
    }


def _object(properties: dict[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": properties,
    }


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _id(description: str) -> dict[str, Any]:
    # an editor reads 012 as a number; the validator reads it as text
    return {
        "type": ["string", "integer"],
        "pattern": f"^{ID_FORM.pattern}$",
        "description": description,
    }


def _choice(kinds: type[Enum], description: str, *, nullable: bool = False) -> dict[str, Any]:
    words: list[Any] = [kind.value for kind in kinds]
    return {"enum": words + [None] * nullable, "description": description}


def _texts(description: str) -> dict[str, Any]:
    return {
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "description": description,
    }


def _held_out() -> dict[str, Any]:
    row = _object(
        {
            "seed": {"type": "integer", "minimum": 0},
            "query_ids": {"type": "array", "items": _id("A query."), "uniqueItems": True},
        },
        ("seed", "query_ids"),
    )
    return {**row, "description": "Queries that are kept back; assay testset split writes it."}


def _query() -> dict[str, Any]:
    return _object(
        {
            "query_id": _id("Unique in the set."),
            "query_text": {
                "type": "string",
                "minLength": 1,
                "maxLength": limits.MAX_QUERY_CHARS,
                "description": "What a person would type.",
            },
            "query_type": _choice(QueryType, "How the query is worded.", nullable=True),
            "expect": _choice(
                Expect, "evidence: something is relevant; refusal: no answer; nothing: no evidence."
            ),
            "relevant_docs": {"type": "array", "items": _judgment()},
            "speaker_filter": _choice(SpeakerFilter, "Whose words are searched."),
            "ingestion_mode": _choice(IngestionMode, "Which chunks are searched.", nullable=True),
            "must_contain": _texts("What a good answer says, literally."),
            "forbidden": _texts("What no answer may say."),
            "group": {
                "type": ["string", "integer", "null"],
                "description": "Queries of one group stay together in splits.",
            },
            "reference": _text("A right answer in full."),
            "nuggets": {"type": "array", "items": _nugget()},
            "synthetic": {
                "type": ["string", "null"],
                "description": "Nobody asked this: the passage that it was made from.",
            },
            "notes": _text("A line for people."),
        },
        ("query_id", "query_text"),
    )


def _nugget() -> dict[str, Any]:
    row = _object(
        {
            "text": {"type": "string", "minLength": 1, "description": "What a right answer says."},
            "vital": {
                "type": "boolean",
                "description": "Whether no answer is right without it: true by default.",
            },
        },
        ("text",),
    )
    return {"anyOf": [{"type": "string", "minLength": 1}, row]}


def _judgment() -> dict[str, Any]:
    end = {"type": "integer", "minimum": 0}
    row = _object(
        {
            "doc_id": {
                "type": ["string", "integer"],
                "description": "The chunk or document; the document where chunk_id is given.",
            },
            "chunk_id": _text("The chunk, where doc_id names its document."),
            "grade": {"type": "integer", "minimum": 0, "maximum": limits.MAX_GOLDEN_GRADE},
            "relevant": {
                "type": "boolean",
                "description": "In a set without grades: true is grade 1 (the default), false 0.",
            },
            "spans": {
                "type": "array",
                "description": "Character offsets into the document, [start, end).",
                "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": end},
            },
            "level": _choice(Level, "What the id is the id of, where it does not show."),
            "notes": _text("A line for people."),
        },
        (),
    )
    named = {**row, "anyOf": [{"required": ["doc_id"]}, {"required": ["chunk_id"]}]}
    return {"anyOf": [{"type": ["string", "integer"], "minLength": 1}, named]}
