"""How is a test set in our own form read, in YAML or JSON?

::

    name: test_set_v1
    version: v1
    queries:
      - query_id: q001
        query_text: pembrolizumab adverse events
        query_type: exact_term
        relevant_docs:
          - {doc_id: "PMC123:chunk_5", grade: 3, spans: [[120, 840]]}

A set without any grade is binary: ``- PMC123`` and ``{doc_id: PMC123}`` are relevant, and so is
``relevant: true``; ``relevant: false`` is not. They become the grades 1 and 0.

``assay testset schema`` prints the full schema for editors.
"""

from __future__ import annotations

from assay.model.answers import Expect
from assay.model.document import IngestionMode
from assay.model.testset import (
    GoldenQuery,
    HeldOut,
    Judgment,
    Level,
    Nugget,
    QueryType,
    SpeakerFilter,
    level_of_chunk,
)
from assay.strict_yaml import MappingNode, Node, ScalarNode, SequenceNode
from assay.testsets.draft import DraftQuery, DraftSet
from assay.testsets.fields import FieldReader, is_null, plain

SET_KEYS = ("name", "version", "description", "queries", "held_out", "skipped", "provenance")
QUERY_KEYS = (
    "query_id",
    "query_text",
    "query_type",
    "expect",
    "relevant_docs",
    "speaker_filter",
    "ingestion_mode",
    "must_contain",
    "forbidden",
    "group",
    "reference",
    "nuggets",
    "synthetic",
)
NUGGET_KEYS = ("text", "vital")
JUDGMENT_KEYS = ("doc_id", "chunk_id", "grade", "relevant", "spans", "level")
HELD_OUT_KEYS = ("seed", "query_ids")
RELEVANT = 1  # the grade of what is relevant in a set without grades
NOTE_KEY = "notes"  # a note for people, on any query or judgment


def read_native(root: MappingNode, draft: DraftSet) -> None:
    """Fill a draft from a mapping with ``queries``."""
    row = FieldReader(root, draft)
    row.refuse_unknown((*SET_KEYS, "$schema"))
    draft.name = row.text("name", required=True)
    draft.version = row.text("version", required=True)
    draft.description = row.text("description")
    draft.skipped = row.texts("skipped")
    nodes = row.items("queries")
    binary = not any(map(_has_grade, nodes))
    for number, node in enumerate(nodes, 1):
        draft.queries.append(read_query(node, draft, number, binary=binary))
    held_out = root.get("held_out")
    if held_out is not None and not is_null(held_out):
        draft.held_out_line = held_out.line
        draft.held_out = _held_out(held_out, row)
    provenance = root.get("provenance")
    if provenance is not None and not is_null(provenance):
        if isinstance(provenance, MappingNode):
            draft.provenance = plain(provenance)
        else:
            row.problem(provenance, "provenance must be a mapping")


def _has_grade(query: Node) -> bool:
    """Whether a judgment of the query has a grade; without any, a set is binary."""
    listed = query.get("relevant_docs") if isinstance(query, MappingNode) else None
    items = listed.items if isinstance(listed, SequenceNode) else ()
    return any(isinstance(one, MappingNode) and one.get("grade") is not None for one in items)


def read_query(node: Node, draft: DraftSet, number: int, *, binary: bool) -> DraftQuery:
    """One query; ``number`` identifies it if it has no id."""
    if not isinstance(node, MappingNode):
        draft.problem(node.line, f"query {number} must be a mapping with query_id and query_text")
        return DraftQuery(GoldenQuery("", ""), node.line, whole=False)
    row = FieldReader(node, draft, f"query {number}")
    query_id = row.text("query_id", required=True)
    row = FieldReader(node, draft, query_id or f"query {number}")
    row.refuse_unknown((*QUERY_KEYS, NOTE_KEY))
    judged = [(_judgment(item, row, binary), item.line) for item in row.items("relevant_docs")]
    kept = [(judgment, line) for judgment, line in judged if judgment is not None]
    query = GoldenQuery(
        query_id,
        row.text("query_text", required=True),
        row.choice("query_type", QueryType),
        row.choice("expect", Expect) or Expect.EVIDENCE,
        tuple(judgment for judgment, _ in kept),
        row.choice("speaker_filter", SpeakerFilter) or SpeakerFilter.ALL,
        row.choice("ingestion_mode", IngestionMode),
        row.texts("must_contain"),
        row.texts("forbidden"),
        row.optional("group"),
        row.optional("reference"),
        tuple(filter(None, (_nugget(item, row) for item in row.items("nuggets")))),
        row.optional("synthetic"),
    )
    listed = node.get("relevant_docs")
    whole = len(kept) == len(judged) and (is_null(listed) or isinstance(listed, SequenceNode))
    return DraftQuery(query, node.line, row.lines(), tuple(line for _, line in kept), whole)


def _judgment(node: Node, query: FieldReader, binary: bool) -> Judgment | None:
    if binary and isinstance(node, ScalarNode) and node.text:
        return Judgment(node.text, RELEVANT)
    if not isinstance(node, MappingNode):
        query.problem(node, "a judgment is {doc_id: ..., grade: ...}")
        return None
    row = FieldReader(node, query.draft, query.query_id)
    row.refuse_unknown((*JUDGMENT_KEYS, NOTE_KEY))
    doc_id, chunk_id = row.text("doc_id"), row.text("chunk_id")
    grade = row.relevance(RELEVANT) if binary else row.grade()
    if not binary and (said := node.get("relevant")) is not None:
        row.problem(said, "relevant stands in a set with grades", "give every judgment a grade")
    if not doc_id and not chunk_id:
        row.problem(node, "doc_id is missing", "it names the chunk or document that was judged")
    if grade is None or not (doc_id or chunk_id):
        return None
    level = row.choice("level", Level)
    if chunk_id and level is Level.DOCUMENT:
        row.problem(node, "level: document, and yet a chunk_id", "leave out one of them")
    if chunk_id or level is Level.CHUNK:
        owner = doc_id or None if chunk_id else None
        judged = chunk_id or doc_id
        return Judgment(judged, grade, row.spans("spans"), owner, level_of_chunk(judged, owner))
    return Judgment(doc_id, grade, row.spans("spans"), level=level)


def _nugget(node: Node, query: FieldReader) -> Nugget | None:
    if isinstance(node, ScalarNode) and node.text:
        return Nugget(node.text)
    if not isinstance(node, MappingNode):
        query.problem(node, "a nugget is a text, or {text: ..., vital: false}")
        return None
    row = FieldReader(node, query.draft, query.query_id)
    row.refuse_unknown(NUGGET_KEYS)
    return Nugget(row.text("text", required=True), row.switch("vital", usual=True))


def _held_out(node: Node, parent: FieldReader) -> HeldOut | None:
    if not isinstance(node, MappingNode):
        parent.problem(node, "held_out must be a mapping with seed and query_ids")
        return None
    row = FieldReader(node, parent.draft)
    row.refuse_unknown(HELD_OUT_KEYS)
    seed = row.whole("seed")
    return None if seed is None else HeldOut(seed, row.texts("query_ids"))
