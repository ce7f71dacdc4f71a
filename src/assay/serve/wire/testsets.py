"""What do routes about test sets answer?"""

from __future__ import annotations

from assay.serve.wire.base import Answer, Json
from assay.serve.wire.problem import FaultBody


class TestSetRow(Answer):
    """One test set; version and number of queries are null where it is not sound."""

    name: str
    version: str | None
    queries: int | None
    sound: bool


class TestSetsAnswer(Answer):
    """Every test set that loads by name."""

    test_sets: list[TestSetRow]


class TestSetAnswer(Answer):
    """One test set with its queries."""

    name: str
    version: str
    description: str
    checksum: str
    held_out: Json | None
    provenance: Json
    queries: list[Json]


class StoredAnswer(Answer):
    """The test set is on the disk; ``new`` is false where it was there before."""

    name: str
    version: str
    checksum: str
    queries: int
    new: bool


class ValidationAnswer(Answer):
    """What is wrong with a test set, all at once."""

    sound: bool
    form: str
    queries: int | None
    problems: list[FaultBody]
    warnings: list[FaultBody]
