"""How is a dataset of the evaluation workflow read: queries with their relevant segments?

::

    {"dataset_id": "test_set_v1", "interview_ids": ["interview_001"],
     "test_queries": [{"query_id": "q1", "query_text": "...", "speaker_filter": "PATIENT",
                       "relevant_segment_ids": ["uuid-1", "uuid-5"]}],
     "total_queries": 1}

A segment is a chunk that is relevant or not. A query without relevant segments is skipped with a
warning when such a file is read, since that is what the workflow does with it.
"""

from __future__ import annotations

from assay.model.document import IngestionMode
from assay.model.testset import GoldenQuery, Judgment, QueryType, SpeakerFilter
from assay.strict_yaml import MappingNode, Node
from assay.testsets.draft import DraftQuery, DraftSet
from assay.testsets.fields import FieldReader, is_null

SET_KEYS = (
    "dataset_id",
    "version",
    "description",
    "interview_ids",
    "test_queries",
    "total_queries",
)
QUERY_KEYS = (
    "query_id",
    "query_text",
    "relevant_segment_ids",
    "speaker_filter",
    "ingestion_mode",
    "query_type",
    "group",
)
GRADE = 1  # only relevant or not
VERSION = "v1"  # such a file has none


def read_workflow(root: MappingNode, draft: DraftSet) -> None:
    """Fill a draft from a mapping with ``test_queries``."""
    row = FieldReader(root, draft)
    row.refuse_unknown(SET_KEYS)
    draft.name = row.text("dataset_id", required=True)
    draft.version = row.text("version") or VERSION
    draft.description = row.text("description")
    interviews = row.texts("interview_ids")
    if interviews:
        draft.provenance = {"interview_ids": list(interviews)}
    queries = row.items("test_queries")
    for number, node in enumerate(queries, 1):
        if isinstance(node, MappingNode):
            draft.queries.append(_query(node, draft, number))
        else:
            draft.problem(node.line, f"query {number} must be an object")
    total = root.get("total_queries")
    if not is_null(total) and (said := row.whole("total_queries")) not in (None, len(queries)):
        assert total is not None
        draft.warn(total.line, f"total_queries is {said}, and the file holds {len(queries)}")


def _query(node: MappingNode, draft: DraftSet, number: int) -> DraftQuery:
    row = FieldReader(node, draft, f"query {number}")
    query_id = row.text("query_id", required=True)
    row = FieldReader(node, draft, query_id or f"query {number}")
    row.refuse_unknown(QUERY_KEYS)
    segments: tuple[Node, ...] = row.items("relevant_segment_ids")
    judgments = tuple(Judgment(name, GRADE) for name in row.texts("relevant_segment_ids"))
    query = GoldenQuery(
        query_id,
        row.text("query_text", required=True),
        row.choice("query_type", QueryType),
        relevant_docs=judgments,
        speaker_filter=row.choice("speaker_filter", SpeakerFilter) or SpeakerFilter.ALL,
        ingestion_mode=row.choice("ingestion_mode", IngestionMode),
        group=row.optional("group"),
    )
    whole = len(judgments) == len(segments)
    lines = tuple(item.line for item in segments) if whole else (node.line,) * len(judgments)
    return DraftQuery(query, node.line, row.lines(), lines, whole)
