"""What does a row say whose words may stand in the markup of a table only?"""

from __future__ import annotations

import re
from dataclasses import replace

from lxml import etree

from assay.ingest import fields
from assay.ingest.entry import Place
from assay.ingest.json_rows import Row
from assay.ingest.table_html import sanitised
from assay.ingest.tables import table_text
from assay.ingest.xml_input import Element, Reading, check_depth, one_line, plain
from assay.ingest.xml_tables import is_within_table, xml_table

READING = Reading(blocks=frozenset({"br", "caption", "table", "td", "th", "tr"}))
BESIDE = replace(READING, skip=frozenset({"table"}))
# what a browser puts on a line of its own and sanitising takes away
_BLOCKS = re.compile(r"</?(?:p|div|li|ul|ol|dl|dt|dd|h[1-6]|pre|blockquote)\b[^>]*>", re.IGNORECASE)


def text_of(row: Row, place: Place) -> str:
    """The row's ``text``, or the words of its ``table_html`` where it has none."""
    text = fields.string(row, ("text",), place)
    return text if text.strip() else _of_table(fields.string(row, ("table_html",), place), place)


def _of_table(html: str, place: Place) -> str:
    harmless = sanitised(_BLOCKS.sub("<br>", html), place)
    if not harmless:
        return ""
    root = etree.fromstring(harmless, etree.HTMLParser(no_network=True))
    check_depth(root, place)
    outer = (table for table in root.iter("table") if not is_within_table(table))
    parts = (*(_table(table, place) for table in outer), plain(root, BESIDE))
    return "\n".join(filter(None, parts))


def _table(table: Element, place: Place) -> str:
    caption = one_line(table.find("caption"), READING)
    return table_text(xml_table(table, READING, place, caption=caption), place)
