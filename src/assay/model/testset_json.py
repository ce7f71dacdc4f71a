"""How is a test set written as plain JSON values, and read back without loss?

This is the form in which a run keeps the queries it was made with; people write YAML.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.model.answers import Expect
from assay.model.codec import encode
from assay.model.document import IngestionMode
from assay.model.testset import (
    GoldenQuery,
    HeldOut,
    Judgment,
    Level,
    Nugget,
    QueryType,
    SpeakerFilter,
    TestSet,
)


def to_plain(test_set: TestSet) -> dict[str, Any]:
    """Everything that the test set holds, as JSON values."""
    held = test_set.held_out
    plain: dict[str, Any] = encode(
        {
            "name": test_set.name,
            "version": test_set.version,
            "description": test_set.description,
            "held_out": None if held is None else {"seed": held.seed, "query_ids": held.query_ids},
            "provenance": dict(test_set.provenance),
            "skipped": test_set.skipped,
            "queries": [_query(query) for query in test_set.queries],
        }
    )
    return plain


def from_plain(content: Mapping[str, Any]) -> TestSet:
    """The test set that ``to_plain`` wrote."""
    held = content["held_out"]
    return TestSet(
        name=content["name"],
        version=content["version"],
        description=content["description"],
        held_out=None if held is None else HeldOut(held["seed"], tuple(held["query_ids"])),
        provenance=content["provenance"],
        skipped=tuple(content.get("skipped", ())),
        queries=tuple(_golden(entry) for entry in content["queries"]),
    )


def _query(query: GoldenQuery) -> dict[str, Any]:
    return {
        "query_id": query.query_id,
        "query_text": query.query_text,
        "query_type": query.query_type,
        "expect": query.expect.value,
        "relevant_docs": [
            {
                "id": one.id,
                "grade": one.grade,
                "spans": one.spans,
                "doc_id": one.owner,
                "level": one.level,
            }
            for one in query.relevant_docs
        ],
        "speaker_filter": query.speaker_filter,
        "ingestion_mode": query.ingestion_mode,
        "must_contain": query.must_contain,
        "forbidden": query.forbidden,
        "group": query.group,
        "reference": query.reference,
        "nuggets": [{"text": one.text, "vital": one.vital} for one in query.nuggets],
        **({"synthetic": query.synthetic} if query.synthetic else {}),
    }


def _golden(entry: Mapping[str, Any]) -> GoldenQuery:
    kind, mode = entry["query_type"], entry["ingestion_mode"]
    return GoldenQuery(
        query_id=entry["query_id"],
        query_text=entry["query_text"],
        query_type=None if kind is None else QueryType(kind),
        expect=Expect(entry["expect"]),
        relevant_docs=tuple(
            Judgment(
                id=one["id"],
                grade=one["grade"],
                spans=tuple(map(tuple, one["spans"])),
                doc_id=one["doc_id"],
                level=Level(level) if (level := one.get("level")) else None,
            )
            for one in entry["relevant_docs"]
        ),
        speaker_filter=SpeakerFilter(entry["speaker_filter"]),
        ingestion_mode=None if mode is None else IngestionMode(mode),
        must_contain=tuple(entry["must_contain"]),
        forbidden=tuple(entry["forbidden"]),
        group=entry["group"],
        reference=entry.get("reference"),
        nuggets=tuple(Nugget(one["text"], one["vital"]) for one in entry.get("nuggets", ())),
        synthetic=entry.get("synthetic"),
    )
