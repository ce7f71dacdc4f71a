"""Which part of a long list is on this page, and where are the pages beside it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.http.pages.page import address

PAGE = 50
MOST_PAGES = 1_000_000


@dataclass(frozen=True, slots=True)
class Listing:
    """The place of a page within a list."""

    first: int
    last: int
    total: int
    pages: int
    before: str | None
    after: str | None


def page_number(text: str | None) -> int:
    """The page that an address asks for, from 1; anything that is no number is the first."""
    if text is None or not text.isascii() or not text.isdigit():
        return 1
    return max(1, min(MOST_PAGES, int(text[:9])))


def listing(
    path: str, params: Sequence[tuple[str, Any]], number: int, total: int, size: int = PAGE
) -> Listing:
    """The place of page ``number``; ``params`` are those of the address without the page."""
    pages = max(1, -(-total // size))
    kept = [pair for pair in params if pair[0] != "page"]

    def link_to(other: int) -> str | None:
        if not 1 <= other <= pages:
            return None
        return address(path, [*kept, ("page", other if other > 1 else "")])

    start = (number - 1) * size
    return Listing(
        first=min(start + 1, total),
        last=min(start + size, total),
        total=total,
        pages=pages,
        before=link_to(number - 1),
        after=link_to(number + 1),
    )
