"""Which cells does this delimited text hold?"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from assay.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_delimited(data: bytes, name: str, delimiters: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that hold something, each with the line on which it ends.

    The first of the delimiters that the first line holds parts the cells; else the last of them.
    """
    text = _decoded(data, name)
    first = text.partition("\n")[0]
    delimiter = next((mark for mark in delimiters if mark in first), delimiters[-1])
    rows = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            while delimiter == " " and cells and not cells[-1]:
                cells.pop()  # blanks at the end of a line part nothing
            if any(cells):
                yield rows.line_num, cells
    except csv.Error as problem:
        raise FormatError(
            f"not delimited text: {problem}",
            source=name,
            line=rows.line_num,
            hint="look for a quotation mark without its partner",
        ) from None


def _decoded(data: bytes, name: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = 1 + data.count(b"\n", 0, problem.start)
        raise FormatError("not UTF-8", source=name, line=line, hint="save it as UTF-8") from None
    if "\0" in text:
        line = 1 + text.count("\n", 0, text.index("\0"))
        raise FormatError("a NUL byte", source=name, line=line, hint="is this a text file?")
    return text
