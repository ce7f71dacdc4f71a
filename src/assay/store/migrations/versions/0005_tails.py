"""Runs: the results of a query beyond the first twenty stand apart."""

import sqlalchemy as sa

from assay.store.migrations.tables import Tables


def upgrade(tables: Tables) -> None:
    """Add the column; rows from before hold all their results in ``result_json``."""
    tables.add_column("eval_query_results", sa.Column("tail_json", sa.Text))
