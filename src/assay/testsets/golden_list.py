"""How is a golden list read: queries with the documents and chunks that are expected?

A YAML or JSON list of ``{id, query, expected_doc_ids, expected_chunk_ids, must_contain,
forbidden}``, or such a list under ``golden``. An entry with no expected document and no
expected chunk should be refused; one that has neither key is not judged. ``synthetic`` is the
passage that a query was made from.
"""

from __future__ import annotations

from assay.model.answers import Expect
from assay.model.testset import (
    GoldenQuery,
    Judgment,
    Level,
    QueryType,
    SpeakerFilter,
    level_of_chunk,
)
from assay.strict_yaml import MappingNode, Node
from assay.testsets.draft import DraftQuery, DraftSet
from assay.testsets.fields import FieldReader

KEYS = (
    "id",
    "query",
    "expected_doc_ids",
    "expected_chunk_ids",
    "must_contain",
    "forbidden",
    "query_type",
    "speaker_filter",
    "group",
    "synthetic",
    "notes",
)
GRADE = 1  # the list only distinguishes expected from not expected


def read_golden_list(items: tuple[Node, ...], draft: DraftSet) -> None:
    """Fill a draft from the entries of a golden list."""
    for number, node in enumerate(items, 1):
        if isinstance(node, MappingNode):
            draft.queries.append(_query(node, draft, number))
        else:
            draft.problem(node.line, f"query {number} must be a mapping with id and query")


def _query(node: MappingNode, draft: DraftSet, number: int) -> DraftQuery:
    row = FieldReader(node, draft, f"query {number}")
    query_id = row.text("id", required=True)
    row = FieldReader(node, draft, query_id or f"query {number}")
    row.refuse_unknown(KEYS)
    docs, chunks = (  # an id that a list repeats is expected once: no grades can contradict
        tuple(dict.fromkeys(row.texts(name))) for name in ("expected_doc_ids", "expected_chunk_ids")
    )
    said = node.get("expected_doc_ids") is not None or node.get("expected_chunk_ids") is not None
    judgments = _judgments(docs, chunks)
    query = GoldenQuery(
        query_id,
        row.text("query", required=True),
        row.choice("query_type", QueryType),
        Expect.REFUSAL if said and not judgments else Expect.EVIDENCE,
        judgments,
        row.choice("speaker_filter", SpeakerFilter) or SpeakerFilter.ALL,
        must_contain=row.texts("must_contain"),
        forbidden=row.texts("forbidden"),
        group=row.optional("group"),
        synthetic=row.optional("synthetic"),
    )
    lines = row.lines()
    line = lines.get("expected_chunk_ids" if chunks else "expected_doc_ids", node.line)
    return DraftQuery(query, node.line, lines, (line,) * len(judgments))


def _judgments(docs: tuple[str, ...], chunks: tuple[str, ...]) -> tuple[Judgment, ...]:
    """Chunks under their document where one is named, then the documents without a chunk."""
    owners = {chunk: _owner(chunk, docs) for chunk in chunks}
    covered = set(owners.values())
    return (
        *(
            Judgment(one, GRADE, (), owners[one], level_of_chunk(one, owners[one]))
            for one in chunks
        ),
        *(Judgment(doc, GRADE, level=Level.DOCUMENT) for doc in docs if doc not in covered),
    )


def _owner(chunk: str, docs: tuple[str, ...]) -> str | None:
    """The expected document that a chunk belongs to, by its id or because there is only one.

    The id of a chunk begins with its document, and no letter or digit follows: ``doc7#3``.
    """
    named = [
        doc
        for doc in docs
        if chunk.startswith(doc) and chunk != doc and not chunk[len(doc)].isalnum()
    ]
    if named:
        return max(named, key=len)
    return docs[0] if len(docs) == 1 else None
