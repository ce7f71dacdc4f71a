"""Annotation: rounds, their queries and items, grades and decisions."""

import sqlalchemy as sa

from assay.store.migrations.tables import Tables


def upgrade(tables: Tables) -> None:
    """Add what judging needs."""
    tables.create(
        "annotation_rounds",
        sa.Column("round_id", sa.Text, primary_key=True),
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("test_set", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
        sa.Column("first_annotator", sa.Text, nullable=False),
        sa.Column("second_annotator", sa.Text, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("closed_at", sa.Text),
        sqlite_strict=True,
    )
    tables.create(
        "annotation_queries",
        _round_id(),
        sa.Column("query_id", sa.Text, primary_key=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("query_text", sa.Text, nullable=False),
        sa.Column("query_type", sa.Text),
        sa.Column("origin", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    tables.create(
        "annotation_items",
        _round_id(),
        sa.Column("query_id", sa.Text, primary_key=True),
        sa.Column("chunk_id", sa.Text, primary_key=True),
        sa.Column("doc_id", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("section_label", sa.Text, nullable=False),
        sa.Column("table_html", sa.Text, nullable=False),
        sa.Column("spans", sa.Text, nullable=False),
        sa.Column("chunker_version", sa.Text, nullable=False),
        sa.Column("found_by", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    _create_grades(tables)


def _create_grades(tables: Tables) -> None:
    tables.create(
        "annotation_grades",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("round_id", sa.Text, nullable=False),
        sa.Column("query_id", sa.Text, nullable=False),
        sa.Column("chunk_id", sa.Text, nullable=False),
        sa.Column("annotator", sa.Text, nullable=False),
        sa.Column("grade", sa.Integer),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("undone_at", sa.Text),
        _of_item(),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )
    tables.create_index(
        "annotation_grades_by_round", "annotation_grades", ("round_id", "annotator")
    )
    tables.create(
        "annotation_decisions",
        sa.Column("round_id", sa.Text, primary_key=True),
        sa.Column("query_id", sa.Text, primary_key=True),
        sa.Column("chunk_id", sa.Text, primary_key=True),
        sa.Column("grade", sa.Integer),
        sa.Column("decided_by", sa.Text, nullable=False),
        sa.Column("rule", sa.Text, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        _of_item(),
        sqlite_strict=True,
    )


def _round_id() -> sa.Column[str]:
    key = sa.ForeignKey("annotation_rounds.round_id", ondelete="CASCADE")
    return sa.Column("round_id", sa.Text, key, primary_key=True)


def _of_item() -> sa.ForeignKeyConstraint:
    key = ("round_id", "query_id", "chunk_id")
    return sa.ForeignKeyConstraint(
        key, [f"annotation_items.{name}" for name in key], ondelete="CASCADE"
    )
