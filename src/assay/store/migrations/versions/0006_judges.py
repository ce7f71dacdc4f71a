"""Judges: what they said of each task, and what people said of claims."""

import sqlalchemy as sa

from assay.store.migrations.tables import Tables


def upgrade(tables: Tables) -> None:
    """Add what judging answers needs."""
    tables.create(
        "judge_opinions",
        sa.Column("judge", sa.Text, primary_key=True),
        sa.Column("task", sa.Text, primary_key=True),
        sa.Column("opinion_json", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    tables.create(
        "claim_grades",
        sa.Column("claim", sa.Text, primary_key=True),
        sa.Column("annotator", sa.Text, primary_key=True),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sqlite_strict=True,
    )
