"""What is a judge asked, and what does it say?

A judge reads a text beside a passage. Two tasks are enough for every measure of an answer: whether
the passage supports a claim, and how well it answers a question, as a grade from 0 to 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from assay.model.answers import Usage

BEST_GRADE = 3
RELEVANT_GRADE = 2  # from here on a passage answers at least a part of the question


class TaskKind(StrEnum):
    """What a judge is to say of a passage."""

    SUPPORT = "support"
    RELEVANCE = "relevance"


class Support(StrEnum):
    """What a passage does to a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"  # it says too little, or nothing, about it


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """One thing to judge: a claim (support) or a question (relevance) beside a passage."""

    kind: TaskKind
    text: str
    passage: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge says: a ``Support`` or a grade as its label, and how sure it is of support.

    ``score`` is the probability that the passage supports the claim, or the grade as a share of the
    best one. Without a ``label`` the judge had nothing readable to say, and ``reason`` says why.
    """

    label: str
    score: float = 0.0
    reason: str = ""
    usage: Usage | None = None

    @property
    def unreadable(self) -> bool:
        """Whether the judge said nothing that could be read."""
        return not self.label

    @property
    def supported(self) -> bool:
        """Whether the passage supports the claim."""
        return self.label == Support.SUPPORTED

    @property
    def contradicted(self) -> bool:
        """Whether the passage says the opposite."""
        return self.label == Support.CONTRADICTED

    @property
    def grade(self) -> int | None:
        """The grade of relevance, from 0 to 3; None where it is of support, or unreadable."""
        return int(self.label) if self.label.isdigit() else None


def graded(grade: int, reason: str = "", usage: Usage | None = None) -> Opinion:
    """The opinion that a passage deserves this grade."""
    return Opinion(str(grade), grade / BEST_GRADE, reason, usage)


class Judge(Protocol):
    """Says what it thinks of tasks; it is deterministic as far as it can be."""

    @property
    def name(self) -> str:
        """Names everything that changes an opinion, for the record of a run."""

    def judge(self, tasks: Sequence[JudgeTask]) -> Iterable[tuple[int, Opinion]]:
        """The opinion on each task with the task's place, in any order, as soon as it is known.

        A judge that cannot be asked at all raises ``JudgeError``.
        """


GivenJudge: TypeAlias = Judge | Callable[[str, str, str], Any]
"""A judge as Python code has one: an object, or a function of a kind of task, a text, a passage."""


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A sentence of an answer, the chunks it cites, and what each cited chunk does to it.

    ``citations`` are those of the sentence itself; ``opinions`` go by every chunk that the answer
    cites and whose text is known.
    """

    text: str
    citations: tuple[str, ...] = ()
    opinions: Mapping[str, Opinion] = field(default_factory=dict)

    @property
    def supported(self) -> bool:
        """Whether some cited passage supports it."""
        return any(one.supported for one in self.opinions.values())

    @property
    def unknown(self) -> bool:
        """Whether nobody can say: none is known to support it, and an opinion is unreadable."""
        return not self.supported and any(one.unreadable for one in self.opinions.values())

    @property
    def contradicted(self) -> bool:
        """Whether a cited passage says the opposite, and none supports it."""
        return not self.supported and any(one.contradicted for one in self.opinions.values())

    @property
    def label(self) -> Support:
        """What the cited passages together do to it."""
        if self.supported:
            return Support.SUPPORTED
        return Support.CONTRADICTED if self.contradicted else Support.UNSUPPORTED


@dataclass(frozen=True, slots=True)
class JudgedNugget:
    """Something that a right answer says: does the answer say it, and could it have?

    ``answer`` is the opinion with the answer as the passage; ``context`` the best one of the
    passages that were retrieved, None where there were none.
    """

    text: str
    vital: bool = True
    answer: Opinion | None = None
    context: Opinion | None = None


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """Everything that a judge said of one answer.

    ``context`` has the relevance of each retrieved passage, best ranked first. ``marked``: the text
    says which sentence cites what. ``usage`` is what the judge took.
    """

    judge: str
    claims: tuple[JudgedClaim, ...] = ()
    relevance: Opinion | None = None
    nuggets: tuple[JudgedNugget, ...] = ()
    context: tuple[Opinion, ...] = ()
    usage: Usage | None = None
    marked: bool = True

    @property
    def unreadable(self) -> int:
        """How many opinions had no label."""
        said = [
            *(opinion for claim in self.claims for opinion in claim.opinions.values()),
            *(one for nugget in self.nuggets for one in (nugget.answer, nugget.context) if one),
            *self.context,
            *([self.relevance] if self.relevance else []),
        ]
        return sum(one.unreadable for one in said)
