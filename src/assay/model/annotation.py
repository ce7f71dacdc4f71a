"""What is judged in a round of annotation, by whom, and what did they say?

A round is one effort: some queries, the pooled chunks of each, two people who judge all of them
without seeing each other's grades, and decisions where they differ. A first test set begins with
one person; a second may check a sample. Automatic judges propose grades under a name of their own
(``judge:NAME``) and never count as one of the people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from assay.errors import UsageError
from assay.model.document import check_id
from assay.model.judgments import Span
from assay.model.testset import QueryType

ItemKey: TypeAlias = tuple[str, str]  # query_id, chunk_id


class Purpose(StrEnum):
    """Why a round is held: a new version, results nobody has judged, or the very first set."""

    REFRESH = "refresh"
    HOLES = "holes"
    FIRST = "first"


class Order(StrEnum):
    """Which passage comes next: query by query, or where the pooled lists differ most."""

    QUERIES = "queries"
    ACTIVE = "active"


AUTOMATIC = "judge:"
"""Before the name of an automatic judge, where people have theirs."""
SYNTHETIC = "synthetic"
"""Where the origin of a question says from which passage it was made."""


def check_person(name: object) -> str:
    """The name, if a person may judge under it."""
    found = check_id(name, "annotator")
    if found.casefold().startswith(AUTOMATIC):
        raise UsageError(
            f"{found} is the name of an automatic judge", hint="people judge under their own"
        )
    return found


def check_people(names: Sequence[str], purpose: Purpose, round_id: str = "") -> None:
    """Refuse what cannot be the annotators of a round: one or two people, each of them once."""
    checked = [check_person(name) for name in names]
    if len({name.casefold() for name in checked}) < len(checked):
        raise UsageError(
            f"{checked[0]} cannot be both annotators",
            hint="two distinct people judge every passage",
        )
    least = 1 if purpose is Purpose.FIRST else 2
    if not least <= len(checked) <= 2:
        where = f" in {round_id}" if round_id else ""
        raise UsageError(
            f"{len(checked)} people judge{where}",
            hint="one or two, as in ann or ann,bob" if least == 1 else "exactly two, as in ann,bob",
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """How a round is judged.

    ``second_share`` is the share of judged passages that the second person checks, ``until`` the
    width of the interval at which there are enough grades, ``shown`` the automatic judge whose
    grades people see.
    """

    order: Order = Order.QUERIES
    second_share: float = 1.0
    until: float | None = None
    shown: str = ""


@dataclass(frozen=True, slots=True)
class RoundQuery:
    """A query of a round; ``origin`` says where it comes from (log, strategy, how often asked)."""

    query_id: str
    query_text: str
    query_type: QueryType | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)

    @property
    def synthetic(self) -> str | None:
        """The passage that it was made from; None where a person asked it."""
        passage = self.origin.get(SYNTHETIC)
        return None if passage is None else str(passage)


@dataclass(frozen=True, slots=True)
class Item:
    """One chunk to be judged for one query, as it read when it was pooled.

    ``found_by`` holds the rank in each list that brought it; annotators never see it.
    """

    query_id: str
    chunk_id: str
    doc_id: str
    text: str
    title: str = ""
    section_label: str = ""
    table_html: str = ""
    spans: tuple[Span, ...] = ()
    chunker_version: str = ""
    found_by: Mapping[str, int] = field(default_factory=dict)

    @property
    def key(self) -> ItemKey:
        """What tells this item from the others of its round."""
        return self.query_id, self.chunk_id


@dataclass(frozen=True, slots=True)
class Round:
    """One effort of judging; ``seed`` decides the order in which each annotator sees the items."""

    round_id: str
    purpose: Purpose
    test_set: str
    version: str
    checksum: str
    annotators: tuple[str, ...]
    seed: int
    created_at: str
    source: Mapping[str, Any] = field(default_factory=dict)
    closed_at: str | None = None
    plan: Plan = Plan()


@dataclass(frozen=True, slots=True)
class Grade:
    """What one annotator said of one item; None: it cannot be judged."""

    query_id: str
    chunk_id: str
    annotator: str
    grade: int | None
    comment: str
    at: str

    @property
    def key(self) -> ItemKey:
        """The item that was graded."""
        return self.query_id, self.chunk_id


@dataclass(frozen=True, slots=True)
class Decision:
    """What counts where the annotators differ; ``rule`` is empty where a person decided."""

    query_id: str
    chunk_id: str
    grade: int | None
    by: str
    rule: str = ""
    comment: str = ""
    at: str = ""

    @property
    def key(self) -> ItemKey:
        """The item that was decided."""
        return self.query_id, self.chunk_id


@dataclass(frozen=True, slots=True)
class Task:
    """What an annotator sees: the question and a passage, no score, no origin, no other grade.

    ``proposed`` is the grade of an automatic judge, where whoever runs the round shows it.
    """

    round_id: str
    query_id: str
    query_text: str
    chunk_id: str
    title: str
    section_label: str
    text: str
    table_html: str
    number: int
    total: int
    proposed: int | None = None
