"""What do the rows of a CSV file say, and on which lines?"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from assay.errors import FormatError


def csv_rows(
    data: bytes, source: str, needed: frozenset[str] = frozenset()
) -> Iterator[tuple[int, Mapping[Any, Any]]]:
    """Rows as mappings, with the line each ends on; an error if a needed column is missing.

    A row with too many cells has the key None, one with too few has None for a value.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError("not UTF-8", source=source, hint="save it as UTF-8") from None
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        missing = needed - set(reader.fieldnames or ())
        if missing:
            raise FormatError(
                f"no column {min(missing)}", source=source, line=1, hint="is this our CSV?"
            )
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise FormatError(f"not CSV: {error}", source=source, line=reader.line_num) from None
