"""Who judged what, and how good is it?"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from assay.model.ranking import document_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.model.arrays import IntArray

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Qrels:
    """Every judgment of a test collection, in columns; queries keep the order they came in.

    ``query`` points into ``queries``, ``docs`` and ``grade`` run parallel to it. ``spans`` holds,
    for the rows that have them, the character spans of the document that were judged;
    ``documents`` the document of rows whose id does not tell it. ``fields`` holds what else is
    known of a query (its type, its speaker), for breakdowns.
    """

    queries: tuple[str, ...]
    query: IntArray
    docs: tuple[str, ...]
    grade: IntArray
    spans: Mapping[int, tuple[Span, ...]] = field(default_factory=dict)
    fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    documents: Mapping[int, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Qrels of {len(self.queries)} queries, {len(self.docs)} judgments>"

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Where each query stands in ``queries``."""
        return {query: index for index, query in enumerate(self.queries)}

    @cached_property
    def judges_documents(self) -> bool:
        """Whether some judged id is not that of a chunk in the usual form."""
        return any(document_id(doc) == doc for doc in self.docs)

    @cached_property
    def by_query(self) -> Mapping[str, Mapping[str, int]]:
        """The grades as ``{query: {document: grade}}``."""
        table: dict[str, dict[str, int]] = {query: {} for query in self.queries}
        for index, doc, grade in zip(
            self.query.tolist(), self.docs, self.grade.tolist(), strict=True
        ):
            table[self.queries[index]][doc] = grade
        return table

    @cached_property
    def best_first(self) -> tuple[IntArray, IntArray]:
        """The query and the grade of every judgment; within a query the best grade comes first."""
        import numpy as np

        order = np.lexsort((-self.grade, self.query))
        return self.query[order], self.grade[order]

    @classmethod
    def from_mapping(
        cls,
        grades: Mapping[str, Mapping[str, int]],
        *,
        fields: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Qrels:
        """Columns from ``{query: {document: grade}}``, already checked."""
        import numpy as np  # not above: settings come here for ``Span``, and load nothing heavy

        table = {query: dict(judged) for query, judged in grades.items()}
        sizes = [len(judged) for judged in table.values()]
        every = chain.from_iterable(judged.values() for judged in table.values())
        qrels = cls(
            queries=tuple(table),
            query=np.repeat(np.arange(len(sizes)), sizes),
            docs=tuple(chain.from_iterable(table.values())),
            grade=np.fromiter(every, dtype=np.int64, count=sum(sizes)),
            fields=fields or {},
        )
        vars(qrels)["by_query"] = table  # what the cached property would make of the columns
        return qrels
