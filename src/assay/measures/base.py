"""What is a measure, and what does one hand back?

A measure is a value. Its text form, ``nDCG(gain=linear)@10``, is its identity in the command line,
the store and every report; its ``key``, ``ndcg_gain_linear_at_10``, is the same thing as a JSON
name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from assay.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay.measures.answers import AnswerRecord
    from assay.measures.classification import MeasureValue
    from assay.measures.table import JudgedHits
    from assay.model.arrays import BoolArray, FloatArray

ParamValue: TypeAlias = int | float | str

NO_RELEVANT = "no judged document reaches the relevance level"
DOCUMENTS_ALONE = "the query expects documents and no chunk"


class Family(Enum):
    """What a measure looks at: a ranking, a yes/no decision per query, or an answer."""

    RANKING = "ranking"
    DECISION = "decision"
    ANSWER = "answer"


class Cutoff(Enum):
    """May, must or must not a measure be cut at a rank?"""

    REQUIRED = "required"
    OPTIONAL = "optional"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Column:
    """One value per query. Where ``defined`` is False the value is 0.0 and means nothing."""

    values: FloatArray
    defined: BoolArray
    reason: str | None = None

    @classmethod
    def full(cls, values: FloatArray) -> Column:
        """A column in which every value is defined."""
        return cls(values, np.ones(len(values), dtype=np.bool_))

    @classmethod
    def of_chunks(cls, values: FloatArray, hits: JudgedHits) -> Column:
        """A column of a measure that looks at chunks: undefined where only documents count."""
        alone = hits.documents_alone()
        if not alone.any():
            return cls.full(values)
        return cls(np.where(alone, 0.0, values), ~alone, DOCUMENTS_ALONE)

    @classmethod
    def ratio(cls, above: FloatArray, below: FloatArray, reason: str) -> Column:
        """Division, undefined for the given reason where the denominator is zero."""
        defined = below > 0
        values = np.divide(above, below, out=np.zeros(len(below)), where=defined)
        return cls(values, defined, None if defined.all() else reason)


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of a measure: its default, what it may be, and what it does."""

    default: ParamValue
    help: str
    choices: tuple[str, ...] = ()
    low: float = -np.inf
    high: float = np.inf

    def read(self, name: str, text: str) -> ParamValue:
        """The value that ``text`` stands for, or a ``UsageError`` naming what is allowed."""
        if self.choices:
            if text in self.choices:
                return text
            raise UsageError(
                f"{name}={text!r} is not one of: {', '.join(self.choices)}",
            )
        number = self._number(name, text)
        if not self.low <= number <= self.high:
            raise UsageError(f"{name}={text} must be between {self.low:g} and {self.high:g}")
        return number

    def _number(self, name: str, text: str) -> int | float:
        kind = type(self.default)
        try:
            number = int(text) if kind is int else float(text)
        except ValueError:
            number = math.nan
        if (isinstance(number, float) and not math.isfinite(number)) or "_" in text:
            wanted = "a whole number" if kind is int else "a number"
            raise UsageError(f"{name}={text!r} is not {wanted}")
        return number


RELEVANCE = Param(1, "lowest grade that counts as relevant", low=1, high=1000)


@dataclass(frozen=True, slots=True)
class Definition:
    """A kind of measure: how it is written, what it takes, what it means."""

    name: str
    key: str
    help: str
    family: Family
    cutoff: Cutoff = Cutoff.NONE
    params: Mapping[str, Param] = field(default_factory=dict)
    bare_name: str | None = None  # the text form without a cutoff, where it differs (MRR, MAP)
    bare_key: str | None = None
    aliases: tuple[str, ...] = ()
    lower_is_better: bool = False
    about_relevance: bool = True  # of a ranking: nothing to say where no document is relevant
    rank: Callable[[JudgedHits, Measure], Column] | None = None
    decide: Callable[[BoolArray, FloatArray, Measure], MeasureValue] | None = None
    answer: Callable[[AnswerRecord], float | None] | None = None  # None: it does not apply
    without: str = ""  # why a measure of answers is undefined where it applies to none
    why: Callable[[Sequence[AnswerRecord]], str] | None = None  # the same, from the answers
    needs_answers: bool = True  # of a measure of answers: nothing to say where nobody answers


@dataclass(frozen=True, slots=True)
class Measure:
    """A definition with its cutoff and parameters; equal to another when the text form is."""

    definition: Definition = field(compare=False, repr=False)
    cutoff: int | None = None
    params: tuple[tuple[str, ParamValue], ...] = ()
    asked: str | None = field(default=None, compare=False, repr=False)
    name: str = field(init=False, default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.definition.name)

    def __str__(self) -> str:
        bare = self.cutoff is None and self.definition.bare_name
        name = self.definition.bare_name if bare else self.name
        inside = ",".join(f"{key}={_text(value)}" for key, value in self.params)
        return f"{name}{f'({inside})' if inside else ''}{self._at('@')}"

    @property
    def key(self) -> str:
        """The snake-case name for JSON, stores and gauges."""
        bare = self.cutoff is None and self.definition.bare_key
        head = self.definition.bare_key if bare else self.definition.key
        inside = "".join(f"_{key}_{_text(value)}" for key, value in self.params)
        return f"{head}{inside}{self._at('_at_')}"

    def _at(self, mark: str) -> str:
        return "" if self.cutoff is None else f"{mark}{self.cutoff}"

    def param(self, name: str) -> ParamValue:
        """The value of a parameter, default included."""
        return dict(self.params).get(name, self.definition.params[name].default)

    def integer(self, name: str) -> int:
        """A parameter that is a whole number."""
        return int(self.param(name))

    def number(self, name: str) -> float:
        """A parameter that is a number."""
        return float(self.param(name))

    def column(self, hits: JudgedHits) -> Column:
        """The measure for every query of the table (ranking measures only)."""
        if self.definition.rank is None:
            raise UsageError(
                f"{self} is a measure of {self.definition.family.value}s, not of rankings"
            )
        return self.definition.rank(hits, self)

    def evident(self, hits: JudgedHits) -> BoolArray:
        """The queries that have what the measure looks for (ranking measures only)."""
        if not self.definition.about_relevance:
            return np.ones(len(hits.queries), dtype=np.bool_)
        return hits.relevant(self.integer("rel") if "rel" in self.definition.params else 1) > 0

    def decide(self, labels: BoolArray, scores: FloatArray) -> MeasureValue:
        """The measure of a yes/no decision per query (decision measures only)."""
        if self.definition.decide is None:
            raise UsageError(f"{self} is not a measure of decisions")
        return self.definition.decide(labels, scores, self)


def _text(value: ParamValue) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
