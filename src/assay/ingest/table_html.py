"""How is the markup of a table made harmless?

Only table markup is kept, with ``colspan``, ``rowspan`` and ``scope`` and no other attribute: no
script, event handler, URL, style or picture. ``sup``, ``sub`` and ``br`` stay, since 10<sup>6 and
106 are different numbers.
"""

from __future__ import annotations

import re

from assay import extras, limits
from assay.ingest.parsed import FileLocation

TAGS = {
    "table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "th", "td",
    "sup", "sub", "br",
}  # fmt: skip
ATTRIBUTES = {"td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan", "scope"}}
# The content of these is not for reading, so it is removed with the tag.
DROPPED = {
    "script", "style", "svg", "math", "template", "iframe", "object", "noscript", "title", "xmp",
}  # fmt: skip
SCOPES = frozenset({"row", "col", "rowgroup", "colgroup"})
_TABLE_TAG = re.compile(r"<(/?)table>")


def sanitised(html: str, location: FileLocation) -> str:
    """The table's markup with everything harmful removed; empty if there is no table."""
    if len(html) > limits.MAX_TABLE_HTML_CHARS:
        raise location.limit_error(
            f"a table of more than {limits.MAX_TABLE_HTML_CHARS:,} characters"
        )
    harmless = clean(html)
    _check_nesting(harmless, location)
    return harmless if "<table>" in harmless else ""


def clean(html: str) -> str:
    """Markup with table tags only; safe to show whatever the input."""
    extras.require("nh3")
    import nh3

    return nh3.clean(
        html,
        tags=TAGS,
        clean_content_tags=DROPPED,
        attributes=ATTRIBUTES,
        attribute_filter=_attribute,
        link_rel=None,
        url_schemes=set(),
    ).strip()


def _attribute(tag: str, name: str, value: str) -> str | None:
    del tag
    if name == "scope":
        return value.lower() if value.lower() in SCOPES else None
    return value if re.fullmatch(r"[1-9]\d{0,3}", value) else None


def _check_nesting(clean: str, location: FileLocation) -> None:
    depth = 0
    for found in _TABLE_TAG.finditer(clean):  # well-formed by now, whatever the input
        depth += -1 if found[1] else 1
        if depth > limits.MAX_TABLE_NESTING:
            raise location.format_error(f"tables nested more than {limits.MAX_TABLE_NESTING} deep")
