"""How does foreign text go into a document without becoming part of its markup?"""

from __future__ import annotations

import json
import re
from typing import Any

_STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""What steers a terminal, breaks a line or turns the order of letters round."""
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?", re.IGNORECASE)
# not the cutoff of a measure: nDCG@10, nDCG(gain=linear)@10
_MENTION = re.compile(r"(?<![A-Za-z0-9])@(?=\w)(?!(?<=\)@)\d+(?!\w))")


def markdown_cell(text: str) -> str:
    """Text for one cell of a Markdown table: no breaks, no markup, no mention, no link."""
    text = " ".join(text.split())
    text = re.sub(r"([\\`*_{}\[\]<>|#!~])", r"\\\1", text)
    # a blank of no width keeps sites from making mentions and links of bare text
    text = _MENTION.sub("@\u200b", text)
    return re.sub(r"://|(?i:www)\.", lambda found: f"{found[0][:-1]}\u200b{found[0][-1]}", text)


def csv_cell(text: str) -> str:
    """Text for one CSV cell that no spreadsheet takes for a formula; numbers stay numbers."""
    if text.startswith(FORMULA_STARTS) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def visible(text: str) -> str:
    """Text with control characters escaped: they could steer a terminal or reorder a page."""
    return _STEERS.sub(lambda found: _escaped(ord(found[0])), text)


def visible_json(text: str) -> str:
    """The same for JSON, which reads back as it was."""
    return _STEERS.sub(lambda found: json.dumps(found[0])[1:-1], text)


def visible_on_page(value: Any) -> Any:
    """A value of a template, as ``visible`` shows it; markup stays markup, and lines stay lines."""
    if not isinstance(value, str) or not _STEERS.search(value):
        return value
    return type(value)("\n".join(map(visible, value.replace("\r\n", "\n").split("\n"))))


def _escaped(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str) -> str:
    """Text that cannot break a line-based format."""
    return re.sub(r"[\x00-\x1f\x7f\u0085\u2028\u2029]", " ", text)
