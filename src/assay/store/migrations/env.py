"""What does alembic run the steps on? The caller's connection and transaction."""

from alembic import context

from assay.store.schema import metadata
from assay.store.versions import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
)
with context.begin_transaction():
    context.run_migrations()
