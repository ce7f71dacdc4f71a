"""What do two sets of queries have in common that should be on one side only?

Figures of a test set are believed because nobody tuned on it. That no longer holds where a query,
its text, or its group (a post, an interview) is also in the set that was tuned on. A document that
answers queries of both is worth knowing of and is common: a corpus is searched as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from assay.model.ranking import document_id
from assay.model.testset import GoldenQuery, TestSet
from assay.plural import counted

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Overlap:
    """What stands on two sides; ``texts`` are pairs of queries that ask the same."""

    first: str
    second: str
    query_ids: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    groups: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    @property
    def disjoint(self) -> bool:
        """Whether no query, text or group is on both sides; documents may be."""
        return not (self.query_ids or self.texts or self.groups)

    def __bool__(self) -> bool:
        return not self.disjoint or bool(self.documents)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "first": self.first,
            "second": self.second,
            "disjoint": self.disjoint,
            "query_ids": list(self.query_ids),
            "texts": [list(pair) for pair in self.texts],
            "groups": list(self.groups),
            "documents": list(self.documents),
        }

    def sentences(self, *, groups: bool = True, documents: bool = True) -> list[str]:
        """What a reader must know; texts are named by the ids of their queries."""
        pairs = [one if one == other else f"{one} = {other}" for one, other in self.texts]
        found = [
            (self.query_ids, "query id", "in both"),
            (pairs, "query text", "in both"),
            (self.groups if groups else (), "group", "in both"),
            (self.documents if documents else (), "document", "relevant in both"),
        ]
        return [
            f"{self.first} and {self.second}: {counted(len(names), what, 'is')} {where}: "
            f"{', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''}"
            for names, what, where in found
            if names
        ]


def overlap(
    first: Iterable[GoldenQuery], second: Iterable[GoldenQuery], names: tuple[str, str]
) -> Overlap:
    """What two lists of queries have in common."""
    a, b = tuple(first), tuple(second)
    texts = {asked(query): query.query_id for query in reversed(a)}
    return Overlap(
        *names,
        query_ids=_common(a, b, lambda query: {query.query_id}),
        texts=tuple((texts[asked(query)], query.query_id) for query in b if asked(query) in texts),
        groups=_common(a, b, lambda query: {query.group} if query.group else set()),
        documents=_common(a, b, _documents),
    )


def overlaps(sets: Sequence[TestSet]) -> tuple[Overlap, ...]:
    """Each pair of sets that has something in common."""
    pairs = combinations(sets, 2)
    found = (overlap(a.queries, b.queries, (a.name, b.name)) for a, b in pairs)
    return tuple(one for one in found if one)


def asked(query: GoldenQuery) -> str:
    """What a query asks, whatever the case of its letters and the blanks between its words."""
    return " ".join(query.query_text.casefold().split())


def _documents(query: GoldenQuery) -> set[str]:
    return {
        judged.owner or document_id(judged.id) for judged in query.relevant_docs if judged.grade > 0
    }


def _common(
    a: Iterable[GoldenQuery], b: Iterable[GoldenQuery], names: Callable[[GoldenQuery], set[str]]
) -> tuple[str, ...]:
    """The names that occur on both sides."""
    first, second = ({name for query in side for name in names(query)} for side in (a, b))
    return tuple(sorted(first & second))
