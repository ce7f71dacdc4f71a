"""Which document does a chunk belong to, whatever form its id has?

Whoever knows decides, in this order: the engine, where it returned a document beside the chunk; the
id, which holds the document before a separator (``:chunk_`` unless another is named); the test set,
where it judges the chunk under its document. An id of which nobody knows more stands for itself.

Ids of other systems (``doc7#3``, ``doc7_p2``) would then match no judged document, which looks like
a bad ranking. ``doubts`` says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.hits.chunk_ids import of_judged_documents, what_to_do
from assay.model.ranking import CHUNK_SEPARATOR, Match, document_id, unanimous
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.testset import GoldenQuery, Judgment, Level, TestSet
from assay.plural import counted

_NUMBERED = re.compile(r".*[0-9A-Za-z]([\W_]+[A-Za-z]*)[0-9]+")
"""An id that ends like that of a chunk: ``doc7#3``, ``doc7_p2``, ``doc7-0001``."""


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of chunks: those that a test set pairs them with, else what ids say."""

    pairs: Mapping[str, str] = field(default_factory=dict)
    separator: str = CHUNK_SEPARATOR

    def of(self, result: RankedResult) -> str:
        """The document of a result; its own id where nobody knows more."""
        chunk, document = result.chunk_id, result.doc_id
        if self.separator != CHUNK_SEPARATOR and document == document_id(chunk):
            # the engine named none, so the id was read in the usual way
            document = document_id(chunk, self.separator)
        return self.pairs.get(chunk, document) if document == chunk else document

    def judged(self, one: Judgment) -> str | None:
        """The document that is judged or that the judged chunk belongs to; None: nobody said."""
        chunk = one.owner is None and one.level is not Level.DOCUMENT
        if chunk and self.separator != CHUNK_SEPARATOR and self.separator in one.id:
            return document_id(one.id, self.separator)
        return one.document


def documents_of(test_set: TestSet, separator: str = CHUNK_SEPARATOR) -> Documents:
    """The documents of chunks by the pairs of a test set; a chunk with two has none."""
    pairs = unanimous(
        (one.id, one.owner)
        for query in test_set.queries
        for one in query.relevant_docs
        if one.owner is not None
    )
    return Documents(pairs, separator)


def doubts(
    queries: Iterable[GoldenQuery],
    outcomes: Mapping[str, QueryOutcome],
    documents: Documents,
    rule: Match,
) -> list[str]:
    """What to say where results may belong to judged documents, and their ids do not tell."""
    asked = [query for query in queries if query.judged]
    wanted = {
        document
        for query in asked
        for one in query.relevant_docs
        if one.grade > 0 and (document := documents.judged(one)) is not None
    }
    owners = {
        result.chunk_id: documents.of(result)
        for query in asked
        if (outcome := outcomes.get(query.query_id)) is not None
        for result in outcome.results
    }
    alone = {name for name, owner in owners.items() if name == owner and name not in wanted}
    if note := of_judged_documents(alone, wanted):
        return [note]
    if chunks := _without_documents(asked, documents, owners, wanted):
        return [
            f"{counted(len(chunks), 'expected chunk')} came back and no expected document: "
            f"nothing says that {chunks[0]} is part of one; return doc_id as well"
        ]
    if rule is Match.EXACT:
        return []
    return _by_document_in_vain(asked, documents, alone)


def _without_documents(
    asked: Sequence[GoldenQuery],
    documents: Documents,
    owners: Mapping[str, str],
    wanted: set[str],
) -> list[str]:
    """The expected chunks that came back, where none of the expected documents did."""
    if not wanted or not wanted.isdisjoint(owners.values()):
        return []
    return sorted(
        {
            one.id
            for query in asked
            for one in query.relevant_docs
            if one.grade > 0 and one.id in owners and documents.judged(one) != one.id
        }
    )


def _by_document_in_vain(
    asked: Sequence[GoldenQuery], documents: Documents, alone: set[str]
) -> list[str]:
    """Where no judged id and no result names a document: ids are all that was compared."""
    judged = [one for query in asked for one in query.relevant_docs]
    if not alone or any(documents.judged(one) not in (None, one.id) for one in judged):
        return []
    shapes = [ending for name in sorted(alone) for ending in _ending(name)]
    own = {ending for one in judged for ending in _ending(one.id)}
    if not own.intersection(shapes):
        return []
    shown = next(name for name in sorted(alone) if own.intersection(_ending(name)))
    return [
        "results are matched by document, but no judged id names one, so each stands for itself: "
        f"{shown} is compared as a whole; {what_to_do(one for one in shapes if one in own)}"
    ]


def _ending(name: str) -> Iterator[str]:
    if found := _NUMBERED.fullmatch(name):
        yield found[1]
