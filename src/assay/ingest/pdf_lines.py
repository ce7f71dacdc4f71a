"""Which lines does a page of a PDF show, and how large are they?

A PDF places characters; words, lines and raised digits are for the reader to see. Characters on one
base line are a line, a wide gap in it stands between columns of a table, and smaller characters
above it are raised: ``10⁶`` must not become 106.
"""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import byref, c_double
from dataclasses import dataclass
from typing import Any, NamedTuple

from assay.ingest.raised import raised
from assay.ingest.tables import JOIN

HYPHENS = frozenset("\x02￾­")  # pdfium's own marks for a word cut at the end of a line
BULLETS = frozenset("•·◦▪‣–-")
LEVEL = 0.2  # of the size: how far characters of one line stray from its base line
SMALLER = 0.85  # of the size: what is raised or lowered is at most this large
HIGH = 0.9  # of the size: what is raised is no further up
SPACE, GAP = 0.13, 1.0  # sizes between two words, and between two columns


class Char(NamedTuple):
    """A character, where it begins and ends, its base line and its size."""

    text: str
    left: float
    right: float
    base: float
    size: float


@dataclass(slots=True)
class Line:
    """A line: its words, its base line, its size; ``cut`` if its last word goes on in the next."""

    text: str
    base: float
    size: float
    cut: bool = False


def page_lines(page: Any) -> list[Line]:
    """The lines of a page of pypdfium2, in the order in which they are written."""
    return list(lines_of(_chars(page)))


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
                line.text = _spaced(line.text, (char.left - right) / line.size)
            line.text += char.text
        elif char.text.isspace():
            continue
        else:
            if line is not None:
                yield _ended(line, lifted)
            line, lifted = Line(char.text, char.base, char.size), ""
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
    away = char.base - line.base
    lowered = char.size <= SMALLER * line.size and -LEVEL * 2 * line.size <= away <= 0
    return abs(away) <= LEVEL * line.size or lowered


def _is_raised(char: Char, line: Line) -> bool:
    above = char.base - line.base
    return char.size <= SMALLER * line.size and LEVEL * line.size < above <= HIGH * line.size


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
    for index in range(text.count_chars()):
        code = pdfium.FPDFText_GetUnicode(text, index)
        char = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
        if pdfium.FPDFText_IsGenerated(text, index) == 1 and char.isspace():
            continue  # set by pdfium where it sees a gap; raised digits lead it astray
        pdfium.FPDFText_GetCharOrigin(text, index, byref(x), byref(y))
        pdfium.FPDFText_GetLooseCharBox(text, index, byref(box))
        yield Char(char, box.left, box.right, y.value, box.top - box.bottom)
    text.close()
