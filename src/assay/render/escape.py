"""How does foreign text go into a document without becoming part of its markup?"""

from __future__ import annotations

import re

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


def one_line(text: str) -> str:
    """Text that cannot break a line-based format."""
    return re.sub(r"[\x00-\x1f\x7f\u0085\u2028\u2029]", " ", text)
