"""Evaluations: runs, their outcomes, tags, test sets and the log of held-out parts."""

import sqlalchemy as sa

from assay.store.migrations.tables import Tables


def upgrade(tables: Tables) -> None:
    """Add what evaluations need."""
    tables.create(
        "eval_test_sets",
        sa.Column("checksum", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    tables.create(
        "eval_runs",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("run_id", sa.Text, nullable=False, unique=True),
        sa.Column("suite", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("test_set_version", sa.Text, nullable=False),
        sa.Column(
            "test_set_checksum", sa.Text, sa.ForeignKey("eval_test_sets.checksum"), nullable=False
        ),
        sa.Column("part", sa.Text, nullable=False),
        sa.Column("config_snapshot_json", sa.Text, nullable=False),
        sa.Column("config_hash", sa.Text, nullable=False),
        sa.Column("cache_key", sa.Text, nullable=False),
        sa.Column("generation", sa.Text, nullable=False),
        sa.Column("engine", sa.Text, nullable=False),
        sa.Column("provenance_json", sa.Text, nullable=False),
        sa.Column("queries", sa.Integer, nullable=False),
        sa.Column("aggregate_json", sa.Text),
        sa.Column("commit_hash", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("finished_at", sa.Text),
        sa.Column("owner", sa.Text, nullable=False),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )
    tables.create_index("eval_runs_by_suite", "eval_runs", ("suite", "seq"))
    tables.create_index("eval_runs_by_cache_key", "eval_runs", ("cache_key",))
    _create_outcomes(tables)


def _create_outcomes(tables: Tables) -> None:
    tables.create(
        "eval_query_results",
        _run_id(primary_key=True),
        sa.Column("query_id", sa.Text, primary_key=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("result_json", sa.Text, nullable=False),
        sa.Column("stages_json", sa.Text),
        sqlite_strict=True,
    )
    tables.create(
        "eval_tags",
        sa.Column("tag", sa.Text, primary_key=True),
        _run_id(nullable=False),
        sqlite_strict=True,
    )
    tables.create(
        "eval_held_out_uses",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("suite", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )


def _run_id(**options: bool) -> sa.Column[str]:
    run = sa.ForeignKey("eval_runs.run_id", ondelete="CASCADE")
    return sa.Column("run_id", sa.Text, run, **options)  # type: ignore[arg-type]
