"""What are the rows of this delimited text?

The first line says what separates cells: the one of comma, semicolon, tab and bar that it has most
of, or the one that Excel names with ``sep=``. Excel writes semicolons where a comma is the decimal
mark, tabs in UTF-16 as "Unicode text", and a byte order mark at the beginning.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import deque
from collections.abc import Iterator
from itertools import chain, islice

from assay.errors import FormatError
from assay.plural import counted

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
JOINED = 200  # lines that a quoted cell between tabs may go on
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SAID = re.compile(r"sep=(.)\s*", re.IGNORECASE)
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def separator(head: str) -> str:
    """What separates the cells of this line; a comma where nothing does."""
    return max(SEPARATORS, key=head.count)


def cells_of(texts: Iterator[str], *, padded: bool = False, blanks: bool = False) -> Cells:
    """The cells of each row, from lines that keep their ends.

    Padded cells may have blanks before their quotes. Blanks separate, where they may, if the first
    line has no other mark.
    """
    head = next(texts, "")
    said = _SAID.fullmatch(head)
    mark = said[1] if said else separator(head)
    if blanks and mark not in head:
        mark = " "
    whole = chain([head] if head else [], texts)
    cells = _TabCells(whole) if mark == "\t" else Cells(whole, mark, padded=padded)
    if said:
        next(cells)
    return cells


def read_rows(data: bytes, source: str, *, blanks: bool = False) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line on which it ends; cells are stripped."""
    for line, row, _ in _rows(data, source, blanks=blanks):
        yield line, row


def read_table(
    data: bytes,
    source: str,
    needed: frozenset[str] = frozenset(),
    numbers: frozenset[str] = frozenset(),
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows by the names in the first one, with the line on which each ends.

    The last cells of a row may be missing, since Excel leaves out empty ones. In the columns that
    hold numbers a comma becomes a point if semicolons separate the cells.
    """
    names: list[str] = []
    for line, row, mark in _rows(data, source):
        if not names:
            names = row
            if len(set(names)) < len(names):
                raise FormatError("two columns have the same name", source=source, line=line)
            if needed - set(names):
                raise FormatError(
                    f"no column {min(needed - set(names))}",
                    source=source,
                    line=line,
                    hint=f"there is {', '.join(names)}"[:200],
                )
        elif len(row) > len(names):
            raise FormatError(
                f"{counted(len(row), 'cell')}, but {counted(len(names), 'column')}",
                source=source,
                line=line,
                hint=f"quote cells that hold {SEPARATORS.get(mark, mark)}",
            )
        else:
            found = dict(zip(names, row + [""] * (len(names) - len(row)), strict=True))
            if mark == ";":
                found |= {name: found[name].replace(",", ".") for name in numbers & found.keys()}
            yield line, found
    if needed and not names:
        raise FormatError(f"no column {min(needed)}", source=source, hint="the file is empty")


def _rows(
    data: bytes, source: str, *, blanks: bool = False
) -> Iterator[tuple[int, list[str], str]]:
    cells = cells_of(
        iter(io.StringIO(_decoded(data, source), newline=None)), padded=True, blanks=blanks
    )
    try:
        for row in cells:
            stripped = [cell.strip() for cell in row]
            while cells.mark == " " and stripped and not stripped[-1]:
                stripped.pop()  # trailing blanks separate nothing
            if any(stripped):
                yield cells.line_num, stripped, cells.mark
    except csv.Error as problem:
        raise FormatError(
            f"not delimited text: {problem}",
            source=source,
            line=cells.line_num,
            hint="look for an unbalanced quotation mark",
        ) from None


def _decoded(data: bytes, source: str) -> str:
    try:
        text = data.decode("utf-16" if data.startswith(UTF16) else "utf-8-sig")
    except UnicodeDecodeError as problem:
        line = 1 + data.count(b"\n", 0, problem.start)
        raise FormatError(
            "not UTF-8", source=source, line=line, hint="save it as UTF-8 (Excel: CSV UTF-8)"
        ) from None
    if "\0" in text:
        line = 1 + text.count("\n", 0, text.index("\0"))
        raise FormatError("a NUL byte", source=source, line=line, hint="is this a text file?")
    return text


class Cells:
    """The cells of each row, the last line read, and the lines of a row after its first."""

    def __init__(self, texts: Iterator[str], mark: str, *, padded: bool = False) -> None:
        self.mark = mark
        self.swallowed: list[str] = []
        self._texts = texts
        self._rows = csv.reader(
            self._remembered(), delimiter=mark, skipinitialspace=padded, strict=True
        )

    @property
    def line_num(self) -> int:
        """The last line that was read."""
        return self._rows.line_num

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        self._begun, self.swallowed = False, []
        return next(self._rows)

    def _remembered(self) -> Iterator[str]:
        for text in self._texts:
            if self._begun:
                self.swallowed.append(text)
            self._begun = True
            yield text


class _TabCells(Cells):
    """The same between tabs, where a quote is a sign like others unless it holds a whole cell.

    Most programs write tabs without quoting; Excel quotes a cell that holds a tab or a line break.
    Lines are joined only if they do not make rows by themselves.
    """

    def __init__(self, texts: Iterator[str]) -> None:
        self.mark = "\t"
        self.swallowed = []
        self._texts = texts
        self._ahead: deque[str] = deque()
        self._line = self._columns = 0

    @property
    def line_num(self) -> int:
        return self._line

    def __next__(self) -> list[str]:
        line = self._next_line()
        cells = _between_tabs(line)
        self._columns = self._columns or len(cells)
        if len(cells) != self._columns or (_is_open(cells[-1]) and not self._is_row_ahead()):
            cells = self._joined(line) or cells
        return [_without_quotes(cell) for cell in cells]

    def _next_line(self) -> str:
        self._line += 1
        return self._ahead.popleft() if self._ahead else next(self._texts)

    def _is_row_ahead(self) -> bool:
        if not self._ahead:
            self._ahead.extend(islice(self._texts, 1))
        return not self._ahead or len(_between_tabs(self._ahead[0])) == self._columns

    def _joined(self, line: str) -> list[str] | None:
        """The row that this line and those below it make as Excel writes them; None if none."""
        taken = [line]
        while len(taken) <= JOINED and '"' in line:
            try:
                rows = list(csv.reader(taken, delimiter="\t", strict=True))
            except csv.Error:
                rows = []
            if len(rows) == 1 and len(rows[0]) == self._columns:
                for _ in taken[1:]:
                    self._next_line()
                return rows[0]
            if len(self._ahead) < len(taken):
                self._ahead.extend(islice(self._texts, 1))
            if len(self._ahead) < len(taken):
                return None
            taken.append(self._ahead[len(taken) - 1])
        return None


def _between_tabs(line: str) -> list[str]:
    return line.rstrip("\n").split("\t")


def _is_open(cell: str) -> bool:
    return cell.startswith('"') and not _QUOTED.fullmatch(cell)


def _without_quotes(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if _QUOTED.fullmatch(cell) else cell
