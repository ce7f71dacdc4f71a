"""Every row that had no checksum gets a column for one; older rows have none until they change."""

import sqlalchemy as sa

from assay.store.migrations.tables import Tables

SEALED = (
    "api_keys",
    "jobs",
    "query_log",
    "eval_tags",
    "eval_held_out_uses",
    "annotation_rounds",
    "annotation_queries",
    "annotation_items",
    "annotation_grades",
    "annotation_decisions",
    "judge_opinions",
    "claim_grades",
)


def upgrade(tables: Tables) -> None:
    """Add the columns, each with an index that finds rows without a checksum."""
    for name in SEALED:
        crc = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
        tables.add_column(name, sa.Column("seal", crc))
        tables.create_index(f"{name}_by_seal", name, ("seal",))
