"""Which documents are given: rows as they are, or the rows of a data frame?

A frame of pandas or polars, or a table of arrow, has a document per row. The names of its columns
decide what is id, text and title (``ingest/columns.py``); the others are metadata.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.errors import UsageError
from assay.hits.columns import columns_of, is_frame


def document_rows(documents: Any) -> Iterator[dict[str, Any]]:
    """Each document as JSON would have it; what is missing in a frame is left out."""
    if not is_frame(documents):
        for row in documents:
            if not isinstance(row, Mapping):
                raise UsageError(
                    f"a document is a mapping of fields, not {type(row).__name__}",
                    hint='such as {"doc_id": "d1", "text": "..."}; a data frame is taken whole',
                )
            yield dict(row)
        return
    from assay.ingest.columns import as_json

    columns = columns_of(documents)
    for values in zip(*columns.values(), strict=True):
        row = {name: as_json(value) for name, value in zip(columns, values, strict=True)}
        yield {name: value for name, value in row.items() if value is not None}
