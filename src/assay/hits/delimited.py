"""What are the rows of this delimited text?"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from assay.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_delimited(data: bytes, name: str, delimiters: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line on which it ends.

    Cells are separated by the first of the delimiters that occurs in the first line, or else by the
    last one.
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
                cells.pop()  # trailing blanks separate nothing
            if any(cells):
                yield rows.line_num, cells
    except csv.Error as problem:
        raise FormatError(
            f"not delimited text: {problem}",
            source=name,
            line=rows.line_num,
            hint="look for an unbalanced quotation mark",
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
