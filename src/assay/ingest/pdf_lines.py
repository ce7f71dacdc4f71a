"""Which lines does a page of a PDF show, and how large are they?

A PDF places characters; words, lines and raised digits are for the reader to see. Characters on one
base line are a line, a wide gap in it stands between columns of a table, and smaller characters
above it are raised: ``10⁶`` must not become 106. Rows of a table that lack a cell are set against
the columns of the rows around them. Columns of prose that were drawn line by line are read one
after the other. Text that stands on its side is read along its own lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import byref, c_double
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from math import pi
from typing import Any, NamedTuple

from assay.ingest.raised import raised
from assay.ingest.tables import JOIN

HYPHENS = frozenset("\x02￾­")  # pdfium's own marks for a word cut at the end of a line
BULLETS = frozenset("•·◦▪‣–-")
LEVEL = 0.2  # of the size: how far characters of one line stray from its base line
SMALLER = 0.9  # of the size: what is raised or lowered is at most this large
DRAWN = 0.6  # of the size: how large a raised digit of a font is
HIGH = 0.9  # of the size: what is raised is no further up
SPACE, GAP = 0.13, 1.0  # sizes between two words, and between two columns
INDENT = 2.5  # sizes: how far the first line of a paragraph stands from the edge of its column
FURTHEST = 3.5  # sizes from line to line within a column
FEWEST_LINES, FEWEST_WORDS, FLOWING = 4, 3, 0.4  # of a column of prose; a share of its lines


class Char(NamedTuple):
    """A character, where it begins and ends along its line, its base line and its size.

    ``turns`` are the quarters of a circle by which it is turned to the left.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    turns: int = 0


@dataclass(slots=True)
class Line:
    """A line: its words, its base line, its size; ``cut`` if its last word goes on in the next.

    ``cells`` are where each of its cells begins and ends.
    """

    text: str
    base: float
    size: float
    cut: bool = False
    turns: int = 0
    cells: list[tuple[float, float]] = field(default_factory=list)


def page_lines(page: Any) -> list[Line]:
    """The lines of a page of pypdfium2, in the order in which they are written."""
    page.set_rotation(0)  # how a viewer turns the sheet says nothing about the order of lines
    return in_columns(list(unfolded(list(lines_of(_chars(page))))))


def unfolded(lines: list[Line]) -> Iterator[Line]:
    """The lines; columns of prose that stand side by side come one after the other."""
    at = 0
    while at < len(lines):
        block = _side_by_side(lines, at)
        columns = list(zip(*block, strict=True))
        if len(block) >= FEWEST_LINES and all(map(_is_prose, columns)):
            yield from (line for column in columns for line in column if line is not None)
            at += len(block)
        else:
            yield lines[at]
            at += 1


def _side_by_side(lines: list[Line], at: int) -> list[list[Line | None]]:
    """The lines from here on that keep to the columns of the first one, cell by cell."""
    first = lines[at]
    found: list[list[Line | None]] = []
    base = first.base
    for line in lines[at:] if len(first.cells) > 1 else ():
        if base - line.base > FURTHEST * line.size:
            break
        base = line.base
        texts = line.text.split(JOIN)
        places = [_column(cell, first) for cell in line.cells]
        if len(texts) != len(places) or None in places or len(set(places)) < len(places):
            break
        row: list[Line | None] = [None] * len(first.cells)
        for place, text, cell in zip(places, texts, line.cells, strict=True):
            assert place is not None
            is_last = cell is line.cells[-1]
            cut = line.cut if is_last else text.endswith("-")
            words = text if is_last else text.removesuffix("-")
            row[place] = Line(words, line.base, line.size, cut, line.turns, [cell])
        found.append(row)
    return found


def _column(cell: tuple[float, float], first: Line) -> int | None:
    """The column that a cell stands in; None where it begins elsewhere or reaches into the next."""
    starts = [left for left, _ in first.cells]
    slack = INDENT * first.size
    for at, (start, end) in enumerate(zip(starts, [*starts[1:], float("inf")], strict=True)):
        if abs(cell[0] - start) <= slack and cell[1] < end:
            return at
    return None


def _is_prose(column: Sequence[Line | None]) -> bool:
    """Do sentences run on from line to line? In the cells of a table they seldom do."""
    texts = [line.text for line in column if line is not None]
    words = sum(len(text.split()) for text in texts)
    if len(texts) < FEWEST_LINES or words < FEWEST_WORDS * len(texts):
        return False
    pairs = list(pairwise(texts))
    flowing = sum(after[:1].islower() and before[-1:] not in ".!?:;" for before, after in pairs)
    return flowing >= FLOWING * len(pairs)


def in_columns(lines: list[Line]) -> list[Line]:
    """The lines; a row of a table that lacks cells has empty ones in their columns."""
    for _, group in groupby(lines, key=lambda line: len(line.cells) > 1):
        rows = list(group)
        most = max(len(row.cells) for row in rows)
        full = [row.cells for row in rows if len(row.cells) == most]
        if most > 2 and len(full) < len(rows):
            columns = [
                (min(one[0] for one in column), max(one[1] for one in column))
                for column in zip(*full, strict=True)
            ]
            for row in rows:
                row.text = _placed(row, columns)
    return lines


def _placed(row: Line, columns: list[tuple[float, float]]) -> str:
    """The text of a row with each cell in the column that it shares most room with."""
    texts = row.text.split(JOIN)
    if len(texts) != len(row.cells) or len(texts) == len(columns):
        return row.text
    places = [
        max(range(len(columns)), key=lambda at: _shared(cell, columns[at])) for cell in row.cells
    ]
    if places != sorted(set(places)):
        return row.text  # two cells in one column: this is no row of that table
    cells = dict(zip(places, texts, strict=True))
    return JOIN.join(cells.get(at, "") for at in range(len(columns)))


def _shared(cell: tuple[float, float], column: tuple[float, float]) -> float:
    """How far they overlap; below 0, how far they are apart."""
    return min(cell[1], column[1]) - max(cell[0], column[0])


def lines_of(chars: Iterator[Char]) -> Iterator[Line]:
    """Characters, line by line."""
    line: Line | None = None
    lifted = ""
    right = 0.0
    for char in chars:
        if line is not None and _is_raised(char, line):
            lifted += char.text
        elif line is not None and _is_in(char, line):
            line.text += _lifted(lifted, line.text, char.text)
            lifted = ""
            if not char.text.isspace():
                before = line.text
                line.text = _spaced(before, (char.left - right) / line.size)
                if line.text.endswith(JOIN) and not before.endswith(JOIN):
                    line.cells.append((char.left, char.right))
                else:
                    line.cells[-1] = (line.cells[-1][0], char.right)
            line.text += char.text
        elif char.text.isspace():
            continue
        else:
            if line is not None:
                yield _ended(line, lifted)
            line, lifted = Line(char.text, char.base, char.size, turns=char.turns), ""
            line.cells.append((char.left, char.right))
        if not char.text.isspace():
            right = char.right
    if line is not None:
        yield _ended(line, lifted)


def _spaced(text: str, gap: float) -> str:
    """The text before a gap of so many sizes: none to speak of, one between words or cells."""
    if gap <= SPACE:
        return text
    words = text.rstrip()
    if gap <= GAP or not words:
        return f"{words} "
    return "- " if words.strip() in BULLETS else f"{words}{JOIN}"


def _is_in(char: Char, line: Line) -> bool:
    """Is it on the line, or lowered below it?"""
    if char.turns != line.turns:
        return False
    away = char.base - line.base
    lowered = char.size <= SMALLER * line.size and -LEVEL * 2 * line.size <= away <= 0
    return abs(away) <= LEVEL * line.size or lowered


def _is_raised(char: Char, line: Line) -> bool:
    above = char.base - line.base
    return (
        char.turns == line.turns
        and char.size <= SMALLER * line.size
        and LEVEL * line.size < above <= HIGH * line.size
    )


def _lifted(text: str, before: str, after: str) -> str:
    words = text.strip()
    return raised(words, before[-80:], after) if words else ""


def _ended(line: Line, lifted: str) -> Line:
    text = line.text + _lifted(lifted, line.text, "")
    line.cut = text[-1:] in HYPHENS
    line.text = " ".join("".join(one for one in text if one not in HYPHENS).split())
    return line


def _chars(page: Any) -> Iterator[Char]:
    import pypdfium2.raw as pdfium

    text = page.get_textpage()
    x, y = c_double(), c_double()
    box = pdfium.FS_RECTF()
    edges = [c_double() for _ in range(4)]  # left, right, bottom, top
    first = 0  # half of a character beyond the 65,536 of UTF-16, such as the signs of formulas
    for index in range(text.count_chars()):
        code = pdfium.FPDFText_GetUnicode(text, index)
        if 0xD800 <= code < 0xDC00:
            first = code
            continue
        if first and 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((first - 0xD800) << 10) + (code - 0xDC00)
        first = 0
        char = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
        if pdfium.FPDFText_IsGenerated(text, index) == 1 and char.isspace():
            continue  # set by pdfium where it sees a gap; raised digits lead it astray
        pdfium.FPDFText_GetCharOrigin(text, index, byref(x), byref(y))
        pdfium.FPDFText_GetLooseCharBox(text, index, byref(box))
        turns = round(pdfium.FPDFText_GetCharAngle(text, index) / (pi / 2)) % 4
        placed = _turned(char, box, x.value, y.value, turns)
        if char.isdecimal() and not turns:
            pdfium.FPDFText_GetCharBox(text, index, *map(byref, edges))
            placed = _as_drawn(placed, edges[2].value)
        yield placed
    text.close()


def _as_drawn(digit: Char, bottom: float) -> Char:
    """A digit, raised where it is drawn above its base line: fonts have raised digits of their own.

    ``bottom`` is where its ink begins.
    """
    if bottom - digit.base <= LEVEL * digit.size:
        return digit
    return digit._replace(base=bottom, size=DRAWN * digit.size)


def _turned(char: str, box: Any, x: float, y: float, turns: int) -> Char:
    """A character as it stands on its own line, which may run upwards or downwards."""
    if turns == 1:
        return Char(char, box.bottom, box.top, -x, box.right - box.left, turns)
    if turns == 2:
        return Char(char, -box.right, -box.left, -y, box.top - box.bottom, turns)
    if turns == 3:
        return Char(char, -box.top, -box.bottom, x, box.right - box.left, turns)
    return Char(char, box.left, box.right, y, box.top - box.bottom)
