"""Runs: the results of a query beyond the first twenty stand apart."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column; rows from before hold all their results in ``result_json``."""
    op.add_column("eval_query_results", sa.Column("tail_json", sa.Text))
