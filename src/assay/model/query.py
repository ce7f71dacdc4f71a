"""What is asked of a search component, and what does it answer?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from operator import attrgetter
from typing import NamedTuple, Protocol, runtime_checkable

from assay import limits
from assay.errors import EngineError
from assay.model.conditions import Condition, ConditionKind, Conditions, facts_of
from assay.model.document import Chunk, IngestionMode, SpeakerRole
from assay.options import Choice, Maybe, Option, Several, Switch, Text, option, options_of

_LABELS = Several(Text(form="text", least=0, ends=""))


@dataclass(frozen=True, slots=True)
class Filters:
    """Which chunks may be found; an empty tuple (or None) allows everything.

    Within a field the values are alternatives, between fields all must hold. Filters apply before
    ranking: a filtered search for k results returns the k best chunks that pass.
    """

    speaker_role: tuple[SpeakerRole, ...] = option(
        Several(Choice(SpeakerRole)),
        (),
        "Only what this speaker says.",
        name="speaker",
    )
    interview_id: tuple[str, ...] = option(_LABELS, (), "Only these interviews.")
    section_label: tuple[str, ...] = option(_LABELS, (), "Only these sections.", name="section")
    ingestion_mode: tuple[IngestionMode, ...] = option(
        Several(Choice(IngestionMode)),
        (),
        "Only what was ingested in this mode.",
    )
    source: tuple[str, ...] = option(_LABELS, (), "Only these sources.")
    doc_id: tuple[str, ...] = option(_LABELS, (), "Only these documents.")
    is_table: bool | None = option(Maybe(Switch(), none=()), None, "Only tables, or no tables.")

    metadata: tuple[Condition, ...] = option(
        Conditions(ConditionKind(), most=limits.MAX_FILTERS),
        (),
        "Only documents with such metadata: year>=2020, phase=PHASE2|PHASE3, journal!=BMJ.",
        name="filter",
    )

    def __post_init__(self) -> None:
        for attribute, one in _FILTER_RULES:
            value = getattr(self, attribute)
            accepted = one.accept(value)
            if accepted is not value:
                object.__setattr__(self, attribute, accepted)

    def admit(self, chunk: Chunk) -> bool:
        """Whether a chunk may be found."""
        return not blocking(chunk, self)

    def active(self) -> dict[str, tuple[str, ...]]:
        """The fields of a chunk that are restricted, with the values they allow, as text.

        What ``metadata`` says is not among them.
        """
        chosen: dict[str, tuple[str, ...]] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "metadata":
                continue
            if field.name == "is_table":
                if value is not None:
                    chosen[field.name] = (str(value),)
            elif value:
                chosen[field.name] = tuple(str(item) for item in value)
        return chosen


FILTER_OPTIONS: Mapping[str, Option] = options_of(Filters)
"""The filters by the names that they have on every surface."""
_FILTER_RULES = tuple((one.attribute, one) for one in FILTER_OPTIONS.values())


def filter_values(chunk: Chunk) -> dict[str, str]:
    """What a chunk has in each field that can be filtered by."""
    return {
        "speaker_role": str(chunk.speaker_role),
        "interview_id": chunk.interview_id,
        "section_label": chunk.section_label,
        "ingestion_mode": str(chunk.ingestion_mode),
        "source": chunk.source,
        "doc_id": chunk.doc_id,
        "is_table": str(chunk.is_table),
    }


def blocking(chunk: Chunk, filters: Filters) -> list[str]:
    """A description of every filter that a chunk does not pass; none if it may be found."""
    values = filter_values(chunk)
    found = [
        f"{name} is {values[name] or 'empty'}, not {' or '.join(allowed)}"
        for name, allowed in filters.active().items()
        if values[name] not in allowed
    ]
    if not filters.metadata:
        return found
    facts = facts_of(chunk.metadata)
    return found + [
        f"{one.field} is {' and '.join(facts.get(one.field, ())) or 'not known'}, not {one}"
        for one in filters.metadata
        if not one.passes(facts)
    ]


class Hit(NamedTuple):
    """One answer of a component: a chunk and the component's own score.

    A tuple, since hundreds are made for each query and a frozen dataclass takes four times as long.
    """

    key: int
    chunk_id: str
    score: float


def hits_of(
    keys: Iterable[int], chunk_ids: Iterable[str], scores: Iterable[float]
) -> Iterable[Hit]:
    """Hits of these parts; a third of the time that calling ``Hit`` takes."""
    return map(partial(tuple.__new__, Hit), zip(keys, chunk_ids, scores, strict=True))


def best_hits(hits: Iterable[Hit], k: int) -> list[Hit]:
    """The k best, by score descending and chunk id ascending."""
    found = sorted(hits, key=_SCORE, reverse=True)
    if len({hit.score for hit in found}) < len(found):  # seldom: then the ids decide
        found.sort(key=_CHUNK_ID)
        found.sort(key=_SCORE, reverse=True)
    return found[:k]


_CHUNK_ID, _SCORE = attrgetter("chunk_id"), attrgetter("score")


@runtime_checkable
class SearchesMany(Protocol):
    """A component that answers many queries at once, each as ``search`` answers it alone."""

    def search_many(
        self, queries: Sequence[str], k: int, filters: Filters | None = None
    ) -> list[list[Hit]]:
        """The hits of each query, in the order of the queries."""


class PartialAnswerError(EngineError):
    """A component could not look everywhere; ``hits`` are the best of where it could.

    An error, so that nobody takes a part for the whole who does not mean to.
    """

    def __init__(self, message: str, hits: Sequence[Hit]) -> None:
        super().__init__(message, hint="assay doctor")
        self.hits = tuple(hits)


class WordIndex(Protocol):
    """What the words of an index can tell beyond a ranking; ``query`` is as somebody wrote it."""

    def holding(self, query: str, keys: Sequence[int]) -> set[int]:
        """Those of the chunks that have what the query says must be there."""

    def nowhere(self, query: str) -> tuple[str, ...]:
        """What the query says must be there and no chunk has; it is not insisted on."""

    def exact(self, query: str) -> list[int]:
        """The chunks with every code and number of the query; none where too many have them."""

    def identified(self, code: str, k: int) -> list[int]:
        """The first k chunks that an identifier stands for."""

    def counts(self, terms: Sequence[str]) -> dict[str, int]:
        """How many chunks have each term, also as a part of a name."""

    def similar(self, term: str) -> tuple[str, int] | None:
        """The term that is most like one that no chunk has, and a chunk that has it."""


@runtime_checkable
class ExplainsTerms(Protocol):
    """A component that can say which terms gave a score."""

    def terms(self, query: str, keys: Sequence[int]) -> Mapping[int, Mapping[str, float]]:
        """What each term of the query adds to the score of each chunk."""


class Component(Protocol):
    """One way to search: the k best chunks by score descending, then chunk id ascending.

    The same index, query, filters and k give the same hits. A query that matches nothing gives
    none. A component that reached only a part of its data raises ``PartialAnswerError``.
    """

    @property
    def name(self) -> str:
        """bm25, splade or dense."""

    def search(self, query: str, k: int, filters: Filters | None = None) -> list[Hit]:
        """The k best chunks that pass the filters."""
