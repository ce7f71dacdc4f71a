"""Which rows at the top of a table name its columns, where no ``thead`` says so?

Cells marked as headers do. Else the first row does where its words could be names and something
speaks for it: they are bold, the corner is empty, they count who is in a group, the first is a
usual name of a column, or values stand below them. A first row that nothing speaks for is a row
like the others: ``5 mg | twice daily`` is no heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.ingest.tables import Row
from assay.ingest.xml_input import children
from assay.ingest.xml_tree import Element

_NUMBERS = re.compile(r"[\d.,%()±<>=/–−\s-]+")
_VALUE = re.compile(r"[<>≤≥~≈±+−–-]*\s?\d|\(?n\s?=|(?:none|n/?a|nr|ns|-|–|—)$", re.IGNORECASE)
_BULLET = re.compile(r"[•·▪*–-]\s|\d{1,2}[.)]\s|[\"“‘]")
_COUNT = re.compile(r"\bn\s?=\s?[\d,]+", re.IGNORECASE)
_NAME = re.compile(
    r"\b(?:age|agents?|arms?|characteristics?|class|criteri(?:on|a)|doses?|drugs?|events?|factors?"
    r"|groups?|indications?|measures?|medications?|organ|outcomes?|parameters?|patients?|populations?"
    r"|reactions?|regimens?|stud(?:y|ies)|symptoms?|system|tests?|treatments?|trials?|variables?"
    r"|visits?|weight)\b",
    re.IGNORECASE,
)
LONGEST_NAME = 60  # characters
MOST = 0.75  # of the cells of a column that holds values
BOLD = ("b", "bold", "strong", "content")


def head_rows(rows: Sequence[Row], table: Element) -> int:
    """How many of the rows name the columns."""
    marked = 0
    while marked < len(rows) - 1 and all(cell.head for cell in rows[marked]):
        marked += 1
    if marked or len(rows) < 2:
        return marked
    return int(_is_head(rows[0], rows[1:], bold=_begins_bold(table)))


def _is_head(first: Row, body: Sequence[Row], *, bold: bool) -> bool:
    filled = [cell.text for cell in first if cell.text]
    if len(filled) < 2 or any(cell.inside for cell in first):
        return False
    if any(_NUMBERS.fullmatch(text) or _BULLET.match(text) for text in filled):
        return False
    if bold or any(_COUNT.search(text) for text in filled):
        return True
    if not first[0].text and any(row[0].text for row in body if row):
        return True
    if any(_VALUE.match(text) or not text[0].isupper() for text in filled):
        return False
    short = all(len(text) <= LONGEST_NAME for text in filled)
    return (short and bool(_NAME.search(first[0].text))) or _stands_above_values(first, body)


def _stands_above_values(first: Row, body: Sequence[Row]) -> bool:
    """Is there a column of values below?"""
    for column in range(1, len(first)):
        below = [row[column].text for row in body if column < len(row) and row[column].text]
        values = sum(bool(_VALUE.match(text)) for text in below)
        if below and values >= MOST * len(below):
            return True
    return False


def _begins_bold(table: Element) -> bool:
    """Is every word of the first row with words bold?"""
    for row in table.iter("tr"):
        cells = [cell for cell in children(row, "td", "th") if _said(cell)]
        if cells:
            return all(_said(cell) == "".join(map(_said, _bold_parts(cell))) for cell in cells)
    return False


def _bold_parts(cell: Element) -> Iterator[Element]:
    """The outermost bold parts of a cell."""
    for part in cell.iter(*BOLD):
        if _is_bold(part) and not any(_is_bold(above) for above in part.iterancestors(*BOLD)):
            yield part


def _is_bold(part: Element) -> bool:
    return part.tag != "content" or "bold" in (part.get("styleCode") or "").lower()


def _said(element: Element) -> str:
    return "".join("".join(map(str, element.itertext())).split())
