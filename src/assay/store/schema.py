"""Which tables are there?

``changes`` numbers every write; a chunk knows the change that brought it and the one that removed
it, so that a derived index can ask what happened since it last looked. Removed chunks keep their
spans and chunker version, without their text: old runs that cite them can still be compared.

``eval_runs`` and ``eval_query_results`` hold evaluations. What is read for every score stands in
``result_json``, with the first 20 results; the others are in ``tail_json``, so that comparing runs
of thousands of queries need not read them. What components found, which is larger and read rarely,
is in ``stages_json``.

``annotation_grades`` is a log: a later row replaces an earlier one of the same annotator and item,
and undoing marks a row, so that nothing anybody said is ever lost.

``judge_opinions`` has what a judge said of a task, by the judge's name and the task's digest, and
``claim_grades`` what people said of a claim beside the passages that it cites, by their digest.

Rows that hold no JSON object with a checksum in it have a column ``seal``.

A change here needs a step in ``migrations/versions`` and a higher ``VERSION``; a test compares the
tables that the steps build with these.
"""

from __future__ import annotations

from sqlalchemy import (
    REAL,
    BigInteger,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    func,
    null,
)
from sqlalchemy.types import TypeEngine

APPLICATION_ID = 0x61737379  # "assy"
VERSION = 7

# SQLite's REAL has 64 bits, PostgreSQL's has 32
REAL64: TypeEngine[float] = REAL().with_variant(Double(), "postgresql")

# a CRC has 32 bits and no sign
CRC: TypeEngine[int] = Integer().with_variant(BigInteger(), "postgresql")

metadata = MetaData()


def _seal(table: str) -> tuple[Column[int], Index]:
    """The CRC of all other values of a row; none while it is being written, or from before."""
    return Column("seal", CRC, onupdate=null()), Index(f"{table}_by_seal", "seal")


changes = Table(
    "changes",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("doc_id", Text, nullable=False),
    Column("kind", Text, nullable=False),  # put | delete
    sqlite_autoincrement=True,
    sqlite_strict=True,
)

documents = Table(
    "documents",
    metadata,
    Column("doc_id", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("profile", Text, nullable=False),
    Column("chunker_version", Text, nullable=False),
    Column("body", Text, nullable=False),  # sections, metadata and the rest, as JSON
    Column("seq", Integer, nullable=False),
    sqlite_strict=True,
)

chunks = Table(
    "chunks",
    metadata,
    Column("key", Integer, primary_key=True, autoincrement=True),
    Column("chunk_id", Text, nullable=False),
    Column("doc_id", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("section_label", Text, nullable=False),
    Column("intent_hint", Text, nullable=False),
    Column("is_table", Integer, nullable=False),
    Column("table_html", Text, nullable=False),
    Column("spans", Text, nullable=False),
    Column("chunker_version", Text, nullable=False),
    Column("speaker_role", Text, nullable=False),
    Column("ingestion_mode", Text, nullable=False),
    Column("interview_id", Text, nullable=False),
    Column("start_time", REAL64),
    Column("end_time", REAL64),
    Column("source", Text, nullable=False),
    Column("metadata", Text, nullable=False),
    Column("added", Integer, nullable=False),
    Column("removed", Integer),
    Index("chunks_by_doc", "doc_id"),
    Index("chunks_by_id", "chunk_id"),
    Index("chunks_by_added", "added"),
    Index("chunks_by_removed", "removed"),
    sqlite_autoincrement=True,
    sqlite_strict=True,
)

PRESENT = func.coalesce(chunks.c.removed, 0) == 0
"""That a chunk was not removed.

Not ``removed IS NULL``, for which SQLite takes the index of removed chunks: it expects few without
a number there, and reads every chunk to find one by its id.
"""

api_keys = Table(
    "api_keys",
    metadata,
    Column("key_id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False),  # SHA-256 of the secret part, never the secret
    Column("scopes", Text, nullable=False),  # words, joined by blanks
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text),
    Column("revoked_at", Text),
    *_seal("api_keys"),
    sqlite_strict=True,
)

jobs = Table(
    "jobs",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("request", Text, nullable=False),  # all that is needed to do it again, as JSON
    Column("digest", Text, nullable=False),  # of the request: the same id must mean the same work
    Column("owner", Text, nullable=False),
    Column("idempotency_key", Text),
    Column("done", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("run_id", Text),
    Column("result", Text),
    Column("problem", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Index("jobs_by_state", "state"),
    Index("jobs_by_idempotency", "owner", "idempotency_key", unique=True),
    *_seal("jobs"),
    sqlite_strict=True,
)

query_log = Table(
    "query_log",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("at", Text, nullable=False),
    Column("query", Text),  # scrubbed; empty where words are not kept
    Column("query_type", Text, nullable=False),
    Column("results", Integer, nullable=False),
    Column("top_score", REAL64),
    Column("degraded", Integer, nullable=False),
    Column("latency_ms", REAL64, nullable=False),
    Index("query_log_by_time", "at"),
    *_seal("query_log"),
    sqlite_autoincrement=True,
    sqlite_strict=True,
)

eval_test_sets = Table(
    "eval_test_sets",
    metadata,
    Column("checksum", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("body", Text, nullable=False),  # as model/testset_json.py writes it
    sqlite_strict=True,
)

eval_runs = Table(
    "eval_runs",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("run_id", Text, nullable=False, unique=True),
    Column("suite", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("test_set_version", Text, nullable=False),
    Column("test_set_checksum", Text, ForeignKey("eval_test_sets.checksum"), nullable=False),
    Column("part", Text, nullable=False),
    Column("config_snapshot_json", Text, nullable=False),
    Column("config_hash", Text, nullable=False),
    Column("cache_key", Text, nullable=False),
    Column("generation", Text, nullable=False),
    Column("engine", Text, nullable=False),
    Column("provenance_json", Text, nullable=False),  # chunker versions, models, seed
    Column("queries", Integer, nullable=False),
    Column("aggregate_json", Text),
    Column("commit_hash", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("finished_at", Text),
    Column("owner", Text, nullable=False),
    Index("eval_runs_by_suite", "suite", "seq"),
    Index("eval_runs_by_cache_key", "cache_key"),
    sqlite_autoincrement=True,
    sqlite_strict=True,
)

eval_query_results = Table(
    "eval_query_results",
    metadata,
    Column("run_id", Text, ForeignKey("eval_runs.run_id", ondelete="CASCADE"), primary_key=True),
    Column("query_id", Text, primary_key=True),
    Column("place", Integer, nullable=False),
    Column("result_json", Text, nullable=False),
    Column("stages_json", Text),
    Column("tail_json", Text),
    sqlite_strict=True,
)

eval_tags = Table(
    "eval_tags",
    metadata,
    Column("tag", Text, primary_key=True),
    Column("run_id", Text, ForeignKey("eval_runs.run_id", ondelete="CASCADE"), nullable=False),
    *_seal("eval_tags"),
    sqlite_strict=True,
)

eval_held_out_uses = Table(
    "eval_held_out_uses",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("suite", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("run_id", Text, nullable=False),  # stays when the run is deleted
    Column("purpose", Text, nullable=False),
    Column("at", Text, nullable=False),
    *_seal("eval_held_out_uses"),
    sqlite_autoincrement=True,
    sqlite_strict=True,
)

annotation_rounds = Table(
    "annotation_rounds",
    metadata,
    Column("round_id", Text, primary_key=True),
    Column("purpose", Text, nullable=False),
    Column("test_set", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("checksum", Text, nullable=False),
    Column("first_annotator", Text, nullable=False),
    Column("second_annotator", Text, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("source", Text, nullable=False),  # how queries were drawn and pooled, as JSON
    Column("created_at", Text, nullable=False),
    Column("closed_at", Text),
    *_seal("annotation_rounds"),
    sqlite_strict=True,
)

_ROUND = "annotation_rounds.round_id"

annotation_queries = Table(
    "annotation_queries",
    metadata,
    Column("round_id", Text, ForeignKey(_ROUND, ondelete="CASCADE"), primary_key=True),
    Column("query_id", Text, primary_key=True),
    Column("place", Integer, nullable=False),
    Column("query_text", Text, nullable=False),
    Column("query_type", Text),
    Column("origin", Text, nullable=False),
    *_seal("annotation_queries"),
    sqlite_strict=True,
)

annotation_items = Table(
    "annotation_items",
    metadata,
    Column("round_id", Text, ForeignKey(_ROUND, ondelete="CASCADE"), primary_key=True),
    Column("query_id", Text, primary_key=True),
    Column("chunk_id", Text, primary_key=True),
    Column("doc_id", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("section_label", Text, nullable=False),
    Column("table_html", Text, nullable=False),
    Column("spans", Text, nullable=False),
    Column("chunker_version", Text, nullable=False),
    Column("found_by", Text, nullable=False),  # rank by list, as JSON
    *_seal("annotation_items"),
    sqlite_strict=True,
)

_ITEM = ("round_id", "query_id", "chunk_id")


def _of_item() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        _ITEM, [f"annotation_items.{name}" for name in _ITEM], ondelete="CASCADE"
    )


annotation_grades = Table(
    "annotation_grades",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=True),
    Column("round_id", Text, nullable=False),
    Column("query_id", Text, nullable=False),
    Column("chunk_id", Text, nullable=False),
    Column("annotator", Text, nullable=False),
    Column("grade", Integer),  # none: cannot be judged
    Column("comment", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("undone_at", Text),
    _of_item(),
    Index("annotation_grades_by_round", "round_id", "annotator"),
    *_seal("annotation_grades"),
    sqlite_autoincrement=True,
    sqlite_strict=True,
)

annotation_decisions = Table(
    "annotation_decisions",
    metadata,
    Column("round_id", Text, primary_key=True),
    Column("query_id", Text, primary_key=True),
    Column("chunk_id", Text, primary_key=True),
    Column("grade", Integer),
    Column("decided_by", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("at", Text, nullable=False),
    _of_item(),
    *_seal("annotation_decisions"),
    sqlite_strict=True,
)

judge_opinions = Table(
    "judge_opinions",
    metadata,
    Column("judge", Text, primary_key=True),
    Column("task", Text, primary_key=True),
    Column("opinion_json", Text, nullable=False),
    Column("at", Text, nullable=False),
    *_seal("judge_opinions"),
    sqlite_strict=True,
)

claim_grades = Table(
    "claim_grades",
    metadata,
    Column("claim", Text, primary_key=True),
    Column("annotator", Text, primary_key=True),
    Column("label", Text, nullable=False),
    Column("at", Text, nullable=False),
    *_seal("claim_grades"),
    sqlite_strict=True,
)

SEALED = tuple(table for table in metadata.sorted_tables if "seal" in table.c)
"""Tables whose rows carry a CRC in a column of its own (``store/seals.py``)."""
