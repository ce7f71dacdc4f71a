"""The service: keys, jobs and the log of queries."""

import sqlalchemy as sa

from assay.store.migrations.tables import Tables
from assay.store.schema import REAL64


def upgrade(tables: Tables) -> None:
    """Add what the service needs."""
    tables.create(
        "api_keys",
        sa.Column("key_id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Text),
        sa.Column("revoked_at", sa.Text),
        sqlite_strict=True,
    )
    tables.create(
        "jobs",
        sa.Column("job_id", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("idempotency_key", sa.Text),
        sa.Column("done", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("run_id", sa.Text),
        sa.Column("result", sa.Text),
        sa.Column("problem", sa.Text),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("updated_at", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    tables.create_index("jobs_by_state", "jobs", ("state",))
    tables.create_index("jobs_by_idempotency", "jobs", ("owner", "idempotency_key"), unique=True)
    tables.create(
        "query_log",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("query", sa.Text),
        sa.Column("query_type", sa.Text, nullable=False),
        sa.Column("results", sa.Integer, nullable=False),
        sa.Column("top_score", REAL64),
        sa.Column("degraded", sa.Integer, nullable=False),
        sa.Column("latency_ms", REAL64, nullable=False),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )
    tables.create_index("query_log_by_time", "query_log", ("at",))
