"""What do routes about test sets take and answer?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from assay.app.testsets import TestSetEntry
from assay.http.wire.base import Answer, Json, Wire
from assay.http.wire.problem import FaultBody


@dataclass(frozen=True, slots=True)
class TestSetsAnswer:
    """Every test set that loads by name."""

    test_sets: tuple[TestSetEntry, ...]


class TestSetAnswer(Answer):
    """One test set with its queries."""

    name: str
    version: str
    description: str
    checksum: str
    held_out: Json | None
    provenance: Json
    skipped: list[str]
    queries: list[Json]


class ValidationAnswer(Answer):
    """What is wrong with a test set, all at once."""

    sound: bool
    form: str
    queries: int | None
    problems: list[FaultBody]
    warnings: list[FaultBody]


class SplitRequest(Wire):
    """How queries are drawn; ``by_group`` makes three sets, 80/10/10, that share no group."""

    share: Annotated[float, Field(gt=0, lt=1)] = 0.2
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 13
    by_group: bool = False


class SplitAnswer(Answer):
    """What was written, and which queries are where."""

    test_sets: list[str]
    seed: int
    parts: dict[str, list[str]]


class DiffAnswer(Answer):
    """What it takes to get from one set to the other."""

    same: bool
    added: list[str]
    removed: list[str]
    changed: list[Json]
    judgments: list[Json]
    held_out_in: list[str]
    held_out_out: list[str]
    reordered: bool
