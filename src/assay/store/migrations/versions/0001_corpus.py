"""Documents and chunks: the first format."""

import sqlalchemy as sa

from assay.store.migrations.tables import Tables
from assay.store.schema import REAL64


def upgrade(tables: Tables) -> None:
    """Create the tables of format 1."""
    tables.create(
        "changes",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("doc_id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )
    tables.create(
        "documents",
        sa.Column("doc_id", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("profile", sa.Text, nullable=False),
        sa.Column("chunker_version", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sqlite_strict=True,
    )
    tables.create(
        "chunks",
        sa.Column("key", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("chunk_id", sa.Text, nullable=False),
        sa.Column("doc_id", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("section_label", sa.Text, nullable=False),
        sa.Column("intent_hint", sa.Text, nullable=False),
        sa.Column("is_table", sa.Integer, nullable=False),
        sa.Column("table_html", sa.Text, nullable=False),
        sa.Column("spans", sa.Text, nullable=False),
        sa.Column("chunker_version", sa.Text, nullable=False),
        sa.Column("speaker_role", sa.Text, nullable=False),
        sa.Column("ingestion_mode", sa.Text, nullable=False),
        sa.Column("interview_id", sa.Text, nullable=False),
        sa.Column("start_time", REAL64),
        sa.Column("end_time", REAL64),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("metadata", sa.Text, nullable=False),
        sa.Column("added", sa.Integer, nullable=False),
        sa.Column("removed", sa.Integer),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )
    for name, column in (
        ("chunks_by_doc", "doc_id"),
        ("chunks_by_id", "chunk_id"),
        ("chunks_by_added", "added"),
        ("chunks_by_removed", "removed"),
    ):
        tables.create_index(name, "chunks", (column,))
